#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy {

// Trace contexts of HTTP requests. Source: W3C Trace Context, level 1 (Recommendation of
// 2021-11-23). All functions here are pure but those that begin with `fresh_`, and any thread may
// call them.

/// 16 bytes, not all zero in a valid context.
using TraceId = std::array<std::uint8_t, 16>;
/// 8 bytes, likewise.
using SpanId = std::array<std::uint8_t, 8>;

/// A trace, and one span of it: the value of `traceparent`.
struct TraceContext {
    TraceId trace{};
    SpanId span{};
    bool sampled = false;

    bool valid() const { return trace != TraceId{} && span != SpanId{}; }
    bool operator==(const TraceContext&) const = default;
};

inline constexpr std::string_view kTraceparent = "traceparent";
inline constexpr std::string_view kTracestate = "tracestate";
/// Bytes of `00-TRACE-SPAN-FLAGS`.
inline constexpr std::size_t kTraceparentBytes = 55;

/// Parses the value of one `traceparent`. Version 00 has exactly kTraceparentBytes; a later version
/// may have more behind a further `-`. Hexadecimal digits are lower case. Empty for version ff, for
/// an id of zeros, and for any other text (§3.2.2, §4.3).
std::optional<TraceContext> parse_traceparent(std::string_view value);

/// The context in the fields of a request. Empty without `traceparent`, for a malformed one, and
/// for two of them, because nobody knows which one is right (§3.2).
std::optional<TraceContext> received_trace(Fields request);

/// Appends the value of `traceparent` in version 00. Of the flags it states `sampled` alone.
/// Precondition: valid().
void append_traceparent(std::string& out, const TraceContext& context);
/// Appends the digits of an id.
void append_id(std::string& out, const TraceId& id);
void append_id(std::string& out, const SpanId& id);

/// Random ids, by a generator of the calling thread that the system's random bytes have seeded.
TraceId fresh_trace_id();
SpanId fresh_span_id();

/// Whether a trace with this id belongs to the sampled share `ratio`, from 0 to 1. The last 56 bits
/// of the id decide, which are random in every trace (level 2 §3.2.2.3). All nodes with one ratio
/// decide alike, and a larger ratio has the traces of a smaller one.
bool in_sample(const TraceId& id, double ratio);

}  // namespace proxy
