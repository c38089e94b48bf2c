#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.hpp"
#include "base/async/timer_wheel.hpp"
#include "base/async/wakeup.hpp"
#include "base/memory/memory.hpp"
#include "proxy/config/config_in_effect.hpp"
#include "proxy/telemetry/span_queue.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// The body of a request to the collector: spans of one node, as ExportTraceServiceRequest of
/// OTLP/HTTP in JSON.
std::string export_body(const Config& config, const std::vector<std::string>& spans);

/// The pause before the next request after so many failures in a row, from 1 on: a second, and
/// twice as long each time up to 30 s.
std::chrono::seconds pause_after(unsigned failures);

/// How the collector answered.
enum class ExportResult : std::uint8_t {
    taken,
    refused,    // it will not take these spans
    try_again,  // 429, 502, 503, 504, or no answer
};
ExportResult export_result(FetchError error, unsigned status);
/// The number of rejected spans in the body of a 200 (ExportTracePartialSuccess), at most `sent`.
std::uint64_t rejected_spans(std::string_view body, std::uint64_t sent);

/// Decides which troubles with the collector have a line in the error log: each change of the
/// reason or of the endpoint, and at most one in kPause. One thread.
class ExportTrouble {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::chrono::seconds kPause{10};

    /// Notes trouble at `endpoint`. Returns true if it needs a line.
    bool met(std::string_view endpoint, std::string_view why, Time now);
    /// Notes that all is well at `endpoint`. Returns true if the last line says otherwise.
    bool over(std::string_view endpoint);

private:
    std::string endpoint_, why_;  // of the last line
    bool told_ = false;           // and that trouble goes on
    Time quiet_until_{};
};

/// Sends the spans of a SpanQueue to the collector of the configuration in effect: when a batch is
/// complete, or its oldest span has waited for SpanTimes::delay. Each request has a deadline. After
/// a failure the batch waits for the next try, while the queue drops what it has no room for. One
/// thread, apart from those of workers. Source: OTLP 1.x, OTLP/HTTP.
class SpanExporter {
public:
    using Clock = std::chrono::steady_clock;
    /// The longest Retry-After that is obeyed.
    static constexpr std::chrono::minutes kMaxPause{5};

    /// All must outlive this. A reload replaces `in_effect`.
    SpanExporter(boost::asio::any_io_executor io, const ConfigInEffect& in_effect, SpanQueue& queue,
                 base::MemoryBudget& windows);
    SpanExporter(const SpanExporter&) = delete;
    SpanExporter& operator=(const SpanExporter&) = delete;

    /// Before run() of the executor's context, and before any span.
    void start();
    /// Takes over the configuration in effect, and tries at once.
    void follow_settings();
    /// Sends all spans that wait, until `deadline` or the first failure. No span may come any more.
    boost::asio::awaitable<void> flush(Clock::time_point deadline);
    /// Ends the coroutine. The spans that still wait count as dropped.
    void stop();

private:
    boost::asio::awaitable<void> run();
    boost::asio::awaitable<void> send_batch();
    boost::asio::awaitable<ExportResult> post(const std::shared_ptr<const LoadedConfig>& config);
    boost::asio::awaitable<void> read_answer(Exchange& exchange, Clock::time_point deadline);
    Clock::time_point next_try() const;
    void note_failure(const Config& config, ExportResult result, std::string_view why,
                      std::optional<Clock::time_point> not_before);

    const ConfigInEffect& settings_;
    SpanQueue& queue_;
    base::TimerWheel wheel_;
    std::uint64_t handshakes_ = 0;  // with peers; there are none
    UpstreamPool pool_;
    std::shared_ptr<base::Wakeup> wakeup_, flushed_;
    base::TaskGroup tasks_;
    std::vector<std::string> batch_;  // under way, or waiting for the next try
    std::uint64_t rejected_ = 0;      // of batch_
    unsigned failures_ = 0;           // in a row
    ExportTrouble trouble_;
    Clock::time_point not_before_{};
    bool flushing_ = false, stopped_ = false;
};

}  // namespace proxy
