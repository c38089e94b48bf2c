#include "protocol/publishing/invalidation_log.hpp"

#include <algorithm>
#include <utility>

#include "protocol/wire/codec.hpp"

namespace protocol {

void InvalidationLog::take_over(InvalidationLog& earlier) {
    peers_ = earlier.peers_;
    last_ = earlier.last_;
    gone_ = std::exchange(earlier.gone_, earlier.last_);
    looked_at_ = earlier.looked_at_;
    std::swap(log_, earlier.log_);
    std::swap(dead_, earlier.dead_);
    std::swap(seen_, earlier.seen_);
}

InvalidationBacklog InvalidationLog::kept() const {
    InvalidationBacklog all;
    all.gone = gone_;
    all.last = last_;
    all.entries.reserve(size());
    for (const auto& entry : log_)
        if (!entry.is_dead) all.entries.push_back(entry);
    return all;
}

void InvalidationLog::go_on_from(const InvalidationBacklog& earlier) {
    gone_ = earlier.gone;
    last_ = earlier.last;
    for (const auto& entry : earlier.entries) put({entry});
}

void InvalidationLog::forget_all_confirmed() {
    std::size_t before = 0;
    do {
        before = size();
        forget_confirmed();
    } while (size() < before);
}

void InvalidationLog::add_peer(std::size_t peer) {
    if (peers_.size() <= peer) peers_.resize(peer + 1, Peer{.is_there = false});
    peers_[peer] = Peer();
}

void InvalidationLog::remove_peer(std::size_t peer) {
    peers_[peer] = Peer{.is_there = false};
    forget_confirmed();
}

void InvalidationLog::came_back(std::size_t peer, const InvalidationBacklog::PeerProgress& then) {
    auto& to = peers_[peer];
    to.confirmed = to.sent = to.highest_sent = std::min(then.number, last());
    to.instance = then.instance;
}

std::uint64_t InvalidationLog::add(const Invalidation& what) {
    put(what.keys, false, what.soft);
    put(what.tags, true, what.soft);
    forget_confirmed();
    return last();
}

void InvalidationLog::put(std::span<const summary::KeyHash> hashes, bool are_tags, bool are_soft) {
    for (const auto& hash : hashes) put({{++last_, hash, are_tags}, are_soft});
    tidy(std::min(kLooksPerEntry * hashes.size(), log_.size()));
}

void InvalidationLog::put(const Entry& entry) {
    log_.push_back(entry);
    shard_of(log_.back())[entry.hash].last = entry.number;
    if (size() > limit_)
        while (size() > limit_ - limit_ / 8) pop();
}

InvalidationLog::Shard& InvalidationLog::shard_of(const Entry& entry) {
    const auto shard = entry.hash.high >> (64 - kShardsLog2);
    const auto kind = std::size_t{entry.is_tag} + 2 * std::size_t{entry.is_soft};
    return seen_[(kind << kShardsLog2) + shard];
}

void InvalidationLog::pop() {
    const auto& first = log_.front();
    gone_ = first.number;
    auto& shard = shard_of(first);
    if (const auto seen = shard.find(first.hash); seen->second.last == gone_) {
        shard.erase(seen);
        if (shard.empty()) shard = Shard();  // gives its memory back
    }
    log_.pop_front();
    pop_dead();
}

void InvalidationLog::pop_dead() {
    for (; !log_.empty() && log_.front().is_dead; --dead_) log_.pop_front();
}

/// Continues the round through all entries, from the oldest to the newest and over again.
void InvalidationLog::tidy(std::size_t looks) {
    for (auto entry = after(looked_at_); looks > 0; --looks, ++entry) {
        if (entry == log_.end()) entry = log_.begin();
        looked_at_ = entry->number;
        if (entry->is_dead || needed(*entry, shard_of(*entry).find(entry->hash)->second)) continue;
        entry->is_dead = true;
        ++dead_;
    }
    pop_dead();
    if (dead_ <= size() + kMaxDead) return;
    std::erase_if(log_, [](const Entry& entry) { return entry.is_dead; });
    dead_ = 0;
}

/// An entry is superfluous when each peer has confirmed it, or has yet to get an earlier entry of
/// the same hash. Such a peer gets that entry after this one was made, so a confirmed number stands
/// for all up to it. An entry that was sent once may be confirmed without being repeated. The last
/// entry of a hash stays.
bool InvalidationLog::needed(const Entry& entry, HashEntries& seen) const {
    // An entry from the round before is not an earlier one.
    const auto before = seen.before < entry.number ? seen.before : 0;
    const auto needs = [&](const Peer& peer) {
        return peer.is_there && peer.confirmed < entry.number && peer.highest_sent >= before;
    };
    const auto stays =
        seen.last == entry.number || std::any_of(peers_.begin(), peers_.end(), needs);
    seen.before = stays ? entry.number : before;
    return stays;
}

/// The first entry with a greater number.
InvalidationLog::Position InvalidationLog::after(std::uint64_t number) {
    return std::upper_bound(
        log_.begin(), log_.end(), number,
        [](std::uint64_t value, const Entry& entry) { return value < entry.number; });
}

void InvalidationLog::connected(std::size_t peer, const Instance& instance) {
    auto& to = peers_[peer];
    if (std::exchange(to.instance, instance) != instance)
        to.confirmed = to.highest_sent = std::min(to.confirmed, begin());
    to.sent = to.confirmed;
}

std::optional<Message> InvalidationLog::next(std::size_t peer, bool softly) {
    if (!has_next(peer)) return std::nullopt;
    auto& to = peers_[peer];
    if (to.sent < gone_) {
        to.sent = to.highest_sent = last();
        ++to.count;
        return InvalidateAll{to.sent};
    }
    Invalidate order;
    std::size_t count = 0;
    for (auto entry = after(to.sent); entry != log_.end() && count < kMaxInvalidatedAtOnce;
         ++entry) {
        if (entry->is_dead) continue;
        const auto is_soft = entry->is_soft && softly;
        if (count > 0 && is_soft != order.soft) break;
        order.soft = is_soft;
        (entry->is_tag ? order.tags : order.keys).push_back(entry->hash);
        to.sent = entry->number;
        ++count;
    }
    to.highest_sent = std::max(to.highest_sent, to.sent);
    to.count += count;
    order.last = to.sent;
    return order;
}

bool InvalidationLog::confirm(std::size_t peer, std::uint64_t last) {
    auto& by = peers_[peer];
    if (last > by.highest_sent) return false;
    by.confirmed = std::max(by.confirmed, last);
    by.sent = std::max(by.sent, by.confirmed);
    forget_confirmed();
    return true;
}

void InvalidationLog::forget_confirmed() {
    auto by_all = last();
    for (const auto& peer : peers_)
        if (peer.is_there) by_all = std::min(by_all, peer.confirmed);
    for (auto left = kMaxForgottenAtOnce; left > 0 && size() > for_newcomers_; --left) {
        if (log_.front().number > by_all) break;
        pop();
    }
}

}  // namespace protocol
