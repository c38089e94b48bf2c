#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string_view>
#include <vector>

#include "protocol/membership/peer_view.hpp"
#include "protocol/net/resolver.hpp"
#include "protocol/net/task_group.hpp"
#include "proxy/config/config_in_effect.hpp"
#include "proxy/http/arrival.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/net/timer_wheel.hpp"
#include "proxy/storage/memory.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/telemetry/origin_answers.hpp"
#include "proxy/telemetry/rate_limited_log.hpp"
#include "proxy/upstream/false_hits.hpp"
#include "proxy/upstream/miss_samples.hpp"
#include "proxy/upstream/origin_backoff.hpp"
#include "proxy/upstream/origin_health.hpp"
#include "proxy/upstream/origin_times.hpp"
#include "proxy/upstream/part_responses.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/upstream_groups.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// One worker's way to origins and peers, with its measurements of them. One thread.
struct Upstream {
    /// All must outlive this. A reload replaces `in_effect`.
    Upstream(boost::asio::any_io_executor io, TimerWheel& timers, const ConfigInEffect& in_effect,
             MemoryBudget& windows, PartResponses& parts, UpstreamGroups& servers,
             WorkerCounters& counted);

    const Config& config() const { return *settings; }
    HeadLimits head_limits() const;

    /// Sets the peers of now; null: there is no cluster.
    void set_peers(std::shared_ptr<const protocol::PeerView> view);
    /// The record of this peer; null: it is no peer any more.
    PeerRecord* record_of(std::string_view node);
    /// The same; null, too, when another instance of the node is the peer by now.
    PeerRecord* record_of(std::string_view node, std::uint64_t instance);
    /// The same, or the shared record of all former peers.
    PeerRecord& record_or_gone(std::string_view node);

    /// An origin's response to a request for a part was not that part, for `wrong`. `status`: of
    /// the response, 0 without one. Logs it with the reason. A refusal of a request with
    /// credentials is not remembered, as it may concern its user alone.
    void note_part(const UpstreamTarget& origin, const RequestSnapshot& request, FetchError wrong,
                   unsigned status);
    /// True while requests for bodies there ask for the whole.
    bool in_one_piece(const UpstreamTarget& origin, std::string_view uri) const;

    /// `no`: the origin wants fewer requests, so a stored response is given in place of an answer.
    /// `trial`: likewise, but the request goes out, and nobody waits for its answer. Ask once for a
    /// request that may go out, as the one that ends a pause is counted.
    OriginHealth::Leave leave_after_pause(const RequestSnapshot& request);
    /// An origin's answer, as far as it is about pauses. `took`: since the request.
    struct Answered {
        const Head& head;
        Arrival arrival;
        std::chrono::steady_clock::duration took;
    };
    /// Notes whether the origin wants fewer requests, or lets them wait for errors. `is_hidden`: a
    /// stored response takes the place of its answer.
    void note_pause(const RequestSnapshot& request, const Answered& answer, bool is_hidden);

    /// Notes a false hit of `node`, whose cause shows later.
    void note_false_hit(const std::string& node, const summary::Key& key, PeerRecord::Time now);
    /// The peer got a request in spite of its summary's no. `sampled`: only to measure that.
    void note_denial(const std::string& node, bool had_it, bool sampled);
    /// Books the causes that have shown by now.
    void judge_false_hits(PeerRecord::Time now);

    const boost::asio::any_io_executor executor;
    TimerWheel& wheel;
    const ConfigInEffect& settings;
    WorkerCounters& counters;
    protocol::Resolver resolver;
    UpstreamPool pool;
    OriginHealth origin_health;
    OriginBackoff backoff;
    OriginTimes origin_times;
    OriginAnswers origin_answers;
    PartResponses& part_responses;                    // of all workers
    UpstreamGroups& groups;                           // of all workers
    RateLimitedLog log;                               // of failing origins and peers
    std::shared_ptr<const protocol::PeerView> peers;  // null: no cluster
    std::vector<PeerRecord> peer_records;             // index as in peers
    PeerRecord gone_peers;                            // with the counts of all former peers
    summary::PeerSet denying;                         // peers whose false_miss_rate() is above 0
    FalseHits false_hits;
    MissSamples miss_samples;
    protocol::TaskGroup fetches;  // and peer requests; they may outlive their client
    protocol::TaskGroup probes;   // without an owner

private:
    void find_denying();
};

}  // namespace proxy
