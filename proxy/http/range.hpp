#pragma once

#include "proxy/http/fields.hpp"
#include "proxy/http/validators.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// Positions of bytes, both inclusive: first <= last.
struct ByteRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    std::uint64_t size() const { return last - first + 1; }
    bool operator==(const ByteRange&) const = default;
};

/// What Range asks for (RFC 9110 §14.1.2, §14.2). Numbers too large to count with saturate.
struct RangeRequest {
    enum class Form : std::uint8_t {
        none,     // no Range, or one to be ignored: malformed, another unit, sent twice
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

/// What a single range comes to, for a representation of `length` bytes.
struct RangeAnswer {
    enum class Kind : std::uint8_t {
        whole,          // 200: nothing to be cut (form none or several; a suffix of nothing)
        part,           // 206 with `range`, which may be all of it
        unsatisfiable,  // 416
    };
    Kind kind = Kind::whole;
    ByteRange range;  // part only; last < length
};
RangeAnswer evaluate(const RangeRequest& request, std::uint64_t length);

/// Content-Range in bytes (RFC 9110 §14.4).
struct ContentRange {
    std::optional<ByteRange> range;       // absent: `*`, as in a 416
    std::optional<std::uint64_t> length;  // absent: `*`, the complete length is not known

    bool operator==(const ContentRange&) const = default;
};
/// None when malformed, in another unit, or contradicting itself; numbers must fit 63 bits.
std::optional<ContentRange> parse_content_range(std::string_view value);
/// The same of a head; none as well when the field is absent or sent twice with different values.
std::optional<ContentRange> content_range(Fields response);
/// Appends the value, `bytes 0-9/100`. One of the two must be given.
void append_content_range(std::string& out, const ContentRange& value);
/// Appends the lines of a request for these bytes, without `last` all from `first` on, of this
/// version and no other: the whole comes if there is another (RFC 9110 §13.1.5). An empty `version`
/// is any.
void append_range_request(std::string& out, std::uint64_t first, std::optional<std::uint64_t> last,
                          std::string_view version);

/// May the request's Range be applied to this stored response, as far as If-Range goes (RFC 9110
/// §13.1.5)? True without If-Range. A tag must match strongly. A date must be that of
/// Last-Modified, and a strong validator: Date at least one second later (§8.8.2.2). Anything else,
/// also an If-Range sent twice: false, the whole response is the answer. Other conditions are
/// evaluated before this one (§13.2.2).
bool if_range_allows(Fields request, const Validators& stored, WallTime now);

}  // namespace proxy
