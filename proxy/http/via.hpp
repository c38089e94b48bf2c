#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy {

/// Whether a member of Via names `node` as a receiver of the message (RFC 9110 §7.6.3). Compares
/// names of all lines without regard to case, and skips comments.
bool via_names(Fields fields, std::string_view node);

/// The name by which a node stands in Via where origins are not to read `node`: `p-` and 16 hex
/// digits of a hash of `node`. It is the same in every process, and another node has another one.
std::string via_pseudonym(std::string_view node);

/// Number of hops that an OPTIONS may still take (RFC 9110 §7.6.2).
struct MaxForwards {
    enum class State : std::uint8_t {
        absent,
        malformed,  // other than one number: the client's intention is unknown
        present,
    };
    static constexpr std::uint32_t kMost = 1'000'000;  // larger numbers count as this one

    State state = State::absent;
    std::uint32_t hops = 0;
};
MaxForwards max_forwards(Fields request);

}  // namespace proxy
