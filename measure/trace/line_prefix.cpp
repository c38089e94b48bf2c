#include "measure/trace/line_prefix.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace measure {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Returns true if the text has this shape: `9` is a digit, `a` a letter, `_` a digit or a blank.
bool has_shape(std::string_view text, std::string_view shape) {
    return text.size() == shape.size() &&
           std::equal(text.begin(), text.end(), shape.begin(), [](char c, char s) {
               if (s == '9') return is_digit(c);
               if (s == '_') return is_digit(c) || c == ' ';
               if (s == 'a') return std::isalpha(static_cast<unsigned char>(c)) != 0;
               return c == s;
           });
}

/// Cuts off the text up to the next blank and the blank, or all of it.
std::string_view cut_word(std::string_view& rest) {
    const auto end = std::min(rest.find(' '), rest.size());
    const auto word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return word;
}

/// `2026-01-01T00:00:00` with an optional fraction, and a zone (RFC 3339, or ISO 8601's `+0000`).
bool is_timestamp(std::string_view word) {
    constexpr std::string_view kShape = "9999-99-99T99:99:99";
    if (word.size() <= kShape.size() || !has_shape(word.substr(0, kShape.size()), kShape))
        return false;
    word.remove_prefix(kShape.size());
    if (word.front() == '.' || word.front() == ',') {
        word.remove_prefix(1);
        word.remove_prefix(std::min(word.find_first_not_of("0123456789"), word.size()));
    }
    return word == "Z" || has_shape(word, "+99:99") || has_shape(word, "-99:99") ||
           has_shape(word, "+9999") || has_shape(word, "-9999");
}

/// `<190>`.
void skip_priority(std::string_view& line) {
    const auto end = line.find('>');
    if (!line.starts_with('<') || end == std::string_view::npos || end < 2 || end > 4) return;
    const auto number = line.substr(1, end - 1);
    if (std::all_of(number.begin(), number.end(), is_digit)) line.remove_prefix(end + 1);
}

/// `tag: ` or `tag[123]: `, optionally after the host.
bool skip_host_and_tag(std::string_view& rest) {
    auto after = rest;
    for (int words = 0; words < 2; ++words) {
        const auto word = cut_word(after);
        if (word.size() > 1 && word.ends_with(':')) {
            rest = after;
            return true;
        }
    }
    return false;
}

/// `host app process message-id` and the structured data of RFC 5424, behind version and time.
bool skip_structured(std::string_view& rest) {
    auto after = rest;
    for (int words = 0; words < 4; ++words)
        if (cut_word(after).empty()) return false;
    if (after.starts_with("- ")) {
        rest = after.substr(2);
        return true;
    }
    const auto end = after.find("] ");
    if (!after.starts_with('[') || end == std::string_view::npos) return false;
    rest = after.substr(end + 2);
    return true;
}

/// `Nov 25 18:50:30 host tag[12]: `.
bool skip_old_syslog(std::string_view& line) {
    constexpr std::string_view kShape = "aaa _9 99:99:99 ";
    if (!has_shape(line.substr(0, kShape.size()), kShape)) return false;
    auto rest = line.substr(kShape.size());
    if (!skip_host_and_tag(rest)) return false;
    line = rest;
    return true;
}

/// A prefix that begins with a time: CRI, syslog, or the time alone.
bool skip_timestamped(std::string_view& line) {
    auto rest = line;
    if (!is_timestamp(cut_word(rest))) return false;
    auto after = rest;
    const auto stream = cut_word(after), tags = cut_word(after);
    if ((stream == "stdout" || stream == "stderr") &&
        (tags.starts_with('F') || tags.starts_with('P'))) {
        line = after;
        return true;
    }
    skip_host_and_tag(rest);
    line = rest;
    return true;
}

void skip_colour(std::string_view& line) {
    if (!line.starts_with("\x1b[")) return;
    const auto end = line.find_first_not_of("0123456789;", 2);
    if (end != std::string_view::npos && line[end] == 'm') line.remove_prefix(end + 1);
}

/// `web-1  | `, and `web.1.x7k2@node  | ` of `docker service logs`.
bool skip_compose(std::string_view& line) {
    auto rest = line;
    skip_colour(rest);
    const auto name = std::find_if_not(rest.begin(), rest.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ||
               c == '@';
    });
    if (name == rest.begin()) return false;
    rest.remove_prefix(static_cast<std::size_t>(name - rest.begin()));
    const auto bar = rest.find_first_not_of(' ');
    if (bar == std::string_view::npos || bar == 0 || rest[bar] != '|') return false;
    rest.remove_prefix(bar + 1);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
    skip_colour(rest);
    line = rest;
    return true;
}

/// `[pod/name/container] `.
bool skip_pod(std::string_view& line) {
    const auto end = line.find("] ");
    if (!line.starts_with("[pod/") || end == std::string_view::npos) return false;
    line.remove_prefix(end + 2);
    return true;
}

}  // namespace

std::string_view without_prefix(std::string_view line) {
    auto rest = line;
    skip_priority(rest);
    if (rest.size() != line.size() && rest.starts_with("1 ")) {
        auto structured = rest.substr(2);
        const auto time = cut_word(structured);
        if ((time == "-" || is_timestamp(time)) && skip_structured(structured)) return structured;
    }
    if (skip_old_syslog(rest) || skip_timestamped(rest) || skip_pod(rest) || skip_compose(rest))
        return rest;
    return line;
}

}  // namespace measure
