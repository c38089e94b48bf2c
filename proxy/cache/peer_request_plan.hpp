#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/membership/peer_view.hpp"
#include "proxy/cache/remote_hits.hpp"
#include "proxy/config/config.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/upstream/ask_budget.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "proxy/upstream/round_trip.hpp"
#include "summary/peer_set.hpp"

namespace proxy {

// Which peers are asked, in which order, when again, when the origin beside them, which copies will
// do, and whether they are stored. Functions of what is known: no I/O, no clock.

/// An age is the sum of two times that are each less than a second too short.
inline constexpr std::chrono::seconds kAgeGranularity{2};

/// How long ago what is wanted, or one of its tags, was last invalidated; empty: not as far as
/// anybody remembers.
using SinceInvalidation = std::optional<std::chrono::nanoseconds>;

/// So lately that no copy can be shown to be younger: nobody is asked.
inline bool is_just_invalidated(const SinceInvalidation& invalidated) {
    return invalidated && *invalidated < kAgeGranularity;
}

struct PeerTurn {
    std::size_t peer = 0;   // its number
    bool promised = false;  // its summary has the very key

    bool operator==(const PeerTurn&) const = default;
};
/// Whom to ask, best first.
struct PeerTurns {
    std::array<PeerTurn, kMaxPeersAsked> turns{};
    std::size_t count = 0;
    bool beside_the_origin = false;  // it is far, and only to be known how far
    bool too_far = false;            // some have it, and all of them are too far

    void add(PeerTurn turn) { turns[count++] = turn; }
};

/// What bears on whom to ask.
struct PeerFacts {
    const protocol::PeerView::Peers& peers;  // by number
    std::span<const PeerRecord> records;     // as many
    const ClusterConfig& bounds;
    RoundTrip origin;  // how long that takes
    PeerRecord::Time now;
    /// Their summaries say no, and are known to be wrong at times.
    summary::PeerSet denying = {};
};
/// Is a peer asked in spite of its summary's no? It is if that makes the expected time shorter:
/// rate * (origin - peer) > (1 - rate) * peer, with the peer's cost for its time.
bool pays_in_spite_of_no(const PeerRecord& record, const RoundTrip& origin);
/// `promised`: their summaries have the key. `perhaps`: others that may hold it as a part of
/// something larger, of which one is asked at most. If there is nobody to ask, the nearest of
/// `known.denying` for whom that pays. While an invalidation is so young that no copy
/// can be shown to be younger, nobody is.
PeerTurns whom_to_ask(const summary::PeerSet& promised, const summary::PeerSet& perhaps,
                      const SinceInvalidation& invalidated, const PeerFacts& known);

/// How old a copy may say it is. The peer obeys if it is so configured, and saves a body.
std::optional<std::chrono::seconds> wanted_max_age(const SinceInvalidation& invalidated);

/// A copy that has just arrived may be reused without validation, and was made after the last
/// invalidation.
bool is_current_copy(const RequestDirectives& directives, const StoredMetadata& copy,
                     const SinceInvalidation& invalidated);
/// The same for an answer of this status and verdict.
bool is_acceptable_copy(const RequestDirectives& directives, const StoredMetadata& copy,
                        StorageVerdict verdict, const SinceInvalidation& invalidated);

/// What becomes of a copy that may be stored.
enum class CopyUse : std::uint8_t {
    stored,
    passed_on,       // not stored, nor is the next one
    passed_on_once,  // whoever comes meanwhile may bring the one that is stored
};
/// A peer's answer to a local miss.
struct RemoteHit {
    summary::KeyHash key;
    bool renews = false;   // something older is stored here: nodes that hold the key stay the same
    bool awaited = false;  // other requests wait for the same answer, and use it too
    bool room = false;     // nothing has to go for it
};
/// By `cluster.copy`. `second_use` and `while_room` look at `lately`, and note it there, the others
/// do not.
CopyUse use_of_copy(CopyPolicy policy, const RemoteHit& hit, RemoteHits& lately);

/// A copy that a peer holds and may not give as it is, as it has to be validated.
struct StaleCopy {
    std::string peer, etag, last_modified;
    Validators validators() const { return {etag, last_modified, {}}; }
};
/// What the head of its refusal says of it; none when there is nothing to validate it by.
std::optional<StaleCopy> stale_copy_at(std::string_view peer, const Head& refusal);
/// Is this that copy? `head_alone`: it stands for a body in blocks.
bool is_that_copy(const StaleCopy& copy, const Head& head, bool head_alone);

/// The questions of one fetch to peers, in the order of time. One value for each fetch.
class PeerRace {
public:
    using Time = AskState::Time;
    using Duration = RoundTrip::Duration;

    /// `nearest`: of the first that is asked. `asks_origin`: it can be asked beside them.
    PeerRace(const PeerTurns& whom, const RoundTrip& nearest, const RoundTrip& origin,
             const ClusterConfig& bounds, bool asks_origin, Time now);

    /// What is under way.
    struct UnderWay {
        unsigned peers = 0;         // without an end yet
        bool origin = false;        // it is asked, or was
        bool origin_ended = false;  // without an answer
    };
    NextStep next(const UnderWay& now_open, Time now) const;

    /// Whom to ask, after AskStep::ask_peer.
    struct Request {
        PeerTurn turn;
        bool again = false;  // beside others
        Duration budget{};   // an answer that takes longer is late
    };
    Request ask(unsigned peers_open);
    /// That one was asked at `now`; `known`: how long it usually takes.
    void asked(const RoundTrip& known, Time now);
    /// The origin cannot be asked now.
    void origin_cannot_be_asked() { origin_at_ = Time::max(); }

    /// An answer is listened to for so long from its question on.
    Duration latest() const { return budget_ + kLatestHead; }

private:
    const PeerTurns whom_;
    const Duration budget_;
    Time origin_at_;
    Time next_at_{};
    std::size_t next_ = 0, sent_ = 0;
};

}  // namespace proxy
