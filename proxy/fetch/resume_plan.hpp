#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/config/loaded_config.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/fill.hpp"

namespace proxy {

// The silence that ends a body, and the way on from there. Functions: no I/O, no clock.

/// The time that a sender may be silent. It is shorter for a peer, which is near.
std::chrono::nanoseconds silence_at_most(Fill::From from, const LoadedConfig& config);

/// The version of a body at its origin: a strong tag, and the mark of its server in a group.
struct OriginVersion {
    std::string etag;  // empty: the origin cannot give the rest of the body
    std::uint32_t server = 0;
};

/// The state of a body whose sender has ended, or was left.
struct BodyEnd {
    FetchError error = FetchError::none;  // none: it is whole
    bool faultless = true;                // the sender did nothing wrong
    bool resume = false;                  // another sender is to give the rest
};
/// `given_up`: the readers have left.
BodyEnd end_of_body(FetchError error, bool given_up, bool can_resume);
/// For a body that ended as its framing says: compares its bytes with the expected ones, if known.
FetchError judge_size(std::uint64_t received, const std::optional<std::uint64_t>& expected);

/// The rest of a body whose sender stopped, for a request to the origin. Its bytes may follow if it
/// is provably the same representation (RFC 9110 §13.1.5, §14.4).
struct BodyRemainder {
    std::string etag;                         // strong; of the version
    std::uint64_t first = 0;                  // in the whole body
    std::optional<std::uint64_t> last;        // of a block
    std::optional<std::uint64_t> up_to = {};  // where the blocks behind it are asked for, too
    std::optional<std::uint64_t> length;      // of the whole body, if known
    std::uint64_t begins = 0;  // position of the first received byte in the whole body
};
/// `came`: bytes of it. `block`: the wanted part of the whole body, if not all.
BodyRemainder rest_of(std::string_view etag, std::uint64_t came,
                      const std::optional<ByteRange>& block,
                      const std::optional<std::uint64_t>& length);
/// What a response brings of the rest. It is a 206 with the rest exactly, a 206 with more of what
/// was asked for, or a 200 with the whole of the same version, whose first bytes came before.
struct Continuation {
    std::uint64_t end = 0;    // bytes that have come of the body or block at its end
    std::uint64_t first = 0;  // position of the response's first byte in the whole body
    bool goes_on = false;     // it has more, behind `end`
    std::optional<ByteRange> behind = {};  // that part of the whole body, if that is of use
};
/// None for any other response.
std::optional<Continuation> goes_on_with(const BodyRemainder& rest, const Head& head);
/// The meaning of an origin's response that is not the requested part. `origin_error`: it may
/// follow in a moment (5xx, 408, 429). `part_refused`: it says nothing of the body (401, 403, 407,
/// and 404 or 410 to a request that identifies_user()). `changed`: any other.
FetchError why_not_that(const Head& head, bool with_credentials);

}  // namespace proxy
