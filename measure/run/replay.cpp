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
#include "measure/run/proxy_connection.hpp"
#include "measure/trace/printable.hpp"
#include "measure/trace/splitmix.hpp"
#include "measure/trace/target.hpp"

namespace measure {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using protocol::as_result;
using protocol::awaitable;
using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using namespace std::chrono_literals;

constexpr auto kWatch = 100ms;  // longest delay before a deadline is noticed
constexpr auto kProgress = 250ms;
constexpr auto kConnectDeadline = 2s;
constexpr auto kAvoidDown = 250ms;  // failover: time for which a proxy that refused is skipped
constexpr std::uint64_t kDefaultBytes = 1024;  // the origin's default, for URLs of unknown size
/// Without a schedule: requests taken from the log and unfinished, for each concurrent one. More
/// would let fast clients run far ahead of the others.
constexpr std::size_t kAhead = 4;

class Driver {
public:
    Driver(const Trace& trace, const ReplayOptions& options,
           const std::function<void(const ReplayProgress&)>& on_progress)
        : trace_(trace),
          options_(options),
          on_progress_(on_progress),
          first_(std::min(options.part.first, trace.requests.size())),
          total_(std::max(first_, std::min(options.part.end, trace.requests.size())) - first_),
          order_(trace),
          ticker_(context_),
          watch_(context_),
          pace_(context_),
          signals_(context_) {
        open_loop_ = options.rate > 0 || options.speedup > 0;
        if (open_loop_) due_.resize(trace.requests.size());
        const std::size_t count = options.proxies.size();
        lanes_per_proxy_ = open_loop_ ? options.concurrency
                                      : std::max<std::size_t>(1, options.concurrency / count);
        result_.proxies.resize(count);
        result_.body_bytes.resize(trace.object_bytes.size());
        for (const auto& address : options.proxies) {
            tcp::resolver resolver(context_);
            boost::system::error_code error;
            const auto found = resolver.resolve(address.host, std::to_string(address.port), error);
            if (error) throw std::invalid_argument(address.text() + ": " + error.message());
            proxies_.emplace_back().endpoint = found.begin()->endpoint();
        }
        home_.resize(trace.clients.size());
        for (std::size_t c = 0; c < home_.size(); ++c) home_[c] = proxy_of(trace.clients[c], count);
    }

    ReplayResult run() {
        start_ = Clock::now();
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
        asio::co_spawn(context_, watch(), asio::detached);
        if (on_progress_) asio::co_spawn(context_, tick(), asio::detached);
        context_.run();
        result_.elapsed = Clock::now() - start_;
        result_.sent = released_ - dropped_;
        result_.stopped = stopping_;
        report_progress();
        return std::move(result_);
    }

private:
    struct Lane {
        explicit Lane(asio::io_context& context) : wake(context, Time::max()) {}
        asio::steady_timer wake;
        std::string request;
    };
    struct Proxy {
        tcp::endpoint endpoint;
        std::deque<std::uint32_t> queue;  // at most as long as the trace
        std::list<Lane> lanes;
        std::vector<Lane*> sleeping;
        std::vector<ProxyConnection*> idle;
        Time down_until{};
    };

    /// Releases every request at its due time.
    awaitable<void> pace() {
        while (released_ < total_ && !stopping_) {
            if (open_loop_) {
                const Time due = due_time(released_);
                if (due > Clock::now()) {
                    pace_.expires_at(due);
                    co_await pace_.async_wait(as_result);
                    continue;
                }
                due_[first_ + released_] = due;
            } else if (released_ - done_ >= kAhead * options_.concurrency) {
                pace_.expires_at(Time::max());
                co_await pace_.async_wait(as_result);
                continue;
            }
            const auto request = static_cast<std::uint32_t>(first_ + released_++);
            if (order_.release(request)) enqueue(request);
        }
        all_released_ = true;
        finish_if_done();
    }

    /// Due time of request number `request` of the part.
    Time due_time(std::size_t request) const {
        using Seconds = std::chrono::duration<double>;
        if (options_.rate > 0) {
            return start_ + std::chrono::duration_cast<Clock::duration>(
                                Seconds(static_cast<double>(request) / options_.rate));
        }
        const auto since =
            trace_.requests[first_ + request].time_ms - trace_.requests[first_].time_ms;
        return start_ + std::chrono::duration_cast<Clock::duration>(
                            Seconds(static_cast<double>(since) / 1000 / options_.speedup));
    }

    void enqueue(std::uint32_t request) {
        const std::size_t home = home_[trace_.requests[request].client];
        Proxy& proxy = proxies_[home];
        proxy.queue.push_back(request);
        if (!proxy.sleeping.empty()) {
            proxy.sleeping.back()->wake.cancel();
            proxy.sleeping.pop_back();
        } else if (proxy.lanes.size() < lanes_per_proxy_) {
            Lane& lane = proxy.lanes.emplace_back(context_);
            asio::co_spawn(context_, run_lane(home, lane), asio::detached);
        }
    }

    awaitable<void> run_lane(std::size_t home, Lane& lane) {
        Proxy& proxy = proxies_[home];
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
            if (!open_loop_ && !all_released_) pace_.cancel();
            finish_if_done();
        }
    }

    void finish_if_done() {
        if (!all_released_ || done_ < released_ || finished_) return;
        finished_ = true;
        for (auto& proxy : proxies_) {
            for (auto& lane : proxy.lanes) lane.wake.cancel();
        }
        watch_.cancel();
        ticker_.cancel();
        signals_.cancel();
    }

