#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace base {

/// An address as people write it: in the configuration, on the command line, in logs and in Host.
/// An Asio endpoint is its resolved form.
struct HostPort {
    std::string host;        // a name or an address, an IPv6 address in plain form
    std::uint16_t port = 0;  // 0: unknown, or any free port, as the owner says

    /// `host:port`, with an IPv6 address in brackets.
    std::string text() const {
        constexpr std::size_t kLongestPort = 6;  // with its colon
        const bool brackets = host.find(':') != std::string::npos;
        std::string out;
        out.reserve(host.size() + 2 + kLongestPort);
        if (brackets) out.push_back('[');
        out.append(host);
        if (brackets) out.push_back(']');
        out.push_back(':');
        char digits[kLongestPort];
        const auto end = std::to_chars(digits, digits + sizeof digits, port).ptr;
        return out.append(digits, end);
    }
    bool operator==(const HostPort&) const = default;
};

}  // namespace base
