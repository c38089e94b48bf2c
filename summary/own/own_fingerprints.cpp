#include "summary/own/own_fingerprints.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace summary {

namespace {

/// The lowest `high` of a key with at least this fingerprint, in the numbering of a quotient
/// filter: ceil(fingerprint * 2^64 / universe).
std::uint64_t lowest_key(std::uint64_t fingerprint, std::uint64_t universe) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(((static_cast<Wide>(fingerprint) << 64) + universe - 1) /
                                      universe);
}

}  // namespace

OwnFingerprints::OwnFingerprints(const FingerprintShape& shape, std::uint64_t first_epoch)
    : shape_(shape), epoch_{first_epoch} {
    assert(universe(shape) % kUniverseUnit == 0);
}

bool OwnFingerprints::stored(KeyHash key) {
    const auto shard = key_shard_of(key);
    if (!shards_[shard].keys.insert(key)) return false;
    ++objects_;
    note(key, shard, true);
    return true;
}

bool OwnFingerprints::removed(KeyHash key) {
    const auto shard = key_shard_of(key);
    if (!shards_[shard].keys.erase(key)) return false;
    --objects_;
    note(key, shard, false);
    return true;
}

void OwnFingerprints::note(KeyHash key, std::size_t index, bool came) {
    if (growth_ && index < growth_->fed) {
        const auto term = check_term(fingerprint(key, growth_->shape));
        growth_->check += came ? term : ~term + 1;
    }
    if (importing_) return;
    ++(came ? epoch_.stored : epoch_.removed);
    const auto number = fingerprint(key, shape_);
    check_ += came ? check_term(number) : ~check_term(number) + 1;
    auto& shard = shards_[index];
    shard.pending.push_back(number << 1 | (came ? 1 : 0));
    shard.pending_balance += came ? 1 : -1;
    ++pending_;
    if (snapshot_ || pending_ <= std::max(objects_ / kObjectsPerPending, kMinPending)) return;
    announce_all();
    pending_lost_ = true;
}

/// Declares the present state announced.
void OwnFingerprints::announce_all() {
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        auto& shard = shards_[i];
        auto changes = std::exchange(shard.pending, {});
        if (snapshot_ && i >= snapshot_->next) {
            shard.announced.insert(shard.announced.end(), changes.begin(), changes.end());
        }
        shard.pending_balance = 0;
    }
    pending_ = 0;
    announced_ = importing_ ? 0 : objects_;
    announced_check_ = check_;
}

void OwnFingerprints::begin_epoch(std::uint64_t epoch) {
    snapshot_.reset();
    announce_all();
    for (auto& shard : shards_) shard.announced = {};
    pending_lost_ = false;
    next_to_announce_ = 0;
    epoch_ = {epoch};
}

void OwnFingerprints::restart(std::uint64_t epoch) {
    growth_.reset();
    begin_epoch(epoch);
}

std::vector<OwnFingerprints::Net> OwnFingerprints::net_of(std::vector<std::uint64_t> changes) {
    std::sort(changes.begin(), changes.end());
    std::vector<Net> result;
    for (const auto change : changes) {
        const auto number = change >> 1;
        if (result.empty() || result.back().fingerprint != number) result.push_back({number, 0});
        result.back().more += (change & 1) != 0 ? 1 : -1;
    }
    std::erase_if(result, [](const Net& net) { return net.more == 0; });
    return result;
}

std::optional<OwnFingerprints::Change> OwnFingerprints::take_delta(std::uint64_t changes) {
    epoch_.next_generation();
    if (pending_lost_) {
        pending_lost_ = false;
        announce_all();
        return std::nullopt;
    }
    Change change;
    change.objects = announced_;
    if (changes >= pending_) next_to_announce_ = 0;
    std::uint64_t first_rank = 0;
    std::uint64_t taken = 0;
    for (std::size_t i = 0; i < shards_.size() && taken < changes && pending_ > 0; ++i) {
        auto& shard = shards_[i];
        const auto announced_here =
            shard.keys.size() - static_cast<std::uint64_t>(shard.pending_balance);
        if (i >= next_to_announce_ && !shard.pending.empty()) {
            taken += shard.pending.size();
            announce_shard(i, first_rank, change);
            next_to_announce_ = i + 1;
        }
        first_rank += announced_here;
    }
    // The remaining shards have their turn in the next delta.
    if (taken < changes) next_to_announce_ = 0;

    const auto& [added, gone] = change.delta;
    announced_ += added.size() - gone.size();
    for (const auto number : added) announced_check_ += check_term(number);
    for (const auto number : gone) announced_check_ -= check_term(number);
    return change;
}

