#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy {

/// What a request's Upgrade comes to (RFC 9110 §7.8).
struct UpgradeWish {
    enum class State : std::uint8_t {
        none,     // not asked for, or for nothing that may be: the request goes on without
        allowed,  // `protocols` are to be asked for
        refused,  // a WebSocket handshake, which without its Upgrade would be no request at all
    };
    State state = State::none;
    std::string protocols{};  // as the client wrote them, comma-separated
};

/// `version`: of the request, as 11. `allowed`: protocol names in lower case, without versions.
UpgradeWish upgrade_wish(Fields request, int version, std::span<const std::string> allowed);

/// Does a 101 switch to one of those that were asked for?
bool switches_to(Fields response, std::string_view protocols);

}  // namespace proxy
