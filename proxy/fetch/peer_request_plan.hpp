#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/membership/peer_view.hpp"
#include "proxy/config/config.hpp"
#include "proxy/fetch/remote_hits.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/upstream/ask_budget.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "proxy/upstream/round_trip.hpp"
#include "summary/directory/peer_set.hpp"

namespace proxy {

// The plan of peer requests: the peers and their order, repeats, the origin beside them, acceptable
// copies, and their storage. Functions of known facts: no I/O, no clock.

/// An age is the sum of two times, each up to a second too short.
inline constexpr std::chrono::seconds kAgeGranularity{2};

/// The time since the last invalidation of the content, or of one of its tags; empty: none is
/// remembered.
using SinceInvalidation = std::optional<std::chrono::nanoseconds>;

/// An invalidation so young that no copy can prove to be younger. No peer gets a request then.
inline bool is_just_invalidated(const SinceInvalidation& invalidated) {
    return invalidated && *invalidated < kAgeGranularity;
}

/// One peer that gets a request.
struct PeerTurn {
    std::size_t peer = 0;   // its number
    bool promised = false;  // its summary has the very key

    bool operator==(const PeerTurn&) const = default;
};
/// The peers that get a request, best first.
struct PeerTurns {
    std::array<PeerTurn, kMaxPeersAsked> turns{};
    std::size_t count = 0;
    bool beside_the_origin = false;  // the peer is far, and its distance is to be measured
    bool too_far = false;            // peers have it, and all of them are too far

    void add(PeerTurn turn) { turns[count++] = turn; }
};

/// The content of this key goes between nodes by encrypted connections only.
bool stays_encrypted(const ClusterConfig& cluster, const CacheKey& key);
/// The peer can get a request for a key of that kind.
inline bool may_get_request(const protocol::PeerView::Peer& peer, bool only_encrypted) {
    return peer.can_be_asked() && (peer.encrypted || !only_encrypted);
}

/// The facts for the choice of peers.
struct PeerFacts {
    const protocol::PeerView::Peers& peers;  // by number
    std::span<const PeerRecord> records;     // as many
    const PeerTimes& bounds;
    RoundTrip origin;  // the origin's usual time
    PeerRecord::Time now;
    /// Peers whose summaries say no, and are known to be wrong at times.
    summary::PeerSet denying = {};
    bool only_encrypted = false;   // stays_encrypted()
    std::uint64_t body_bytes = 0;  // of a wanted block
};
/// True if a request in spite of the summary's no shortens the expected time: rate * (origin -
/// peer) > (1 - rate) * peer, with the peer's cost for its time.
bool pays_in_spite_of_no(const PeerRecord& record, const RoundTrip& origin);
/// `promised`: peers whose summaries have the key. `perhaps`: others that may have it as a part of
/// something larger; one of them gets a request at most. Without both, the nearest of
/// `known.denying` for which it pays. No peer while an invalidation is so young that no copy can
/// prove to be younger.
PeerTurns whom_to_ask(const summary::PeerSet& promised, const summary::PeerSet& perhaps,
                      const SinceInvalidation& invalidated, const PeerFacts& known);

/// The greatest age that a copy may state. A peer that obeys it saves a body.
std::optional<std::chrono::seconds> wanted_max_age(const SinceInvalidation& invalidated);

/// The copy has just arrived, may be reused without validation, and was made after the last
/// invalidation.
bool is_current_copy(const RequestDirectives& directives, const StoredMetadata& copy,
                     const SinceInvalidation& invalidated);
/// `hit` for a current copy. `too_old` for one that had a lifetime which is over here, or that was
/// made before the last invalidation. `unusable` for one that no peer with these settings gives.
PeerVerdict judge_copy(const RequestDirectives& directives, const StoredMetadata& copy,
                       const SinceInvalidation& invalidated);
/// False for a response that no node stores, so that none has it to give.
bool can_be_copy(const StoredMetadata& copy, StorageVerdict verdict);
/// The same for a response with this verdict.
PeerVerdict judge_copy(const RequestDirectives& directives, const StoredMetadata& copy,
                       StorageVerdict verdict, const SinceInvalidation& invalidated);

/// The use of a copy that may be stored.
enum class CopyUse : std::uint8_t {
    stored,
    passed_on,       // not stored, and neither is the next one
    passed_on_once,  // a later request may bring the copy that is stored
};
/// A peer's response to a local miss.
struct RemoteHit {
    summary::KeyHash key;
    bool renews =
        false;  // it replaces a stored response, so the nodes that have the key stay the same
    bool awaited = false;  // other requests wait for the same response
    bool room = false;     // the store has room for it
};
/// Decides by `cluster.copy`. `second_use` and `while_room` look the key up in `lately` and note it
/// there.
CopyUse use_of_copy(CopyPolicy policy, const RemoteHit& hit, RemoteHits& lately);

/// A peer's copy that needs a validation before its use.
struct StaleCopy {
    std::string peer, etag, last_modified;
    std::string source = {};  // source_of() of redirects.hpp
    Validators validators() const { return {etag, last_modified, {}}; }
};
/// The copy, from the head of the peer's refusal; none without a validator.
std::optional<StaleCopy> stale_copy_at(std::string_view peer, const Head& refusal);
/// True for a response that is that copy. `head_alone`: it stands for a body in blocks.
bool is_that_copy(const StaleCopy& copy, const Head& head, bool head_alone);

/// The peer requests of one fetch in the order of time. One value for each fetch.
class PeerRequestPlan {
public:
    using Time = AskState::Time;
    using Duration = RoundTrip::Duration;

    /// `nearest`: of the first peer. `asks_origin`: the origin can get the request beside them.
    PeerRequestPlan(const PeerTurns& whom, const RoundTrip& nearest, const RoundTrip& origin,
                    const PeerTimes& bounds, bool asks_origin, Time now);

    /// A node of the cluster fetches the body, so the origin is asked after the longest budget
    /// only.
    void spare_origin(const PeerTimes& bounds, Time now);

    /// The requests under way.
    struct InFlightRequests {
        unsigned peers = 0;         // without an end yet
        bool origin = false;        // it has got the request
        bool origin_ended = false;  // without a response
    };
    NextStep next(const InFlightRequests& now_open, Time now) const;

    /// The next peer request, after AskStep::ask_peer.
    struct Request {
        PeerTurn turn;
        bool again = false;  // beside others
        Duration budget{};   // a later response is late
    };
    Request ask(unsigned peers_open);
    /// A request went out at `now`; `known`: the peer's usual time.
    void asked(const RoundTrip& known, Time now);
    /// The request of this turn has ended without counting: its peer is the next one again.
    void ask_again(const PeerTurn& turn) {
        whom_.turns[--next_] = turn;
        --sent_;
    }
    /// The origin cannot get the request now.
    void origin_cannot_be_asked() { origin_at_ = Time::max(); }

    /// The time from a request until its response is given up.
    Duration latest() const { return budget_ + kLatestHead; }

private:
    PeerTurns whom_;
    const Duration budget_;
    Time origin_at_;
    Time next_at_{};
    std::size_t next_ = 0, sent_ = 0;
};

}  // namespace proxy
