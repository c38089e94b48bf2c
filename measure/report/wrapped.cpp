#include "measure/report/wrapped.hpp"

#include <algorithm>

namespace measure {
namespace {

void add_line(std::string_view words, std::size_t indent, std::size_t width, std::string& out) {
    std::string line;
    const auto flush = [&] {
        if (!line.empty()) out += std::string(indent, ' ') + line + '\n';
        line.clear();
    };
    for (std::size_t at = 0; at < words.size();) {
        const auto end = std::min(words.find(' ', at), words.size());
        const auto word = words.substr(at, end - at);
        if (indent + line.size() + 1 + word.size() > width) flush();
        if (!line.empty()) line += ' ';
        line += word;
        at = end + 1;
    }
    flush();
}

}  // namespace

std::string wrapped(std::string_view words, std::size_t indent, std::size_t width) {
    std::string out;
    for (std::size_t at = 0; at < words.size();) {
        const auto end = std::min(words.find('\n', at), words.size());
        add_line(words.substr(at, end - at), indent, width, out);
        at = end + 1;
    }
    return out;
}

}  // namespace measure
