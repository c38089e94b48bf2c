#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy {

/// The decision about a request's Upgrade (RFC 9110 §7.8).
struct UpgradeDecision {
    enum class State : std::uint8_t {
        none,     // the request has no Upgrade to an allowed protocol, and goes on without it
        allowed,  // the request goes on with an Upgrade to `protocols`
        refused,  // a WebSocket handshake, which makes no sense without its Upgrade
    };
    State state = State::none;
    std::string protocols{};  // in the client's spelling, comma-separated
};

/// `version`: of the request, as 11. `allowed`: protocol names in lower case, without versions.
UpgradeDecision upgrade_wish(Fields request, int version, std::span<const std::string> allowed);

/// Whether a 101 switches to one of `protocols`.
bool switches_to(Fields response, std::string_view protocols);

}  // namespace proxy
