#include "measure/run/replay.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <csignal>
#include <deque>
#include <list>
#include <stdexcept>

#include "measure/run/client_order.hpp"
#include "measure/run/connection_pool.hpp"
#include "measure/trace/printable.hpp"
#include "measure/trace/splitmix.hpp"
#include "measure/trace/target.hpp"

namespace measure {
namespace {

namespace asio = boost::asio;
using base::as_result;
using base::awaitable;
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using namespace std::chrono_literals;

constexpr auto kProgress = 250ms;
constexpr std::uint64_t kDefaultBytes = 1024;  // the origin's default, for URLs of unknown size
/// Without a schedule: requests taken from the log and unfinished, for each concurrent one. More
/// would let fast clients run far ahead of the others.
constexpr std::size_t kAhead = 4;

/// The times of the requests in an open loop, where they do not wait for answers.
class Schedule {
public:
    Schedule(const Trace& trace, const ReplayOptions& options, std::size_t first)
        : trace_(trace), rate_(options.rate), speedup_(options.speedup), first_(first) {}

    /// False: each answer triggers the next request.
    bool is_open() const { return rate_ > 0 || speedup_ > 0; }
    void begin(Time start) { start_ = start; }
    /// Due time of request number `request` of the trace.
    Time due(std::size_t request) const {
        const auto seconds = rate_ > 0 ? static_cast<double>(request - first_) / rate_
                                       : static_cast<double>(trace_.requests[request].time_ms -
                                                             trace_.requests[first_].time_ms) /
                                             1000 / speedup_;
        return start_ +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }

private:
    const Trace& trace_;
    const double rate_, speedup_;
    const std::size_t first_;
    Time start_{};
};

/// The results so far.
class Tally {
public:
    Tally(const Trace& trace, const ReplayOptions& options) : options_(options) {
        result_.proxies.resize(options.proxies.size());
        result_.body_bytes.resize(trace.object_bytes.size());
    }

    void begin(Time start) { start_ = start; }
    std::chrono::duration<double> elapsed() const { return Clock::now() - start_; }
    std::uint64_t failed() const { return failed_; }

    void count_body(std::uint32_t object, std::uint64_t bytes) {
        result_.body_bytes[object] = bytes;
    }
    void count_answer(const Attempt& attempt, std::size_t at, bool taken_over,
                      Clock::duration latency) {
        ProxyTally& tally = result_.proxies[at];
        OutcomeTally& counted = tally.outcomes[static_cast<std::size_t>(attempt.outcome)];
        ++counted.requests;
        counted.body_bytes += attempt.body_bytes;
        counted.latency.add(latency);
        result_.course.answer(Clock::now() - start_, attempt.outcome);
        tally.taken_over += taken_over;
        tally.verified += attempt.verified;
        if (attempt.node.empty() || attempt.node == tally.node) return;
        (tally.node.empty() ? tally.node : tally.other_node) = attempt.node;
    }

    void count_failure(const Attempt& attempt, std::size_t home, const Url& url) {
        ++result_.proxies[home].failures[static_cast<std::size_t>(*attempt.failure)];
        result_.course.failure(Clock::now() - start_);
        ++failed_;
        if (!result_.first_failure.empty()) return;
        result_.first_failure = std::string(to_string(*attempt.failure));
        if (attempt.status != 0)
            result_.first_failure += " (status " + std::to_string(attempt.status) +
                                     (attempt.detail.empty() ? "" : ", " + attempt.detail) + ')';
        result_.first_failure += " from " + options_.proxies[home].text() + " for ";
        result_.first_failure += printable(url.text);
    }

