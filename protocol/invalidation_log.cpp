#include "protocol/invalidation_log.hpp"

#include <algorithm>
#include <utility>

#include "protocol/codec.hpp"

namespace protocol {

void InvalidationLog::take_over(const InvalidationLog& earlier,
                                std::span<const std::optional<std::size_t>> was) {
    first_ = earlier.first_;
    log_ = earlier.log_;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
        if (was[i])
            peers_[i] = earlier.peers_[*was[i]];
        else
            peers_[i].confirmed = peers_[i].sent = peers_[i].told = first_ - 1;
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
        log_.push_back({hash, are_tags});
        if (log_.size() <= limit_) continue;
        log_.pop_front();
        ++first_;
    }
}

void InvalidationLog::connected(std::size_t peer, bool new_run) {
    auto& to = peers_[peer];
    if (new_run) to.confirmed = to.told = std::min(to.confirmed, first_ - 1);
    to.sent = to.confirmed;
}

std::optional<Message> InvalidationLog::next(std::size_t peer) {
    auto& to = peers_[peer];
    if (to.sent == last()) return std::nullopt;
    if (to.sent + 1 < first_) {
        to.sent = to.told = last();
        ++to.count;
        return InvalidateAll{to.sent};
    }
    Invalidate order;
    const auto begin = static_cast<std::size_t>(to.sent + 1 - first_);
    const auto end = std::min(log_.size(), begin + kMaxInvalidatedAtOnce);
    for (auto i = begin; i < end; ++i)
        (log_[i].is_tag ? order.tags : order.keys).push_back(log_[i].hash);
    to.sent += end - begin;
    to.told = std::max(to.told, to.sent);
    to.count += end - begin;
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
    for (; first_ <= by_all; ++first_) log_.pop_front();
}

}  // namespace protocol
