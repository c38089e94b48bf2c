#include "proxy/config/config_destinations.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "proxy/http/field_list.hpp"
#include "proxy/http/same_host.hpp"

namespace proxy {
namespace {

constexpr std::size_t kMostPatternBytes = 512;

/// Cuts `:port` off the end of `host`; 0 without one. Nothing for a bad port. The colons of an
/// IPv6 address stand in brackets.
std::optional<std::uint16_t> cut_port(std::string_view& host) {
    const auto colon = host.rfind(':');
    if (colon == std::string_view::npos || host.find(']', colon) != std::string_view::npos)
        return 0;
    const auto digits = host.substr(colon + 1);
    std::uint16_t port = 0;
    const auto end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, port);
    if (result.ec != std::errc() || result.ptr != end || port == 0) return std::nullopt;
    host = host.substr(0, colon);
    return port;
}

bool is_pattern_byte(char c) {
    return c > 0x20 && c < 0x7f && c != '/' && c != '?' && c != '#' && c != '@' && c != '%';
}

/// Nothing for a text that is no pattern of hosts.
std::optional<DestinationPattern> pattern_of(const std::string& text) {
    std::string lower, scratch;
    append_lower(lower, text);
    std::string_view host = lower;
    const auto port = cut_port(host);
    if (!port || host.empty() || text.size() > kMostPatternBytes ||
        !std::all_of(host.begin(), host.end(), is_pattern_byte))
        return std::nullopt;
    const auto is_address = host.starts_with('[');
    if (!is_address && host.find(':') != std::string_view::npos) return std::nullopt;
    host = canonical_host(host, scratch);
    if (is_address) {
        if (!host.ends_with(']')) return std::nullopt;
        host = host.substr(1, host.size() - 2);
    }
    return DestinationPattern{text, Glob(host), *port};
}

}  // namespace

void read_patterns(ConfigSection& in, std::string_view key, std::vector<DestinationPattern>& out) {
    const auto elements = in.elements(key);
    if (elements.size() > kMaxDestinations)
        in.fail(key, "must have at most " + std::to_string(kMaxDestinations) + " elements");
    for (const auto& [value, path] : elements) {
        const auto text = text_of(in.context(), *value, path);
        if (!text) continue;
        if (auto pattern = pattern_of(*text))
            out.push_back(std::move(*pattern));
        else
            in.context().fail(
                path,
                "must be a host without a scheme or path, with a port or without, in "
                "ASCII (xn--); * stands for any text, and an IPv6 address has brackets");
    }
}

std::vector<std::string> texts_of_patterns(const std::vector<DestinationPattern>& patterns) {
    std::vector<std::string> texts;
    for (const auto& pattern : patterns) texts.push_back(pattern.text);
    return texts;
}

}  // namespace proxy
