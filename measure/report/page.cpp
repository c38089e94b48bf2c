#include "measure/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "measure/report/chart.hpp"

namespace measure {
namespace {

constexpr std::size_t kMaxCommandBytes = 4096;

void add_fact(std::string_view name, const std::string& markup, std::string& out) {
    out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, markup);
}

}  // namespace

std::string page_begin(std::string_view title, std::string_view style) {
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<title>{}</title>\n<style>{}</style></head>\n<body>\n",
        escaped(title), style);
}

std::string facts_html(const PageFacts& facts) {
    if (facts.command.empty()) return {};
    std::string out = "<dl class=\"facts\">\n";
    add_fact("command", "<code>" + clipped(facts.command, kMaxCommandBytes) + "</code>", out);
    add_fact("version", escaped(facts.version), out);
    if (facts.seed) add_fact("seed", std::to_string(*facts.seed), out);
    return out + "</dl>\n";
}

std::string clipped(std::string_view text, std::size_t most) {
    constexpr std::string_view kMore = "...";
    std::string out, line;
    bool first = true;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto bytes = end == text.npos ? text.size() : end + 1;
        // A longer line cannot have room, so most of it need not be escaped.
        line = escaped(text.substr(0, std::min(bytes, most + 1)));
        if (out.size() + line.size() > most) {
            for (const char c : text.substr(0, first ? bytes : 0)) {
                const auto next = escaped({&c, 1});
                if (out.size() + next.size() > most) break;
                out += next;
            }
            // A character of several bytes stays whole.
            const auto is_part = [&] {
                return (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80;
            };
            while (!out.empty() && is_part()) out.pop_back();
            if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
            return out.append(kMore);
        }
        out += line;
        text.remove_prefix(bytes);
        first = false;
    }
    return out;
}

}  // namespace measure
