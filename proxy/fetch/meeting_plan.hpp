#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "protocol/membership/peer_view.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/upstream/fetch_meetings.hpp"
#include "proxy/upstream/peer_record.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/round_trip.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

// One fetch for the whole cluster. A node that misses a key which no summary has asks the key's
// meeting point who fetches it. The first that asks is told that it is the one; the others get its
// name, and take the response from it while it comes. Functions of known facts: no I/O, no clock.

/// The values of kMeetField. Who fetches the content?
inline constexpr std::string_view kWhoFetches = "who";
/// Who fetches this block of the content, or those around it? See key_around().
inline constexpr std::string_view kWhoFetchesBlock = "who-block";
/// Before the name of a node: the same questions, after that node gave nothing.
inline constexpr std::string_view kWhoElse = "who-else ";
inline constexpr std::string_view kWhoElseBlock = "who-else-block ";
/// The sender was told that this node fetches the content, and waits for the head.
inline constexpr std::string_view kFollow = "follow";

/// A fetch that takes so long is worth a question of up to a fiftieth of it in every case.
inline constexpr std::chrono::seconds kLongFetch{1};
inline constexpr int kQuestionsPart = 50;

/// The value of a kMeetField.
struct MeetQuestion {
    enum class Kind : std::uint8_t { none, who, follow };
    Kind kind = Kind::none;
    std::string_view failed = {};  // the node of kWhoElse
    bool of_block = false;         // kWhoFetchesBlock, kWhoElseBlock
};
MeetQuestion parse_meet(std::string_view value);
/// The question who fetches. `failed`: a node that gave nothing; empty: none.
std::string question_of(bool of_block, std::string_view failed);

/// The node where those that miss `key` meet: the one with the greatest hash of key and name
/// (rendezvous hashing) among this node and the peers that are in step and may get a request. So
/// nodes that see the same peers agree without a message. `failed`: a node that gave nothing, which
/// is no meeting point either; empty: none.
struct MeetingPoint {
    std::optional<std::size_t> peer;  // its number; none: this node
};
MeetingPoint meeting_point(summary::KeyHash key, std::string_view self,
                           const protocol::PeerView::Peers& peers,
                           std::span<const PeerRecord> records, bool only_encrypted,
                           PeerRecord::Time now, std::string_view failed = {});

/// The blocks of a body that share a meeting point: so many from a multiple of it on. Whoever
/// fetches one of them mostly fetches those behind it, too.
inline constexpr std::uint64_t kBlocksPerMeeting = 16;
/// The key of that meeting, for the block at `first`. The other arguments are those of flow_key().
std::string key_around(std::uint64_t first, std::string_view uri, std::string_view etag,
                       std::string_view form, std::uint64_t block_bytes);

/// The settings let other nodes take what this request fetches.
bool may_fetch_once(const RequestSnapshot& request);

/// The facts for the choice to ask.
struct MeetFacts {
    FetchOnce setting = FetchOnce::automatic;
    RoundTrip to_meeting_point;  // not known(): never measured
    RoundTrip fetch;             // a whole fetch from the origin; not known(): none was measured
};
/// `meetings`: of the origin; counts this miss if the answer depends on a sample.
bool pays_to_meet(const MeetFacts& known, FetchMeetings& meetings);

/// How long to wait for the head from the node that fetches. `head`: the origin's time to the head,
/// as this node knows it.
std::chrono::nanoseconds follow_at_most(const RoundTrip& head,
                                        std::chrono::nanoseconds origin_head);

}  // namespace proxy
