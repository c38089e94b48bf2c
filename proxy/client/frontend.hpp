#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/cache/cache.hpp"
#include "proxy/config/config.hpp"
#include "proxy/net/high_water_mark.hpp"
#include "proxy/net/timer_wheel.hpp"
#include "proxy/storage/purge.hpp"
#include "proxy/telemetry/access_log.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/telemetry/episode.hpp"
#include "proxy/upstream/upstream.hpp"

namespace proxy {

/// How many descriptors this process may open (RLIMIT_NOFILE).
std::uint64_t descriptor_limit();

/// What the workers of a node have in common of their clients. Any thread.
struct SharedFrontend {
    /// Drops it here and at all peers. `done` is called on another thread, kPurgeDeadline later at
    /// most; never when the node ends before.
    using Purge = std::function<void(PurgeOrder, std::function<void(PurgeReport)> done)>;

    SharedFrontend(const Config& config, Purge to_node)
        : purge(std::move(to_node)), access_log(config.log) {}

    const Purge purge;
    AccessLog access_log;
    std::atomic<bool> draining{false};
    std::atomic<std::uint64_t> connections{0};
    HighWaterMark high_water_mark;
    /// What the limit of open files leaves to clients: half, so that each can be served from
    /// upstream.
    const std::uint64_t connections_possible = descriptor_limit() / 2;
    Episode crowded;  // new connections are refused
};

/// What one worker's clients are answered with, and who they are. One thread.
class Frontend {
public:
    /// A connected client whose connection ends early when the node leaves.
    class Session : public TimerWheel::Timer {
    public:
        virtual void retire() = 0;
        virtual void drain() = 0;

    private:
        friend class Frontend;
        std::size_t index_ = 0;
    };

    /// All must outlive this; `in_effect` is replaced by a reload.
    Frontend(SharedFrontend& all, Cache& behind, const std::shared_ptr<const Config>& in_effect);
    Frontend(const Frontend&) = delete;
    Frontend& operator=(const Frontend&) = delete;

    void add(Session& session);
    void remove(Session& session);

    /// From here on connections end after the answer to their next request.
    void retire();
    /// The same for those that come now.
    void begin_drain() { retiring_ = draining_ = true; }
    /// Connections end after their present request.
    void drain();

    /// What is in effect now. A reload replaces it: keep no reference to it over a wait, but a copy
    /// of `settings`.
    const Config& config() const { return *settings; }
    bool retiring() const { return retiring_; }  // connections end with their next answer
    bool draining() const { return draining_; }

    SharedFrontend& shared;
    Cache& cache;
    Upstream& upstream;
    const std::shared_ptr<const Config>& settings;
    TimerWheel& wheel;
    WorkerCounters& counters;
    const boost::asio::any_io_executor executor;

private:
    std::vector<Session*> sessions_;
    bool retiring_ = false;
    bool draining_ = false;
};

}  // namespace proxy
