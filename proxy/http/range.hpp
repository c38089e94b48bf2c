#pragma once

#include "proxy/http/fields.hpp"
#include "proxy/http/validators.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy {

/// Positions of bytes, both inclusive: first <= last.
struct ByteRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    std::uint64_t size() const { return last - first + 1; }
    bool operator==(const ByteRange&) const = default;
};

/// A Range field (RFC 9110 §14.1.2, §14.2). Numbers above 64 bits saturate.
struct RangeRequest {
    enum class Form : std::uint8_t {
        none,     // absent or ignored: malformed, another unit, sent twice
        bounded,  // first-last
        open,     // first-
        suffix,   // the last `suffix` bytes
        several,  // more than one range, each well-formed
    };
    Form form = Form::none;
    std::uint64_t first = 0;
    std::uint64_t last = 0;    // bounded only
    std::uint64_t suffix = 0;  // suffix only

    bool single() const { return form != Form::none && form != Form::several; }
};
RangeRequest parse_range(std::string_view value);
RangeRequest range_request(Fields request);

/// The answer to a range of a representation with `length` bytes.
struct RangeAnswer {
    enum class Kind : std::uint8_t {
        whole,          // 200: form none or several, or a suffix of an empty body
        part,           // 206 with `range`, which may be all of it
        unsatisfiable,  // 416
    };
    Kind kind = Kind::whole;
    ByteRange range;  // part only; last < length
};
RangeAnswer evaluate(const RangeRequest& request, std::uint64_t length);

/// A request for more ranges than this gets the whole, as from Apache (200) and others.
inline constexpr std::size_t kMaxRanges = 256;
/// The parts that a request for several ranges gets of a representation with `length` bytes: the
/// satisfiable ones, in the order of the request. Ranges that overlap become one part, in the place
/// of the first of them, so the parts are never more than the whole (RFC 9110 §14.2, §15.3.7.2).
/// None: all are unsatisfiable (416). nullopt: the field is malformed or names too many, and does
/// not count.
std::optional<std::vector<ByteRange>> evaluate_several(Fields request, std::uint64_t length);

/// Content-Range in bytes (RFC 9110 §14.4).
struct ContentRange {
    std::optional<ByteRange> range;       // absent: `*`, as in a 416
    std::optional<std::uint64_t> length;  // absent: `*`, an unknown length

    bool operator==(const ContentRange&) const = default;
};
/// Returns nullopt for a malformed value, another unit, a contradiction, or more than 63 bits.
std::optional<ContentRange> parse_content_range(std::string_view value);
/// The same for a head; also nullopt if the field is absent or has two values.
std::optional<ContentRange> content_range(Fields response);
/// Appends the value, as `bytes 0-9/100`. Precondition: range or length is there.
void append_content_range(std::string& out, const ContentRange& value);
/// Appends the Range and If-Range lines of a request for these bytes of one version. Without `last`
/// the range extends to the end. An origin with another version sends the whole body (RFC 9110
/// §13.1.5). An empty `version` matches all.
void append_range_request(std::string& out, std::uint64_t first, std::optional<std::uint64_t> last,
                          std::string_view version);

/// Whether If-Range lets the request's Range apply to this stored response (RFC 9110 §13.1.5). True
/// without If-Range. A tag has to match strongly. A date has to equal Last-Modified and to be a
/// strong validator: Date at least one second later (§8.8.2.2). False for all else, also for two
/// values: the whole response is the answer. Callers evaluate other conditions first (§13.2.2).
bool if_range_allows(Fields request, const Validators& stored, WallTime now);

}  // namespace proxy
