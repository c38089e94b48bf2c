#include "proxy/telemetry/span.hpp"

#include <array>
#include <charconv>
#include <new>
#include <utility>

#include "base/text/json_string.hpp"
#include "proxy/telemetry/span_queue.hpp"

namespace proxy {
namespace {

using SystemClock = std::chrono::system_clock;

/// An escaped byte takes six, so a span has room for one long text and several short ones.
constexpr std::size_t kMaxAttributesBytes = SpanQueue::kMaxSpanBytes - 1024;
constexpr unsigned kStatusError = 2;  // of OTLP

void append_quoted_number(std::string& out, std::uint64_t number) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.push_back('"');
    out.append(digits.data(), end);
    out.push_back('"');
}

void append_ids(std::string& out, const TraceContext& context) {
    out.append("{\"traceId\":\"");
    append_id(out, context.trace);
    out.append("\",\"spanId\":\"");
    append_id(out, context.span);
    out.push_back('"');
}

std::uint64_t unix_nanoseconds(SystemClock::time_point time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

}  // namespace

struct OpenSpan::SpanRecord {
    SpanQueue* queue;
    TraceContext context;
    SpanId parent;
    SpanKind kind;
    std::string_view name;  // a literal
    Clock::time_point begun;
    std::string attributes = {}, links = {}, failure = {};
    bool failed = false;
};

RequestTrace begin_trace(const std::optional<TraceContext>& received, double sample_ratio,
                         SpanQueue& spans) {
    RequestTrace trace;
    if (received) {
        trace.context = *received;
        trace.parent = received->span;
    } else {
        trace.context.trace = fresh_trace_id();
        trace.context.sampled = in_sample(trace.context.trace, sample_ratio);
    }
    trace.context.span = fresh_span_id();
    if (trace.context.sampled) trace.spans = &spans;
    return trace;
}

OpenSpan::OpenSpan(const RequestTrace& of, SpanKind kind, std::string_view name) {
    if (!of.spans) return;
    const TraceContext own{of.context.trace, fresh_span_id(), true};
    record_ = std::make_unique<SpanRecord>(
        SpanRecord{of.spans, own, of.context.span, kind, name, Clock::now()});
}

OpenSpan OpenSpan::of_request(const RequestTrace& request, std::string_view name,
                              Clock::time_point begun) {
    OpenSpan span;
    if (!request.spans) return span;
    span.record_ = std::make_unique<SpanRecord>(
        SpanRecord{request.spans, request.context, request.parent, SpanKind::server, name, begun});
    return span;
}

OpenSpan::OpenSpan() noexcept = default;
OpenSpan::OpenSpan(OpenSpan&& other) noexcept = default;

OpenSpan& OpenSpan::operator=(OpenSpan&& other) noexcept {
    if (this == &other) return *this;
    end();
    record_ = std::move(other.record_);
    return *this;
}

OpenSpan::~OpenSpan() {
    end();
}

TraceContext OpenSpan::context() const {
    return record_ ? record_->context : TraceContext{};
}

/// Writes the start of an attribute, if it has room.
bool OpenSpan::takes(std::string_view key, std::size_t bytes) {
    if (!record_) return false;
    auto& out = record_->attributes;
    if (out.size() + key.size() + bytes > kMaxAttributesBytes) return false;
    if (!out.empty()) out.push_back(',');
    out.append("{\"key\":\"").append(key).append("\",\"value\":{");
    return true;
}

void OpenSpan::add(std::string_view key, std::string_view text) {
    if (!record_ || text.empty()) return;
    std::string value;
    base::append_json_string(value, text.substr(0, kMaxAttributeBytes));
    if (!takes(key, value.size() + 64)) return;
    record_->attributes.append("\"stringValue\":").append(value).append("}}");
}

void OpenSpan::add_number(std::string_view key, std::uint64_t number) {
    if (!takes(key, 96)) return;
    record_->attributes.append("\"intValue\":");
    append_quoted_number(record_->attributes, number);
    record_->attributes.append("}}");
}

void OpenSpan::add_flag(std::string_view key, bool flag) {
    if (!takes(key, 64)) return;
    record_->attributes.append(flag ? "\"boolValue\":true}}" : "\"boolValue\":false}}");
}

void OpenSpan::fail(std::string_view why) {
    if (!record_ || record_->failed) return;
    record_->failed = true;
    record_->failure = why.substr(0, 128);
    add("error.type", record_->failure);
}

void OpenSpan::link(const TraceContext& other) {
    if (!record_ || !other.valid() || !record_->links.empty()) return;
    append_ids(record_->links, other);
    record_->links.push_back('}');
}

/// The exporter may lack the memory for a span, which is no reason to end anything else.
void OpenSpan::end() {
    if (!record_) return;
    const auto draft = std::exchange(record_, nullptr);
    try {
        const auto took = Clock::now() - draft->begun;
        const auto ended = SystemClock::now();
        const auto begun = ended - std::chrono::duration_cast<SystemClock::duration>(took);
        std::string out;
        out.reserve(draft->attributes.size() + draft->links.size() + 320);
        append_ids(out, draft->context);
        if (draft->parent != SpanId{}) {
            out.append(",\"parentSpanId\":\"");
            append_id(out, draft->parent);
            out.push_back('"');
        }
        out.append(",\"flags\":1,\"name\":\"").append(draft->name);
        out.append("\",\"kind\":").append(std::to_string(static_cast<unsigned>(draft->kind)));
        out.append(",\"startTimeUnixNano\":");
        append_quoted_number(out, unix_nanoseconds(begun));
        out.append(",\"endTimeUnixNano\":");
        append_quoted_number(out, unix_nanoseconds(ended));
        out.append(",\"attributes\":[").append(draft->attributes).append("]");
        if (!draft->links.empty()) out.append(",\"links\":[").append(draft->links).append("]");
        if (draft->failed) {
            out.append(",\"status\":{\"code\":").append(std::to_string(kStatusError));
            out.append(",\"message\":");
            base::append_json_string(out, draft->failure);
            out.push_back('}');
        }
        out.push_back('}');
        draft->queue->push(std::move(out));
    } catch (const std::bad_alloc&) {
        draft->queue->dropped(1);
    }
}

void append_trace_line(std::string& out, const TraceContext& context) {
    if (!context.valid()) return;
    out.append(kTraceparent).append(": ");
    append_traceparent(out, context);
    out.append("\r\n");
}

}  // namespace proxy
