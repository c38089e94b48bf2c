#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/message_parser.hpp"
#include "proxy/http/range.hpp"

namespace proxy {

// How a body goes on when its sender stops. Functions: no I/O, no clock.

/// What is still to come of a body whose sender stopped, to be asked of the origin: if it is
/// provably the same representation, its bytes can follow (RFC 9110 §13.1.5, §14.4).
struct Rest {
    std::string etag;                     // strong; of the version
    std::uint64_t first = 0;              // in the whole body
    std::optional<std::uint64_t> last;    // of a block
    std::optional<std::uint64_t> length;  // of the whole body, if known
    std::uint64_t begins = 0;             // where in the whole body the first byte that came stood
};
/// `came`: so many bytes of it. `block`: what of the whole body is wanted, if not all.
Rest rest_of(std::string_view etag, std::uint64_t came, const std::optional<ByteRange>& block,
             const std::optional<std::uint64_t>& length);
/// Is this 206 exactly that? Then how many bytes have come when it ends, those before included;
/// else it does not go on.
std::optional<std::uint64_t> goes_on_with(const Rest& rest, const Head& head);

}  // namespace proxy
