#include "proxy/fetch/body_writer.hpp"

#include <algorithm>
#include <utility>

#include "proxy/fetch/origin_plan.hpp"

namespace proxy {
namespace {

/// How long requests of a class fetch each for itself after such a response. The origin would say
/// the same the next time, unless it is in trouble, or this node was.
std::chrono::seconds hit_for_miss(StorageVerdict verdict, unsigned status) {
    const auto passes = verdict == StorageVerdict::no_room ||
                        verdict == StorageVerdict::invalidated ||
                        verdict == StorageVerdict::redirect_failed || may_pass(status);
    return passes ? PendingResponses::kHitForMissInTrouble : PendingResponses::kHitForMiss;
}

}  // namespace

void BodyWriter::begin(Fill::Incoming incoming, Sharing sharing, Clock::time_point now) {
    verdict_ = incoming.verdict;
    status_ = incoming.response->status;
    incoming.shared = sharing == Sharing::stored;
    incoming.awaited = sharing == Sharing::awaited;
    if (incoming.shared) response_ = incoming.response;
    if (incoming.shared || incoming.awaited) lease_.note_shareable(*incoming.response);
    // First: a released follower looks into the store again.
    if (sharing == Sharing::passed_on) not_worth_waiting_for(now);
    if (incoming.awaited) lease_.abandon({}, now);
    fill_.begin(std::move(incoming));
    if (sharing == Sharing::not_copied_once) lease_.abandon({}, now);
}

BodyWriter::Room BodyWriter::make_room(std::uint64_t exact, Clock::time_point now) {
    if (storing()) {
        if (grow_in_store(exact, now)) return Room::made;
        not_worth_waiting_for(now);
    }
    return grow_in_window(exact, now);
}

/// False: from now on it is not being stored.
bool BodyWriter::grow_in_store(std::uint64_t exact, Clock::time_point now) {
    if (fill_.received() >= object_max_) {
        stop_storing(StorageVerdict::too_large);
        return false;
    }
    auto bytes = fill_.next_block_bytes();
    if (exact > 0)
        bytes = std::min<std::size_t>(bytes, std::min<std::uint64_t>(exact, kBodyBlockBytes));
    auto charge = store_.reserve(bytes, now);
    if (!charge) {
        stop_storing(StorageVerdict::no_room);
        return false;
    }
    fill_.add_block(bytes, std::move(*charge));
    return true;
}

/// After its readers made way: when the window has room, or all has been taken. That may take its
/// time: a client that takes too little is cut by its own connection, sooner if others wait
/// (SharedPace), and then reads no more.
BodyWriter::Room BodyWriter::grow_in_window(std::uint64_t exact, Clock::time_point now) {
    if (!fill_.wanted()) return Room::unwanted;
    const auto ahead = fill_.ahead();
    const auto share = base::window_share(windows_, fill_.window_bytes());
    if (ahead > 0 && ahead >= share) {
        fill_.stand_still(now);
        return Room::after_readers;
    }
    fill_.move_on(now);
    auto bytes = std::min<std::size_t>(fill_.next_block_bytes(),
                                       std::max<std::size_t>(share / 4, kFirstBlockBytes));
    if (exact > 0) bytes = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, exact));
    // The budget may be exhausted. The body moves on in small steps then, one at a time.
    base::Charge charge;
    if (windows_.take(bytes))
        charge = base::Charge(windows_, bytes);
    else
        bytes = std::min(bytes, kFirstBlockBytes);
    fill_.add_block(bytes, std::move(charge));
    return Room::made;
}

void BodyWriter::append_if_storing(std::string_view data, Clock::time_point now) {
    while (storing() && !data.empty()) {
        if (room() == 0 && !grow_in_store(0, now)) return;
        const auto n = std::min(data.size(), room());
        append(data.substr(0, n));
        data.remove_prefix(n);
    }
}

StorageVerdict BodyWriter::finish(Clock::time_point now) {
    auto stored = false;
    if (storing()) {
        stored = lease_.publish(std::exchange(response_, nullptr), now);
        if (!stored) verdict_ = StorageVerdict::invalidated;
    } else {
        lease_.abandon({}, now);
    }
    // Last: a reader of the end may say that the response is stored.
    fill_.complete(stored);
    return verdict_;
}

void BodyWriter::fail(const FetchFailure& failure, Clock::time_point now) {
    // In this order: nobody new joins a fill that has failed.
    lease_.abandon(
        failure.unshareable ? PendingResponses::kHitForMissInTrouble : std::chrono::seconds(0),
        now);
    fill_.fail(failure.error, failure.upstream_status, failure.malformed);
}

void BodyWriter::stop_storing(StorageVerdict why) {
    response_.reset();
    verdict_ = why;
    fill_.stop_sharing();
}

/// Hit-for-miss: later requests of this class fetch for themselves, and so do the released
/// followers.
void BodyWriter::not_worth_waiting_for(Clock::time_point now) {
    lease_.abandon(hit_for_miss(verdict_, status_), now);
}

}  // namespace proxy