/// Appends the changes of one shard; `first_rank` is the number of announced fingerprints in the
/// shards before.
void OwnFingerprints::announce_shard(std::size_t index, std::uint64_t first_rank, Change& change) {
    auto& shard = shards_[index];
    const bool in_order = std::holds_alternative<QuotientShape>(shape_);
    const auto range = universe(shape_);
    std::int64_t more = 0;  // lower fingerprints gained since the announcement
    pending_ -= shard.pending.size();
    if (snapshot_ && index >= snapshot_->next) {
        shard.announced.insert(shard.announced.end(), shard.pending.begin(), shard.pending.end());
    }
    shard.pending_balance = 0;
    for (const auto& net : net_of(std::exchange(shard.pending, {}))) {
        if (net.more > 0) {
            change.delta.added.insert(change.delta.added.end(), static_cast<std::size_t>(net.more),
                                      net.fingerprint);
        } else {
            const auto count = static_cast<std::size_t>(-net.more);
            change.delta.removed.insert(change.delta.removed.end(), count, net.fingerprint);
            if (in_order) {
                const auto now = shard.keys.rank(lowest_key(net.fingerprint, range));
                const auto rank = first_rank + now - static_cast<std::uint64_t>(more);
                for (std::size_t i = 0; i < count; ++i) change.ranks.push_back(rank + i);
            }
        }
        more += net.more;
    }
}

void OwnFingerprints::begin_snapshot(Bytes& out) {
    for (auto& shard : shards_) shard.announced = {};
    snapshot_.reset(new Snapshot{{universe(shape_), announced_, out}});
}

bool OwnFingerprints::write_some(std::uint64_t keys) {
    assert(snapshot_);
    std::uint64_t done = 0;
    if (importing_) snapshot_->next = shards_.size();  // an empty snapshot
    for (; snapshot_->next < shards_.size() && done < keys; ++snapshot_->next) {
        auto& shard = shards_[snapshot_->next];
        write(shard, snapshot_->encoder);
        shard.announced = {};
        done += shard.keys.cost_of_visit();
    }
    if (snapshot_->next < shards_.size()) return false;
    snapshot_->encoder.finish();
    snapshot_.reset();
    return true;
}

/// Writes the shard as it was announced: without later keys, and with removed ones.
void OwnFingerprints::write(const Shard& shard, FingerprintSnapshotEncoder& encoder) const {
    auto since = shard.announced;
    since.insert(since.end(), shard.pending.begin(), shard.pending.end());
    auto nets = net_of(std::move(since));
    auto net = nets.begin();
    const auto append_gone = [&] {
        for (; net->more < 0; ++net->more) encoder.append(net->fingerprint);
        ++net;
    };
    shard.keys.for_each([&](KeyHash key) {
        const auto number = fingerprint(key, shape_);
        while (net != nets.end() && net->fingerprint < number) append_gone();
        if (net != nets.end() && net->fingerprint == number) {
            if (net->more > 0) {
                --net->more;
                return;
            }
            append_gone();
        }
        encoder.append(number);
    });
    while (net != nets.end()) append_gone();
}

void OwnFingerprints::begin_regrow(const FingerprintShape& shape) {
    growth_.emplace(Growth{shape});
}

bool OwnFingerprints::grow_some(std::uint64_t keys) {
    auto& growth = *growth_;
    std::uint64_t done = 0;
    for (; growth.fed < shards_.size() && done < keys; ++growth.fed) {
        const auto& shard = shards_[growth.fed];
        shard.keys.for_each(
            [&](KeyHash key) { growth.check += check_term(fingerprint(key, growth.shape)); });
        done += shard.keys.cost_of_visit();
    }
    if (growth.fed < shards_.size()) return false;
    shape_ = growth.shape;
    check_ = growth.check;
    growth_.reset();
    importing_ = false;
    begin_epoch(epoch_.number + 1);
    return true;
}

std::uint64_t OwnFingerprints::memory_bytes() const {
    std::uint64_t bytes = shards_.size() * sizeof(Shard);
    for (const auto& shard : shards_) {
        bytes += shard.keys.memory_bytes() +
                 (shard.pending.capacity() + shard.announced.capacity()) * sizeof(std::uint64_t);
    }
    return bytes;
}

}  // namespace summary
