#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/counters/counter_table.hpp"

namespace proxy {

/// Counts of spans by their end.
struct SpanCounters {
    std::uint64_t sent = 0, dropped = 0, refused = 0;
    std::uint64_t failures = 0;  // requests to the collector without success
    std::uint64_t waiting = 0, waiting_bytes = 0;
};
/// counter_table.hpp explains the fields of a row.
inline constexpr base::CounterRow<SpanCounters> kSpanCounters[] = {
    {&SpanCounters::sent,
     "tracing.sent",
     "spans",
     "Spans by their end: sent, the collector took them; dropped, the queue was full, or the node "
     "ended first; refused, the collector did not want them.",
     "hearsay_trace_spans_total",
     {"result", "sent"}},
    {&SpanCounters::dropped,
     "tracing.dropped",
     "spans",
     "",
     "hearsay_trace_spans_total",
     {"result", "dropped"}},
    {&SpanCounters::refused,
     "tracing.refused",
     "spans",
     "",
     "hearsay_trace_spans_total",
     {"result", "refused"}},
    {&SpanCounters::failures, "tracing.export_failures", "requests",
     "Requests to the collector that failed, or that it answered with an error.",
     "hearsay_trace_export_failures_total"},
    {.member = &SpanCounters::waiting,
     .path = "tracing.waiting",
     .unit = "spans",
     .help = "Spans that wait for the collector.",
     .family = "hearsay_trace_queue_spans",
     .kind = base::NumberKind::level},
    {.member = &SpanCounters::waiting_bytes,
     .path = "tracing.waiting_bytes",
     .unit = "bytes",
     .help = "Memory of these spans.",
     .family = "hearsay_trace_queue_bytes",
     .kind = base::NumberKind::level},
};
static_assert(base::every_member_has_a_row(kSpanCounters));

/// The spans that wait for the collector, each as a JSON object of OTLP. Workers put them in
/// without a wait, and one exporter takes them out in batches. A full queue drops new spans and
/// counts them. Any thread.
class SpanQueue {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::size_t kMaxBytes = 16 << 20;       // of all spans
    static constexpr std::size_t kMaxBatchBytes = 2 << 20;   // of one batch
    static constexpr std::size_t kMaxSpanBytes = 16 * 1024;  // of one span; a larger one is dropped

    /// Sets the numbers of spans that may wait, and of a batch. Without spans (0) it takes none,
    /// and forgets the waiting ones.
    void limit(std::size_t spans, std::size_t batch);
    /// `notify` is called, on the thread of the caller of push(), when a first span waits, and when
    /// a batch is complete. Before the first push().
    void on_news(std::function<void()> notify) { notify_ = std::move(notify); }

    void push(std::string span);

    std::size_t size() const;
    bool has_batch() const;
    /// When the oldest span came; max() without one.
    Clock::time_point oldest() const;
    /// Takes the oldest spans, at most one batch. The exporter says later what became of them.
    std::vector<std::string> take();

    // The end of spans that were taken.
    void sent(std::uint64_t spans) { end(sent_, spans); }
    void refused(std::uint64_t spans) { end(refused_, spans); }
    void dropped(std::uint64_t spans) { end(dropped_, spans); }
    void failed() { ++failures_; }
    SpanCounters counters() const;

private:
    struct Waiting {
        std::string text;
        Clock::time_point since;
    };

    void end(std::atomic<std::uint64_t>& count, std::uint64_t spans);

    std::function<void()> notify_;
    mutable std::mutex mutex_;
    std::deque<Waiting> spans_;
    std::size_t bytes_ = 0, most_ = 0, batch_ = 1;
    std::size_t taken_ = 0,
                taken_bytes_ = 0;  // by take(), without an end so far; they count as waiting
    std::atomic<std::uint64_t> sent_{0}, dropped_{0}, refused_{0}, failures_{0};
};

}  // namespace proxy
