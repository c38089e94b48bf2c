#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/config/config.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

// When a sender of a body has stopped, and how the body goes on then. Functions: no I/O, no clock.

/// So long who sends a body may be silent. A peer is near.
std::chrono::nanoseconds silence_at_most(Fill::Source source, const Config& config);

/// What comes of a body whose sender has ended, or was left.
struct BodyEnd {
    FetchError error = FetchError::none;  // none: it is whole
    bool faultless = true;                // the sender did nothing wrong
    bool resume = false;                  // the rest is to be asked of another
};
/// `given_up`: it was left as nobody wants it.
BodyEnd end_of_body(FetchError error, bool given_up, bool can_resume);
/// Of a body that ended as its framing says: it is whole if it has as many bytes as it should,
/// where that is known.
FetchError judge_size(std::uint64_t received, const std::optional<std::uint64_t>& expected);

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
/// The meaning of an origin's answer that is not the part that was asked for: `origin_error` where
/// it may be given in a moment (5xx, 408, 429), `part_refused` where it says nothing of the body
/// (401, 403, 407, and 404 or 410 to a request that identifies_user()), else `changed`.
FetchError why_not_that(const Head& head, bool with_credentials);

}  // namespace proxy
