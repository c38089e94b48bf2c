#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/telemetry/trace_context.hpp"

namespace proxy {

class SpanQueue;

/// The trace of one request at this node. A small value; copies go with the fetches of the request.
struct RequestTrace {
    /// Its span is that of the request at this node. Invalid: the node traces nothing.
    TraceContext context;
    SpanId parent{};             // the span that sent the request; zeros: the trace begins here
    SpanQueue* spans = nullptr;  // set exactly if the trace is sampled; outlives all requests

    explicit operator bool() const { return context.valid(); }
};

/// The trace of a request with the context `received`, which is empty or trusted. Without it the
/// trace begins here, and `sample_ratio` decides whether it is sampled.
RequestTrace begin_trace(const std::optional<TraceContext>& received, double sample_ratio,
                         SpanQueue& spans);

/// SpanKind of OTLP.
enum class SpanKind : std::uint8_t { internal = 1, server = 2, client = 3 };

/// The longest text of an attribute in bytes. A longer one is cut.
inline constexpr std::size_t kMaxAttributeBytes = 2048;

/// A span that has begun. Its end puts it into the queue of its trace, as a JSON object of OTLP
/// 1.x (opentelemetry.proto.trace.v1.Span). An empty one belongs to no sampled trace, and does and
/// costs nothing. One thread at a time.
class OpenSpan {
public:
    using Clock = std::chrono::steady_clock;

    OpenSpan() noexcept;
    /// A part of the work for `of`, with an id of its own. Empty if `of` is not sampled.
    OpenSpan(const RequestTrace& of, SpanKind kind, std::string_view name);
    /// The span of the request itself, which has begun at `begun`.
    static OpenSpan of_request(const RequestTrace& request, std::string_view name,
                               Clock::time_point begun);
    OpenSpan(OpenSpan&& other) noexcept;
    OpenSpan& operator=(OpenSpan&& other) noexcept;  // ends the span that was here
    ~OpenSpan();                                     // ends it

    explicit operator bool() const { return record_ != nullptr; }
    /// The parent of the spans at the other side; invalid if this is empty.
    TraceContext context() const;

    /// `key` is a name of OpenTelemetry's conventions, or begins with `hearsay.`. An attribute for
    /// which the span has no room is left out.
    void add(std::string_view key, std::string_view text);
    void add_number(std::string_view key, std::uint64_t number);
    void add_flag(std::string_view key, bool flag);
    /// The work has failed.
    void fail(std::string_view why);
    /// Another span has done the work.
    void link(const TraceContext& other);
    /// Ends the span now. The first call counts.
    void end();

private:
    struct SpanRecord;
    bool takes(std::string_view key, std::size_t bytes);
    std::unique_ptr<SpanRecord> record_;
};

/// The context for the request that `span` is about: that of `span`, else that of `of`.
inline TraceContext sent_context(const RequestTrace& of, const OpenSpan& span) {
    return span ? span.context() : of.context;
}
/// Appends the line `traceparent: ...` with its CRLF. Nothing for an invalid context.
void append_trace_line(std::string& out, const TraceContext& context);

}  // namespace proxy
