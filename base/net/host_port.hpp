#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/short_text.hpp"

namespace base {

/// An address as people write it: in the configuration, on the command line, in logs and in Host.
/// An Asio endpoint is its resolved form.
struct HostPort {
    std::string host;        // a name or an address, an IPv6 address in plain form
    std::uint16_t port = 0;  // 0: unknown, or any free port, as the owner says

    /// `host:port`, with an IPv6 address in brackets.
    std::string text() const {
        using namespace std::string_view_literals;
        const bool brackets = host.find(':') != std::string::npos;
        std::string out;
        ShortText text(out);
        if (brackets) text.append("["sv);
        text.append(host).append(brackets ? "]:"sv : ":"sv).append(port);
        text.flush();
        return out;
    }
    bool operator==(const HostPort&) const = default;
};

}  // namespace base
