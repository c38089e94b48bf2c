#include "proxy/http/path_readings.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "proxy/http/escape.hpp"
#include "proxy/http/reference.hpp"

namespace proxy {
namespace {

/// Bounds of the readings that one path gets, and of their bytes together: at most 0.4 ms.
constexpr std::size_t kMaxReadings = 64;
constexpr std::size_t kMaxReadingBytes = 64 * 1024;

/// `pchar` of RFC 3986 §3.3 without the escapes: an escape of such a byte means the byte.
constexpr bool is_of_segment(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("-._~!$&'()*+,;=:@").find(c) != std::string_view::npos;
}

void append_escape(std::string& out, char byte) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto value = static_cast<unsigned char>(byte);
    out.append(1, '%').append(1, kDigits[value >> 4]).append(1, kDigits[value & 15]);
}

/// One spelling for bytes and their escapes. Slashes and dots stay as they are.
std::string one_spelling(std::string_view path) {
    std::string out;
    out.reserve(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto escaped = escaped_byte(path.substr(i));
        const auto byte = escaped.value_or(path[i]);
        if (is_of_segment(byte) || (byte == '/' && !escaped))
            out.push_back(byte);
        else
            append_escape(out, byte);
        if (escaped) i += 2;
    }
    return out;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view by) {
    std::string out;
    for (auto at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
        out.append(text.substr(0, at)).append(by);
        text.remove_prefix(at + from.size());
    }
    return out.append(text);
}

// The steps between readings. Each takes a path in one_spelling(), and returns one.

std::string with_slashes(std::string_view path) {
    return replaced(path, "%2F", "/");
}

std::string with_backslashes(std::string_view path) {
    return replaced(path, "%5C", "/");
}

std::string decoded_again(std::string_view path) {
    return one_spelling(replaced(path, "%25", "%"));
}

std::string without_parameters(std::string_view path) {
    std::string out;
    for (auto at = path.find(';'); at != std::string_view::npos; at = path.find(';')) {
        out.append(path.substr(0, at));
        path.remove_prefix(std::min(path.find('/', at), path.size()));
    }
    return out.append(path);
}

std::string cut(std::string_view path) {
    return std::string(path.substr(0, std::min(path.find("%3F"), path.find("%23"))));
}

std::string merged(std::string_view path) {
    std::string out;
    for (const char c : path)
        if (c != '/' || !out.ends_with('/')) out.push_back(c);
    return out;
}

constexpr std::array kSteps{with_slashes, with_backslashes,     decoded_again, without_parameters,
                            cut,          without_dot_segments, merged};

/// No step changes a path in one_spelling().
bool is_settled(std::string_view path) {
    for (std::size_t i = 0; i < path.size(); ++i) {
        const auto next = path.substr(i + 1, 1);
        if (path[i] == ';' || (path[i] == '/' && (next == "/" || next == "."))) return false;
        if (path[i] != '%') continue;
        const auto digits = path.substr(i + 1, 2);
        for (const std::string_view step : {"2F", "5C", "25", "3F", "23"})
            if (digits == step) return false;
    }
    return true;
}

void add_new(std::vector<std::string>& to, std::string text) {
    if (std::ranges::find(to, text) == to.end()) to.push_back(std::move(text));
}

}  // namespace

bool has_one_reading(std::string_view path) {
    constexpr std::uint8_t kOdd = 1, kSlash = 2, kDot = 4;
    static constexpr std::array<std::uint8_t, 256> kKinds = [] {
        std::array<std::uint8_t, 256> kinds{};
        for (std::size_t c = 0; c < kinds.size(); ++c)
            kinds[c] = is_of_segment(static_cast<char>(c)) && c != ';' ? 0 : kOdd;
        kinds['/'] = kSlash;
        kinds['.'] = kDot;
        return kinds;
    }();
    std::uint8_t refused = kOdd;
    for (const char c : path) {
        const auto kind = kKinds[static_cast<unsigned char>(c)];
        if ((kind & refused) != 0) return false;
        refused = kind == kSlash ? kOdd | kSlash | kDot : kOdd;
    }
    return true;
}

std::string_view path_for_rules(std::string_view path_and_query, std::string& scratch) {
    const auto path = path_and_query.substr(0, path_and_query.find('?'));
    if (has_one_reading(path) || !path.starts_with('/')) return path;
    scratch = without_dot_segments(merged(one_spelling(path)));
    return scratch;
}

PathReadings::PathReadings(std::string_view path_and_query) {
    std::string scratch;
    forms.emplace_back(path_for_rules(path_and_query, scratch));
    const auto path = path_and_query.substr(0, path_and_query.find('?'));
    if (has_one_reading(path) || !path.starts_with('/')) return;
    std::vector<std::string> texts{one_spelling(path)};
    if (is_settled(texts.front())) return;
    const auto most = std::min(kMaxReadings, kMaxReadingBytes / path.size());
    for (std::size_t i = 0; i < texts.size() && complete; ++i) {
        for (const auto& step : kSteps) add_new(texts, step(texts[i]));
        complete = texts.size() <= most;
    }
    for (const auto& text : texts) add_new(forms, without_dot_segments(merged(text)));
}

}  // namespace proxy
