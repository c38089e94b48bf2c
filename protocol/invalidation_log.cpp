#include "protocol/invalidation_log.hpp"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

#include "protocol/codec.hpp"

namespace protocol {

void InvalidationLog::take_over(const InvalidationLog& earlier,
                                std::span<const std::optional<std::size_t>> was) {
    last_ = earlier.last_;
    gone_ = earlier.gone_;
    log_ = earlier.log_;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (was[i])
            peers_[i] = earlier.peers_[*was[i]];
        else
            peers_[i].confirmed = peers_[i].sent = peers_[i].told = begin();
    }
    forget_confirmed();
}

void InvalidationLog::came_back(std::size_t peer, std::uint64_t confirmed) {
    auto& to = peers_[peer];
    to.confirmed = to.sent = to.told = std::min(confirmed, to.confirmed);
}

std::uint64_t InvalidationLog::add(std::span<const summary::KeyHash> keys,
                                   std::span<const summary::KeyHash> tags) {
    put(keys, false);
    put(tags, true);
    forget_confirmed();
    return last();
}

void InvalidationLog::put(std::span<const summary::KeyHash> hashes, bool are_tags) {
    for (const auto& hash : hashes) {
        log_.push_back({++last_, hash, are_tags});
        if (log_.size() >= tidy_at_ || log_.size() > limit_) make_room();
    }
}

void InvalidationLog::pop() {
    gone_ = log_.front().number;
    log_.pop_front();
}

/// Looks at all entries, so each time there must have come as many as there are, or an eighth of
/// what may be.
void InvalidationLog::make_room() {
    tidy();
    if (log_.size() > limit_)
        while (log_.size() > limit_ - limit_ / 8) pop();
    tidy_at_ = std::max(kTidyFrom, 2 * log_.size());
}

/// Takes out what each peer either has confirmed or will be sent for an earlier entry of the same
/// hash: it is sent after all of them were made. So a number that is confirmed stands for all up to
/// it. The last entry of a hash stays.
void InvalidationLog::tidy() {
    using Seen = boost::unordered_flat_map<summary::KeyHash, std::uint64_t, summary::HashOfKeyHash>;
    std::array<Seen, 2> last, kept;  // of keys, of tags: numbers
    for (const auto& entry : log_) last[entry.is_tag][entry.hash] = entry.number;
    std::erase_if(log_, [&](const Entry& entry) {
        auto& before = kept[entry.is_tag][entry.hash];
        const auto is_last = last[entry.is_tag][entry.hash] == entry.number;
        const auto needs = [&](const Peer& peer) {
            return peer.confirmed < entry.number && peer.sent >= before;
        };
        if (!is_last && std::none_of(peers_.begin(), peers_.end(), needs)) return true;
        before = entry.number;
        return false;
    });
}

/// The first with a greater number.
std::deque<InvalidationLog::Entry>::iterator InvalidationLog::after(std::uint64_t number) {
    return std::upper_bound(
        log_.begin(), log_.end(), number,
        [](std::uint64_t value, const Entry& entry) { return value < entry.number; });
}

void InvalidationLog::connected(std::size_t peer, bool new_run) {
    auto& to = peers_[peer];
    if (new_run) to.confirmed = to.told = std::min(to.confirmed, begin());
    to.sent = to.confirmed;
}

std::optional<Message> InvalidationLog::next(std::size_t peer) {
    auto& to = peers_[peer];
    if (to.sent == last()) return std::nullopt;
    if (to.sent < gone_) {
        to.sent = to.told = last();
        ++to.count;
        return InvalidateAll{to.sent};
    }
    Invalidate order;
    const auto begin = after(to.sent);
    const auto end = begin + std::min<std::ptrdiff_t>(log_.end() - begin, kMaxInvalidatedAtOnce);
    for (auto entry = begin; entry != end; ++entry) {
        (entry->is_tag ? order.tags : order.keys).push_back(entry->hash);
        to.sent = entry->number;
    }
    to.told = std::max(to.told, to.sent);
    to.count += static_cast<std::uint64_t>(end - begin);
    order.last = to.sent;
    return order;
}

bool InvalidationLog::confirm(std::size_t peer, std::uint64_t last) {
    auto& by = peers_[peer];
    if (last > by.told) return false;
    by.confirmed = std::max(by.confirmed, last);
    by.sent = std::max(by.sent, by.confirmed);
    forget_confirmed();
    return true;
}

void InvalidationLog::forget_confirmed() {
    auto by_all = last();
    for (const auto& peer : peers_) by_all = std::min(by_all, peer.confirmed);
    while (!log_.empty() && log_.front().number <= by_all) pop();
}

}  // namespace protocol
