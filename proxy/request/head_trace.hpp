#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/memory/kept_memory.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/telemetry/span.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

/// The trace of one request after another, by the fields `traceparent` and `tracestate` of their
/// heads (W3C Trace Context). One thread.
class HeadTrace {
public:
    /// Begins with the next request, which has no trace so far.
    void begin() { trace_ = {}; }
    /// Begins its trace, and takes both fields out of the head: they select no variant, and the
    /// node writes its own towards peers and origins. `trusted`: the client's context is the
    /// parent; else a new trace begins. The values of `tracestate` outlive the request.
    void take(std::vector<Field>& head, bool trusted, double sample_ratio, SpanQueue& spans);
    /// A peer's request has the trace that its client has begun, or none.
    void drop_own() {
        if (trace_.parent == SpanId{}) trace_ = {};
    }
    /// Gives the trace to the fetches of the request.
    void give(RequestSnapshot& to) const;

    const RequestTrace& trace() const { return trace_; }

    std::size_t kept_bytes() const { return base::kept_bytes(states_); }
    void give_back() { base::give_back(states_); }

private:
    RequestTrace trace_;
    std::vector<std::string_view> states_;  // values of `tracestate` that go on, in the head
};

}  // namespace proxy
