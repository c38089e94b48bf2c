#include <algorithm>
#include <string>
#include <utility>

#include "app/import/lexers.hpp"

namespace app {
namespace {

bool is_squid_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0';
}

/// Cuts one word off `line`, which begins with it.
Word next_squid_word(std::string_view& line) {
    Word word;
    if (line.front() == '"') {
        word.quoted = true;
        std::size_t at = 1;
        for (; at < line.size() && line[at] != '"'; ++at) {
            if (line[at] == '\\' && at + 1 < line.size()) ++at;
            word.text.push_back(line[at]);
        }
        line.remove_prefix(std::min(at + 1, line.size()));
        return word;
    }
    const auto* const end = std::find_if(line.begin(), line.end(), is_squid_blank);
    word.text.assign(line.begin(), end);
    line.remove_prefix(word.text.size());
    return word;
}

}  // namespace

Lexed lex_squid(std::string_view text, std::string_view file) {
    Lexed out;
    std::size_t number = 0;
    while (!text.empty()) {
        const auto first = number + 1;
        std::string joined;
        for (bool goes_on = true; goes_on && !text.empty();) {
            const auto end = text.find('\n');
            auto line = text.substr(0, end);
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            ++number;
            if (line.ends_with('\r')) line.remove_suffix(1);
            goes_on = line.ends_with('\\');
            if (goes_on) line.remove_suffix(1);
            joined.append(line);
        }
        Directive directive;
        std::string_view line = joined;
        bool named = false;
        for (;;) {
            while (!line.empty() && is_squid_blank(line.front())) line.remove_prefix(1);
            if (line.empty() || line.front() == '#') break;
            auto word = next_squid_word(line);
            if (!named)
                directive.name = std::move(word.text);
            else
                directive.words.push_back(std::move(word));
            named = true;
        }
        if (!named) continue;
        directive.place = std::string(file).append(":").append(std::to_string(first));
        out.directives.push_back(std::move(directive));
    }
    return out;
}

}  // namespace app
