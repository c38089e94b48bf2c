#include "proxy/fetch/meeting_plan.hpp"

#include <xxhash.h>

#include <algorithm>

#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/storage/blocks.hpp"

namespace proxy {
namespace {

std::uint64_t weight_of(summary::KeyHash key, std::string_view node) {
    return XXH3_64bits_withSeed(node.data(), node.size(), key.low ^ key.high);
}

}  // namespace

MeetQuestion parse_meet(std::string_view value) {
    using Kind = MeetQuestion::Kind;
    if (value == kFollow) return {Kind::follow};
    if (value == kWhoFetches) return {Kind::who};
    if (value == kWhoFetchesBlock) return {Kind::who, {}, true};
    if (value.starts_with(kWhoElse)) return {Kind::who, value.substr(kWhoElse.size())};
    if (value.starts_with(kWhoElseBlock))
        return {Kind::who, value.substr(kWhoElseBlock.size()), true};
    return {};
}

std::string question_of(bool of_block, std::string_view failed) {
    if (failed.empty()) return std::string(of_block ? kWhoFetchesBlock : kWhoFetches);
    return std::string(of_block ? kWhoElseBlock : kWhoElse).append(failed);
}

MeetingPoint meeting_point(summary::KeyHash key, std::string_view self,
                           const protocol::PeerView::Peers& peers,
                           std::span<const PeerRecord> records, bool only_encrypted,
                           PeerRecord::Time now, std::string_view failed) {
    MeetingPoint best;
    auto greatest = weight_of(key, self);
    for (std::size_t i = 0; i < std::min(peers.size(), records.size()); ++i) {
        const auto& peer = peers[i];
        if (!peer.in_sync || !may_get_request(peer, only_encrypted) || !records[i].may_ask(now))
            continue;
        if (peer.node == failed) continue;
        const auto weight = weight_of(key, peer.node);
        if (weight <= greatest) continue;
        greatest = weight;
        best.peer = i;
    }
    return best;
}

std::string key_around(std::uint64_t first, std::string_view uri, std::string_view etag,
                       std::string_view form, std::uint64_t block_bytes) {
    const auto begin = first - first % (kBlocksPerMeeting * block_bytes);
    auto key = flow_key(uri, etag, form, block_bytes).append(" ");
    return key.append(std::to_string(begin));
}

bool may_fetch_once(const RequestSnapshot& request) {
    return request.config().constants.meets && request.policy().fetch_once() != FetchOnce::never;
}

bool pays_to_meet(const MeetFacts& known, FetchMeetings& meetings) {
    if (known.setting != FetchOnce::automatic) return known.setting == FetchOnce::always;
    if (!known.fetch.known() || !known.to_meeting_point.known()) return true;
    const std::chrono::duration<double> question = known.to_meeting_point.mean(),
                                        fetch = known.fetch.mean();
    if (fetch >= kLongFetch && question * kQuestionsPart <= fetch) return true;
    if (meetings.share() * fetch > question) return true;
    return question <= fetch && meetings.is_sample();
}

std::chrono::nanoseconds follow_at_most(const RoundTrip& head,
                                        std::chrono::nanoseconds origin_head) {
    constexpr std::chrono::nanoseconds kLeast = std::chrono::seconds(1);
    if (!head.known()) return origin_head;
    return std::clamp(2 * head.mean() + 4 * head.deviation(), std::min(kLeast, origin_head),
                      origin_head);
}

}  // namespace proxy
