#include "measure/trace/masked.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace measure {
namespace {

constexpr std::size_t kMostShown = 80;
constexpr std::array<std::string_view, 16> kOpenWords{
    "GET",  "HEAD",  "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "PATCH",
    "HTTP", "https", "http", "ftp", "stdout", "stderr",  "NONE",    "PROPFIND"};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_figure(char c) {
    return c >= '0' && c <= '9';
}

char mask(char c) {
    if (is_figure(c)) return '9';
    if (c >= 'A' && c <= 'Z') return 'X';
    if (c >= 'a' && c <= 'z') return 'x';
    if (c == '\t') return ' ';
    return c >= ' ' && c <= '~' ? c : '?';
}

bool is_squids(std::string_view word) {
    return word.starts_with("TCP_") || word.starts_with("UDP_") || word.starts_with("TAG_") ||
           word.starts_with("HIER_");
}

/// Returns true if line[begin, end) is a word that may be shown.
bool is_open(std::string_view line, std::size_t begin, std::size_t end) {
    const auto word = line.substr(begin, end - begin);
    const auto before = line.substr(0, begin), after = line.substr(end);
    if (std::find(kOpenWords.begin(), kOpenWords.end(), word) != kOpenWords.end())
        return before.empty() || after.empty() || before.back() != '=';
    if (is_squids(word)) return true;
    if (before.ends_with('"') && after.starts_with("\":")) return true;
    if (!std::all_of(word.begin(), word.end(), is_figure)) return false;
    if (before.ends_with("HTTP/") || before.ends_with("HTTP/1.")) return word.size() == 1;
    const bool alone = before.ends_with(' ') && (after.empty() || after.front() == ' ');
    const bool of_squid = before.ends_with('/') && after.starts_with(' ') &&
                          is_squids(before.substr(before.rfind(' ') + 1));
    const bool of_json = before.ends_with("\"status\":") || before.ends_with("\"status\": ");
    return word.size() == 3 && (alone || of_squid || of_json);
}

/// Returns the member of a JSON object with this name, as the line has it, or nothing. The line may
/// be broken.
std::string_view member_of(std::string_view line, std::string_view quoted_name) {
    const auto begin = line.find(quoted_name);
    if (begin == std::string_view::npos) return {};
    auto at = begin + quoted_name.size();
    while (at < line.size() && (line[at] == ':' || line[at] == ' ')) ++at;
    if (at < line.size() && line[at] == '"') {
        for (++at; at < line.size() && line[at] != '"'; ++at)
            if (line[at] == '\\') ++at;
        return line.substr(begin, at + 1 - begin);
    }
    return line.substr(begin, std::min(line.find_first_of(",}", at), line.size()) - begin);
}

/// A long JSON line begins with times and addresses. Returns what tells requests apart, with the
/// URL last, as it may be cut; the whole line if it has none of that.
std::string telling_part(std::string_view line) {
    std::string out;
    if (line.size() > kMostShown && line.starts_with('{'))
        for (const auto* name : {"\"method\"", "\"status\"", "\"url\""})
            if (const auto member = member_of(line, name); !member.empty())
                out.append(out.empty() ? "{" : ",").append(member);
    return out.empty() ? std::string(line.substr(0, 2 * kMostShown)) : out + '}';
}

}  // namespace

std::string masked(std::string_view whole) {
    const auto telling = telling_part(whole);
    const std::string_view line = telling;
    std::string out;
    for (std::size_t at = 0; at < line.size();) {
        if (!is_word(line[at])) {
            out += mask(line[at++]);
            continue;
        }
        auto end = at;
        while (end < line.size() && is_word(line[end])) ++end;
        const bool open = is_open(line, at, end);
        for (; at < end; ++at) out += open ? line[at] : mask(line[at]);
        if (out.size() > kMostShown) break;
    }
    if (out.size() <= kMostShown) return out;
    out.resize(kMostShown - 3);
    return out + "...";
}

}  // namespace measure
