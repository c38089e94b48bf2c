#pragma once

#include "proxy/http/fields.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace proxy {

/// Does a member of Via name `node` as one that received the message (RFC 9110 §7.6.3)? Compared
/// without regard to case, over all lines; what stands in comments is not looked at.
bool via_names(Fields fields, std::string_view node);

/// How often an OPTIONS or TRACE may still be passed on (RFC 9110 §7.6.2).
struct MaxForwards {
    enum class State : std::uint8_t {
        absent,
        malformed,  // no number, or more than one: what the client meant cannot be obeyed
        present,
    };
    static constexpr std::uint32_t kMost = 1'000'000;  // larger numbers count as this one

    State state = State::absent;
    std::uint32_t hops = 0;
};
MaxForwards max_forwards(Fields request);

/// A TRACE request as it was received, the body of its answer (message/http), without the fields
/// that carry secrets (RFC 9110 §9.3.8).
std::string traced(std::string_view method, std::string_view target, int version, Fields fields);

}  // namespace proxy
