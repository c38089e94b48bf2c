#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string_view>

#include "base/async/task_group.hpp"
#include "base/async/timer_wheel.hpp"
#include "base/memory/memory.hpp"
#include "protocol/membership/peer_view.hpp"
#include "proxy/config/config_in_effect.hpp"
#include "proxy/http/arrival.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/telemetry/leaving_redirects.hpp"
#include "proxy/telemetry/origin_answers.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"
#include "proxy/upstream/origin_backoff.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/origin_times.hpp"
#include "proxy/upstream/part_responses.hpp"
#include "proxy/upstream/peer_records.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/upstream_groups.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// The knowledge of origins that all workers of a node share. Any thread.
struct SharedUpstream {
    PartResponses part_responses;
    UpstreamGroups groups;
};

/// One worker's way to origins and peers, with its measurements of them. One thread.
struct Upstream {
    /// All must outlive this. A reload replaces `in_effect`.
    Upstream(boost::asio::any_io_executor io, base::TimerWheel& timers,
             const ConfigInEffect& in_effect, base::MemoryBudget& windows,
             SharedUpstream& of_workers, WorkerCounters& counted);

    const LoadedConfig& config() const { return *settings; }
    HeadLimits head_limits() const;

    /// Sets the peers of now; null: there is no cluster.
    void set_peers(PeerRecords::View view);
    /// An origin's `response` to a request for a part was not that part, for `wrong`. Logs it with
    /// the reason. A refusal of a request with
    /// credentials is not remembered, as it may concern its user alone.
    void note_part(const UpstreamTarget& origin, const RequestSnapshot& request, FetchError wrong,
                   const Head& response);
    /// True while requests for bodies there ask for the whole.
    bool in_one_piece(const UpstreamTarget& origin, std::string_view uri) const;

    /// `no`: the origin wants fewer requests, so a stored response is given in place of an answer.
    /// `trial`: likewise, but the request goes out, and nobody waits for its answer. Ask once for a
    /// request that may go out, as the one that ends a pause is counted.
    OriginHealth::Grant leave_after_pause(const RequestSnapshot& request);
    /// An origin's answer, as far as it is about pauses. `took`: since the request.
    struct PauseSignal {
        const Head& head;
        Arrival arrival;
        std::chrono::steady_clock::duration took;
    };
    /// Notes whether the origin wants fewer requests, or lets them wait for errors. `is_hidden`: a
    /// stored response takes the place of its answer.
    void note_pause(const RequestSnapshot& request, const PauseSignal& answer, bool is_hidden);

    const boost::asio::any_io_executor executor;
    base::TimerWheel& wheel;
    const ConfigInEffect& settings;
    WorkerCounters& counters;
    UpstreamPool pool;
    OriginHealth origin_health;
    OriginBackoff backoff;
    OriginTimes origin_times;
    OriginAnswers origin_answers;
    LeavingRedirects leaving_redirects;
    SharedUpstream& shared;
    RateLimitedLog log;  // of failing origins and peers
    PeerRecords peers;
    base::TaskGroup fetches;  // and peer requests; they may outlive their client
    base::TaskGroup probes;   // without an owner
};

}  // namespace proxy