    awaitable<void> perform(std::uint32_t index, std::size_t home, Lane& lane) {
        const LoggedRequest& request = trace_.requests[index];
        const Url& url = trace_.urls[request.url];
        write_request(request, url, lane.request);
        Expected expected;
        expected.is_head = request.method == kHead;
        if (options_.verify != Verify::none) {
            expected.from_anywhere = options_.verify == Verify::built_in;
            key_.assign(proxy::Scheme::http, boost::beast::http::verb::get, url.text, {});
            expected.body = OriginBody::of(key_);
            const auto logged = trace_.object_bytes[url.object];
            expected.body_bytes = logged != 0 ? logged : kDefaultBytes;
        }
        const bool repeatable = request.method == kGet || request.method == kHead;
        const Time from = open_loop_ ? due_[index] : Clock::now();
        const std::size_t tries = options_.failover ? proxies_.size() : 1;
        std::optional<Attempt> last;
        for (std::size_t i = 0; i < tries; ++i) {
            const std::size_t at = (home + i) % proxies_.size();
            // The last proxy in turn is asked even if it has just refused.
            if (i + 1 < tries && Clock::now() < proxies_[at].down_until) continue;
            last = co_await ask(at, lane.request, expected, repeatable);
            if (!last->failure) {
                count_answer(*last, at, at != home, Clock::now() - from);
                if (!last->verified && last->status == 200 && request.method == kGet)
                    result_.body_bytes[url.object] = last->body_bytes;
                co_return;
            }
            const bool broken =
                *last->failure == RequestFailure::connect || *last->failure == RequestFailure::cut;
            if (!broken || (*last->failure == RequestFailure::cut && !repeatable)) break;
        }
        count_failure(*last, home, url);
    }

    /// Makes one attempt, on a kept connection if there is one. A proxy may close a kept connection
    /// at any time, so a connection that closes before the answer proves no failure: the request is
    /// sent once more on a new one. Requests that must not be repeated (RFC 9110 §9.2.2) get a new
    /// connection from the start.
    awaitable<Attempt> ask(std::size_t at, const std::string& request, const Expected& expected,
                           bool repeatable) {
        Proxy& proxy = proxies_[at];
        const Time deadline = Clock::now() + options_.timeout;
        Attempt attempt;
        for (;;) {
            ProxyConnection* connection = nullptr;
            const bool kept = repeatable && !proxy.idle.empty();
            if (kept) {
                connection = proxy.idle.back();
                proxy.idle.pop_back();
            } else {
                connection = &connections_.emplace_back(tcp::socket(context_));
                const Time connect_by = std::min(deadline, Clock::now() + kConnectDeadline);
                const bool connected = co_await connection->connect(proxy.endpoint, connect_by);
                if (!connected) {
                    drop(connection);
                    proxy.down_until = Clock::now() + kAvoidDown;
                    attempt.failure = RequestFailure::connect;
                    co_return attempt;
                }
            }
            attempt = co_await connection->exchange(request, expected, deadline);
            if (connection->reusable()) {
                proxy.idle.push_back(connection);
            } else {
                drop(connection);
            }
            const bool stale =
                kept && attempt.failure == RequestFailure::cut && !attempt.answer_began;
            if (!stale) co_return attempt;
        }
    }

    void write_request(const LoggedRequest& request, const Url& url, std::string& out) const {
        const SplitUrl parts = split_url(url.text);
        out.assign(trace_.methods[request.method]) += ' ';
        if (options_.form == RequestForm::absolute) {
            out += url.text;
        } else {
            if (parts.path.empty() || parts.path.front() != '/') out += '/';
            out += parts.path;
        }
        out.append(" HTTP/1.1\r\nHost: ").append(parts.authority).append("\r\n");
        const auto bytes = trace_.object_bytes[url.object];
        if (bytes != 0) append_field("Hearsay-Bytes", bytes, out);
        if (options_.max_age) append_field("Hearsay-Max-Age", *options_.max_age, out);
        if (options_.delay_ms != 0) append_field("Hearsay-Delay", options_.delay_ms, out);
        const bool may_have_body = request.method != kGet && request.method != kHead;
        if (may_have_body) append_field("Content-Length", 0, out);
        out += "\r\n";
    }

    static void append_field(std::string_view name, std::uint64_t value, std::string& out) {
        out.append(name).append(": ").append(std::to_string(value)).append("\r\n");
    }

    void drop(ProxyConnection* connection) {
        connections_.remove_if([&](const ProxyConnection& c) { return &c == connection; });
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

    awaitable<void> watch() {
        while (!finished_) {
            watch_.expires_after(kWatch);
            co_await watch_.async_wait(as_result);
            const Time now = Clock::now();
            for (auto& connection : connections_) connection.expire(now);
        }
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
        on_progress_({total_, done_, failed_, Clock::now() - start_});
    }

    const Trace& trace_;
    const ReplayOptions& options_;
    const std::function<void(const ReplayProgress&)>& on_progress_;
    const std::size_t first_, total_;
    asio::io_context context_{1};
    ClientOrder order_;
    std::vector<Time> due_;
    std::vector<std::size_t> home_;
    std::deque<Proxy> proxies_;
    std::list<ProxyConnection> connections_;
    asio::steady_timer ticker_, watch_, pace_;
    asio::signal_set signals_;
    proxy::CacheKey key_;
    ReplayResult result_;
    Time start_{};
    std::size_t lanes_per_proxy_ = 1;
    std::size_t released_ = 0, done_ = 0, dropped_ = 0;
    std::uint64_t failed_ = 0;
    bool open_loop_ = false, stopping_ = false, all_released_ = false, finished_ = false;
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
