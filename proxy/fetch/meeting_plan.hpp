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
#include "proxy/upstream/round_trip.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

// One fetch for the whole cluster. A node that misses a key which no summary has asks the key's
// meeting point who fetches it. The first that asks is told that it is the one; the others get its
// name, and take the response from it while it comes. Functions of known facts: no I/O, no clock.

/// The values of kMeetField. Who fetches the content?
inline constexpr std::string_view kWhoFetches = "who";
/// Before a space and the name of a node: the same, after that node gave nothing.
inline constexpr std::string_view kWhoElse = "who-else ";
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
};
MeetQuestion parse_meet(std::string_view value);

/// The node where those that miss `key` meet: the one with the greatest hash of key and name
/// (rendezvous hashing) among this node and the peers that are in step and may get a request. So
/// nodes that see the same peers agree without a message.
struct MeetingPoint {
    std::optional<std::size_t> peer;  // its number; none: this node
};
MeetingPoint meeting_point(summary::KeyHash key, std::string_view self,
                           const protocol::PeerView::Peers& peers,
                           std::span<const PeerRecord> records, bool only_encrypted,
                           PeerRecord::Time now);

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
