#pragma once

#include <cstdint>
#include <string>

namespace protocol {

/// Where somebody listens, as people write it: in the configuration, on the command line, in logs
/// and in Host. What it resolves to is an Asio endpoint.
struct HostPort {
    std::string host;        // a name or an address, an IPv6 one without brackets
    std::uint16_t port = 0;  // 0: not known, or any free one; whoever holds it says which

    /// `host:port`, an IPv6 address in brackets.
    std::string text() const {
        const bool brackets = host.find(':') != std::string::npos;
        return (brackets ? '[' + host + ']' : host) + ':' + std::to_string(port);
    }
    bool operator==(const HostPort&) const = default;
};

}  // namespace protocol
