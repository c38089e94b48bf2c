#pragma once

#include <cstdint>
#include <string>

namespace protocol {

/// An address as people write it: in the configuration, on the command line, in logs and in Host.
/// An Asio endpoint is its resolved form.
struct HostPort {
    std::string host;        // a name or an address, an IPv6 address in plain form
    std::uint16_t port = 0;  // 0: unknown, or any free port, as the owner says

    /// `host:port`, with an IPv6 address in brackets.
    std::string text() const {
        const bool brackets = host.find(':') != std::string::npos;
        return (brackets ? '[' + host + ']' : host) + ':' + std::to_string(port);
    }
    bool operator==(const HostPort&) const = default;
};

}  // namespace protocol