    ReplayResult take() { return std::move(result_); }

private:
    const ReplayOptions& options_;
    ReplayResult result_;
    Time start_{};
    std::uint64_t failed_ = 0;
};

void append_field(std::string_view name, std::uint64_t value, std::string& out) {
    out.append(name).append(": ").append(std::to_string(value)).append("\r\n");
}

void write_request(const Trace& trace, const ReplayOptions& options, const LoggedRequest& request,
                   std::string& out) {
    const Url& url = trace.urls[request.url];
    const SplitUrl parts = split_url(url.text);
    out.assign(trace.methods[request.method]) += ' ';
    if (options.form == RequestForm::absolute) {
        out += url.text;
    } else {
        if (parts.path.empty() || parts.path.front() != '/') out += '/';
        out += parts.path;
    }
    out.append(" HTTP/1.1\r\nHost: ").append(parts.authority).append("\r\n");
    const auto bytes = trace.object_bytes[url.object];
    if (bytes != 0) append_field("Hearsay-Bytes", bytes, out);
    if (options.max_age) append_field("Hearsay-Max-Age", *options.max_age, out);
    if (options.delay_ms != 0) append_field("Hearsay-Delay", options.delay_ms, out);
    const bool may_have_body = request.method != kGet && request.method != kHead;
    if (may_have_body) append_field("Content-Length", 0, out);
    out += "\r\n";
}

/// A replay while it runs.
class Driver {
public:
    Driver(const Trace& trace, const ReplayOptions& options,
           const std::function<void(const ReplayProgress&)>& on_progress)
        : trace_(trace),
          options_(options),
          on_progress_(on_progress),
          first_(std::min(options.part.first, trace.requests.size())),
          end_(std::max(first_, std::min(options.part.end, trace.requests.size()))),
          order_(trace),
          schedule_(trace, options, first_),
          tally_(trace, options),
          connections_(context_, options.proxies),
          lanes_(options.proxies.size()),
          next_(first_),
          ticker_(context_),
          pace_(context_),
          signals_(context_) {}

    ReplayResult run() {
        const Time start = Clock::now();
        schedule_.begin(start);
        tally_.begin(start);
        if (options_.stop_on_signal) {
            signals_.add(SIGINT);
            signals_.add(SIGTERM);
            signals_.async_wait([this](boost::system::error_code error, int) {
                if (error) return;
                stopping_ = true;
                signals_.clear();  // the next signal ends the program as usual
                pace_.cancel();
            });
        }
        asio::co_spawn(context_, pace(), asio::detached);
        asio::co_spawn(context_, connections_.watch(), asio::detached);
        if (on_progress_) asio::co_spawn(context_, tick(), asio::detached);
        context_.run();
        report_progress();
        auto result = tally_.take();
        result.elapsed = tally_.elapsed();
        result.sent = next_ - first_ - dropped_;
        result.stopped = stopping_;
        return result;
    }

private:
    struct Lane {
        explicit Lane(asio::io_context& context) : wake(context, Time::max()) {}
        asio::steady_timer wake;
        std::string request;
    };
    /// The requests of one proxy's clients, and the coroutines that send them.
    struct Lanes {
        std::deque<std::uint32_t> queue;  // at most as long as the trace
        std::list<Lane> lanes;
        std::vector<Lane*> sleeping;
    };

    std::size_t most_lanes() const {
        return schedule_.is_open() ? options_.concurrency
                                   : std::max<std::size_t>(1, options_.concurrency / lanes_.size());
    }
    bool all_released() const { return next_ == end_ || stopping_; }
    /// Released and unfinished.
    std::size_t in_progress() const { return next_ - first_ - done_; }

    /// Releases every request at its due time.
    awaitable<void> pace() {
        while (!all_released()) {
            if (schedule_.is_open()) {
                const Time due = schedule_.due(next_);
                if (due > Clock::now()) {
                    pace_.expires_at(due);
                    co_await pace_.async_wait(as_result);
                    continue;
                }
            } else if (in_progress() >= kAhead * options_.concurrency) {
                pace_.expires_at(Time::max());
                co_await pace_.async_wait(as_result);
                continue;
            }
            const auto request = static_cast<std::uint32_t>(next_++);
            if (order_.release(request)) enqueue(request);
        }
        finish_if_done();
    }

    void enqueue(std::uint32_t request) {
        const auto client = trace_.clients[trace_.requests[request].client];
        const std::size_t home = proxy_of(client, lanes_.size());
        Lanes& proxy = lanes_[home];
        proxy.queue.push_back(request);
        if (!proxy.sleeping.empty()) {
            proxy.sleeping.back()->wake.cancel();
            proxy.sleeping.pop_back();
        } else if (proxy.lanes.size() < most_lanes()) {
            Lane& lane = proxy.lanes.emplace_back(context_);
            asio::co_spawn(context_, run_lane(home, lane), asio::detached);
        }
    }

    awaitable<void> run_lane(std::size_t home, Lane& lane) {
        Lanes& proxy = lanes_[home];
        for (;;) {
            while (proxy.queue.empty()) {
                if (finished_) co_return;
                proxy.sleeping.push_back(&lane);
                co_await lane.wake.async_wait(as_result);
            }
            const std::uint32_t request = proxy.queue.front();
            proxy.queue.pop_front();
            if (stopping_) {
                ++dropped_;
            } else {
                co_await perform(request, home, lane);
            }
            ++done_;
            if (const auto next = order_.finished(request)) enqueue(*next);
            if (!schedule_.is_open() && !all_released()) pace_.cancel();
            finish_if_done();
        }
    }

