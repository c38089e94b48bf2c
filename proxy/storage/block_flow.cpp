#include "proxy/storage/block_flow.hpp"

#include <utility>

namespace proxy {

BlockFlow::BlockFlow(Blocks blocks, ByteRange covered, std::shared_ptr<base::Wakeup> writer,
                     std::uint64_t window_bytes, Ownership owner)
    : blocks_(blocks),
      covered_(covered),
      writer_(std::move(writer)),
      window_bytes_(window_bytes),
      owner_(std::move(owner)),
      next_(covered.first),
      at_(covered.first) {}

bool BlockFlow::covers(const ByteRange& block) const {
    return block.first >= covered_.first && block.last <= covered_.last;
}

Fill& BlockFlow::ahead(std::uint64_t first) {
    auto& fill = ahead_[first];
    if (!fill) {
        fill = std::make_shared<Fill>(writer_, window_bytes_);
        fill->keep();
    }
    return *fill;
}

bool BlockFlow::is_outdated(const Store& store) const {
    return store.any_noted_since(owner_.names, owner_.invalidations);
}

bool BlockFlow::is_open_to(const void* request, const Store& store) const {
    return is_of(request) || (owner_.storable && !is_outdated(store));
}

std::shared_ptr<BlockFlow> BlockFlow::attend(std::shared_ptr<BlockFlow> flow) {
    {
        const std::lock_guard lock(flow->mutex_);
        ++flow->streams_;
    }
    auto* const attended = flow.get();
    return {attended, [flow = std::move(flow)](BlockFlow*) {
                const std::lock_guard lock(flow->mutex_);
                --flow->streams_;
                flow->writer_->notify();
            }};
}

void BlockFlow::followed_by_peer() {
    const std::lock_guard lock(mutex_);
    has_peers_ = true;
    ++joined_;
}

std::unique_ptr<Fill::Reader> BlockFlow::join(std::uint64_t offset,
                                              std::shared_ptr<base::Wakeup> wakeup, bool stays) {
    const auto block = blocks_.at(offset);
    const std::lock_guard lock(mutex_);
    if (current_ && block.last + 1 == next_ && stays) {
        auto reader = std::make_unique<Fill::Reader>(current_, std::move(wakeup), true);
        // A fill that has failed would send its reader back here.
        return reader->state().phase == Fill::Phase::failed ? nullptr : std::move(reader);
    }
    if (ended_ || !covers(block) || block.first < next_) return nullptr;
    ahead(block.first);
    ++joined_;
    auto reader = std::make_unique<Fill::Reader>(ahead_.at(block.first), std::move(wakeup), stays);
    writer_->notify();
    return reader;
}

BlockFlow::Stage BlockFlow::stage_of(std::uint64_t offset) const {
    const auto block = blocks_.at(offset);
    const std::lock_guard lock(mutex_);
    if (!covers(block)) return Stage::outside;
    if (block.first < next_) return Stage::here;
    return ended_ ? Stage::outside : Stage::ahead;
}

std::uint64_t BlockFlow::next() const {
    const std::lock_guard lock(mutex_);
    return next_;
}

bool BlockFlow::is_far(std::uint64_t offset, Wait usual, Time now) const {
    const std::lock_guard lock(mutex_);
    return offset > at_ && is_far_ahead(rate_, offset - at_, usual, now);
}

bool BlockFlow::is_too_far_to_follow(std::uint64_t offset, Wait usual, Time now) const {
    return offset > next() + kBlocksAhead * blocks_.block_bytes && is_far(offset, usual, now);
}

bool BlockFlow::takes_long(std::uint64_t bytes, Wait usual, Time now) const {
    const std::lock_guard lock(mutex_);
    return is_far_ahead(rate_, bytes, usual, now);
}

std::shared_ptr<Fill> BlockFlow::fill_for(std::uint64_t offset) {
    const auto first = blocks_.at(offset).first;
    const std::lock_guard lock(mutex_);
    ahead(first);
    return ahead_.at(first);
}

void BlockFlow::begin(std::uint64_t offset) {
    std::shared_ptr<Fill> before;  // destroyed after the lock is released
    const auto block = blocks_.at(offset);
    const std::lock_guard lock(mutex_);
    next_ = block.last + 1;
    before = std::exchange(current_, take_ahead(block));
}

void BlockFlow::pass(std::uint64_t offset) {
    std::shared_ptr<Fill> before, left;
    const auto block = blocks_.at(offset);
    {
        const std::lock_guard lock(mutex_);
        next_ = block.last + 1;
        before = std::exchange(current_, nullptr);
        left = take_ahead(block);
    }
    if (left) left->fail(FetchError::abandoned);
}

/// The fill of the block, which is none of those ahead any more; null if it has none.
std::shared_ptr<Fill> BlockFlow::take_ahead(const ByteRange& block) {
    const auto own = ahead_.find(block.first);
    if (own == ahead_.end()) return nullptr;
    auto fill = std::move(own->second);
    ahead_.erase(own);
    return fill;
}

void BlockFlow::came(std::uint64_t bytes, Time now) {
    const std::lock_guard lock(mutex_);
    at_ += bytes;
    rate_.came(bytes, now);
}

bool BlockFlow::wanted_from(std::uint64_t offset) const {
    const std::lock_guard lock(mutex_);
    for (auto each = ahead_.lower_bound(blocks_.at(offset).first); each != ahead_.end(); ++each)
        if (each->second->audience().readers > 0) return true;
    return false;
}

bool BlockFlow::all_wait_for(std::uint64_t offset) const {
    const std::lock_guard lock(mutex_);
    const auto fill = ahead_.find(blocks_.at(offset).first);
    return streams_ == 0 || (fill != ahead_.end() && fill->second->audience().readers >= streams_);
}

Fill::Audience BlockFlow::audience() const {
    Fill::Audience all;
    const std::lock_guard lock(mutex_);
    for (const auto& each : ahead_) all += each.second->audience();
    all.readers += streams_;
    all.joined = joined_;  // a fill is no longer ahead, once it was begun
    if (has_peers_) all.alone_at_most = kPeerStays;
    return all;
}

void BlockFlow::end() {
    std::map<std::uint64_t, std::shared_ptr<Fill>> left;
    std::shared_ptr<Fill> last;
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        left.swap(ahead_);
        last.swap(current_);
    }
    for (const auto& each : left) each.second->fail(FetchError::abandoned);
}

void BlockFlows::add(summary::KeyHash version, std::shared_ptr<BlockFlow> flow) {
    const std::lock_guard lock(mutex_);
    flows_.emplace(version, std::move(flow));
}

void BlockFlows::remove(summary::KeyHash version, const BlockFlow* flow) {
    std::shared_ptr<BlockFlow> removed;
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = flows_.equal_range(version);
    for (auto each = begin; each != end; ++each) {
        if (each->second.get() != flow) continue;
        removed = std::move(each->second);
        flows_.erase(each);
        return;
    }
}

std::shared_ptr<BlockFlow> BlockFlows::find(summary::KeyHash version, std::uint64_t offset,
                                            const void* request, const Store& store) const {
    const std::lock_guard lock(mutex_);
    const auto [begin, end] = flows_.equal_range(version);
    std::shared_ptr<BlockFlow> best, passed;
    for (auto each = begin; each != end; ++each) {
        const auto& flow = each->second;
        if (!flow->is_open_to(request, store)) continue;
        const auto stage = flow->stage_of(offset);
        if (stage == BlockFlow::Stage::here) passed = flow;
        if (stage == BlockFlow::Stage::ahead && (!best || flow->next() > best->next())) best = flow;
    }
    return best ? best : passed;
}

}  // namespace proxy