    void finish_if_done() {
        if (!all_released() || in_progress() > 0 || finished_) return;
        finished_ = true;
        for (auto& proxy : lanes_) {
            for (auto& lane : proxy.lanes) lane.wake.cancel();
        }
        connections_.stop();
        ticker_.cancel();
        signals_.cancel();
    }

    awaitable<void> perform(std::uint32_t index, std::size_t home, Lane& lane) {
        const LoggedRequest& request = trace_.requests[index];
        const Url& url = trace_.urls[request.url];
        write_request(trace_, options_, request, lane.request);
        ExpectedAnswer expected;
        expected.is_head = request.method == kHead;
        if (options_.verify != Verify::none) {
            expected.from_anywhere = options_.verify == Verify::built_in;
            proxy::CacheKey key;
            key.assign(proxy::Scheme::http, boost::beast::http::verb::get, url.text, {});
            expected.body = OriginBody::of(key);
            const auto logged = trace_.object_bytes[url.object];
            expected.body_bytes = logged != 0 ? logged : kDefaultBytes;
        }
        const bool repeatable = request.method == kGet || request.method == kHead;
        const Time from = schedule_.is_open() ? schedule_.due(index) : Clock::now();
        const std::size_t tries = options_.failover ? lanes_.size() : 1;
        std::optional<Attempt> last;
        for (std::size_t i = 0; i < tries; ++i) {
            const std::size_t at = (home + i) % lanes_.size();
            // The last proxy in turn is asked even if it has just refused.
            if (i + 1 < tries && connections_.is_down(at)) continue;
            const Time deadline = Clock::now() + options_.timeout;
            last = co_await connections_.ask(at, lane.request, expected, repeatable, deadline);
            if (!last->failure) {
                tally_.count_answer(*last, at, at != home, Clock::now() - from);
                if (!last->verified && last->status == 200 && request.method == kGet)
                    tally_.count_body(url.object, last->body_bytes);
                co_return;
            }
            const bool broken =
                *last->failure == RequestFailure::connect || *last->failure == RequestFailure::cut;
            if (!broken || (*last->failure == RequestFailure::cut && !repeatable)) break;
        }
        tally_.count_failure(*last, home, url);
    }

    awaitable<void> tick() {
        while (!finished_) {
            ticker_.expires_after(kProgress);
            co_await ticker_.async_wait(as_result);
            report_progress();
        }
    }

    void report_progress() const {
        if (!on_progress_) return;
        on_progress_({end_ - first_, done_, tally_.failed(), tally_.elapsed()});
    }

    const Trace& trace_;
    const ReplayOptions& options_;
    const std::function<void(const ReplayProgress&)>& on_progress_;
    const std::size_t first_, end_;  // of the requests of the part
    asio::io_context context_{1};
    ClientOrder order_;
    Schedule schedule_;
    Tally tally_;
    ConnectionPool connections_;
    std::vector<Lanes> lanes_;  // one for each proxy
    std::size_t next_;          // request to release
    std::size_t done_ = 0, dropped_ = 0;
    asio::steady_timer ticker_, pace_;
    asio::signal_set signals_;
    bool stopping_ = false, finished_ = false;
};

}  // namespace

std::uint64_t ProxyTally::answered() const {
    std::uint64_t sum = 0;
    for (const auto& each : outcomes) sum += each.requests;
    return sum;
}
std::uint64_t ProxyTally::failed() const {
    std::uint64_t sum = 0;
    for (const auto count : failures) sum += count;
    return sum;
}
std::uint64_t ProxyTally::body_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& each : outcomes) sum += each.body_bytes;
    return sum;
}

ReplayResult replay(const Trace& trace, const ReplayOptions& options,
                    const std::function<void(const ReplayProgress&)>& on_progress) {
    if (options.proxies.empty()) throw std::invalid_argument("no proxy given");
    if (options.rate > 0 && options.speedup > 0) {
        throw std::invalid_argument("give a rate or a speed-up, not both");
    }
    if (options.rate < 0 || options.speedup < 0 || options.concurrency == 0) {
        throw std::invalid_argument("rate, speed-up and concurrency must be above 0");
    }
    return Driver(trace, options, on_progress).run();
}

}  // namespace measure
