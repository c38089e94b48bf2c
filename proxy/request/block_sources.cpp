// Finds the blocks of a BlockStream and requests missing ones. block_stream.cpp sends them.
#include <algorithm>
#include <utility>

#include "proxy/fetch/fetch.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/request/block_stream.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

bool BlockStream::pin(ByteRange range) {
    pinned_.begin(body_.blocks().at(range.first).first);
    for (auto offset = range.first; offset <= range.last;) {
        const auto block = body_.blocks().at(offset);
        const auto key = body_.key_of(block);
        auto found = service_.cache.shared.store.find(key.hash, key.uri, {}, Clock::now());
        if (!found.response && !found.on_disk) {
            pinned_.clear();
            return false;
        }
        pinned_.add({std::move(found.response), key.hash});
        offset = block.last + 1;
    }
    return true;
}

/// `tries`: the failed ones of this block so far; may be null.
BlockStream::Block BlockStream::find_or_fetch(std::uint64_t offset, AllowedSources may,
                                              std::shared_ptr<RetryBudget> tries) {
    Block block;
    block.tries = std::move(tries);
    block.range = body_.blocks().at(offset);
    if (!pinned_.empty()) {
        const auto& pinned = pinned_.at(block.range.first, body_.blocks().block_bytes);
        block.stored = pinned.stored;
        block.hash = pinned.hash;
        if (pinned.stored) return block;
    }
    const auto [uri, hash] = body_.key_of(block.range);
    block.hash = hash;
    if (may != AllowedSources::be_alone && join_outdated_run(block)) return block;
    auto found = service_.cache.shared.store.find(block.hash, uri, {}, Clock::now());
    if (found.on_disk && may == AllowedSources::use_all) {
        const auto recall = service_.cache.shared.store.recall(hash, uri, transaction_.wakeup);
        block.recalled = recall == Store::Recall::waiting;
        if (block.recalled) return block;
        found = service_.cache.shared.store.find(block.hash, uri, {}, Clock::now());
        if (found.response) block.source = Source::disk;
    }
    block.stored = found.response;
    if (found.fill && may != AllowedSources::be_alone) attend(flow_at(block.range.first));
    if (found.response || may_not_fetch()) return block;
    if (!block.tries) block.tries = std::make_shared<RetryBudget>();
    if (may != AllowedSources::be_alone && !found.fill && !found.on_disk) {
        if (join_flow(block)) return block;
        // The run may have stored the block meanwhile.
        found = service_.cache.shared.store.find(block.hash, uri, {}, Clock::now());
        block.stored = found.response;
        if (block.stored) return block;
    }
    fetch(block, found, may);
    return block;
}

/// Returns the origin's usual time to the head.
std::chrono::nanoseconds BlockStream::usual() const {
    if (!origin_) return std::chrono::nanoseconds(0);
    return service_.upstream.origin_times.of(origin_->key).mean();
}

std::shared_ptr<BlockFlow> BlockStream::flow_at(std::uint64_t offset) const {
    const auto& shared = service_.cache.shared;
    if (joined_ && joined_->is_outdated(shared.store) &&
        joined_->stage_of(offset) != BlockFlow::Stage::outside)
        return joined_;
    return shared.flows.find(body_.flow(), offset, request_.get(), shared.store);
}

/// Joins the run of this request, or the one that it has read from, if that brings the block and
/// was invalidated meanwhile: the store has blocks of another answer by now.
bool BlockStream::join_outdated_run(Block& block) {
    if (!follows_ && !joined_) return false;
    const auto flow = flow_at(block.range.first);
    if (!flow || !(flow == joined_ || flow->is_of(request_.get()))) return false;
    if (!flow->is_outdated(service_.cache.shared.store)) return false;
    return join(flow, block);
}

/// Joins the run of any request that brings the block soon enough.
bool BlockStream::join_flow(Block& block) {
    const auto flow = flow_at(block.range.first);
    if (!flow || flow->stage_of(block.range.first) != BlockFlow::Stage::ahead) return false;
    // A reader that has reached the run's position would gain nothing by a request of its own.
    const auto reads_on = block.range.first > range_.first &&
                          block.range.first <= flow->next() + flow->blocks().block_bytes;
    block.follows = follows_ || reads_on;
    if (!block.follows && flow->is_far(block.range.first, usual(), Clock::now())) return false;
    return join(flow, block);
}

/// So many blocks of `range` are nowhere on this node; `at_most` ends the count.
std::uint64_t BlockStream::missing(ByteRange range, std::uint64_t at_most) const {
    std::uint64_t count = 0;
    for (auto offset = range.first; offset <= range.last && count < at_most;) {
        const auto block = body_.blocks().at(offset);
        if (where(body_.key_of(block)) == Store::StoredAt::nowhere) ++count;
        offset = block.last + 1;
    }
    return count;
}

std::optional<std::size_t> BlockStream::first_missing(const std::vector<ByteRange>& parts) const {
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (missing(parts[i], 1) > 0) return i;
    return std::nullopt;
}

bool BlockStream::lacks_more_than(std::uint64_t at_most, std::vector<ByteRange> parts) const {
    std::ranges::sort(parts, {}, &ByteRange::first);
    std::uint64_t count = 0, next = 0;  // the blocks before `next` are counted
    for (const auto& part : parts) {
        const ByteRange rest{std::max(part.first, next), part.last};
        if (rest.first > rest.last) continue;
        count += missing(rest, at_most + 1 - count);
        if (count > at_most) return true;
        next = body_.blocks().at(part.last).last + 1;
    }
    return false;
}

bool BlockStream::lies_deep_in_far_block(ByteRange range) const {
    const auto block = body_.blocks().at(range.first);
    const auto flow = flow_at(block.first);
    if (!flow || flow->stage_of(block.first) != BlockFlow::Stage::ahead) return false;
    const auto now = Clock::now();
    if (!flow->is_far(block.first, usual(), now) ||
        !flow->takes_long(range.first - block.first, usual(), now))
        return false;
    const auto key = body_.key_of(block);
    return where(key) == Store::StoredAt::nowhere && !likely_peer(key);
}

bool BlockStream::join(const std::shared_ptr<BlockFlow>& flow, Block& block) {
    if (!block.tries) block.tries = std::make_shared<RetryBudget>();
    const auto stays = flow->is_of(request_.get()) || flow == joined_;
    block.reader = flow->join(block.range.first, transaction_.wakeup, stays);
    if (!block.reader) return false;
    attend(flow);
    block.by_run = true;
    block.leader = flow->is_of(request_.get());
    // All of a new version may come where the client wants its end.
    const auto is_near =
        block.range.first <= flow->next() + kBlocksAhead * flow->blocks().block_bytes;
    block.follows = is_near && (block.follows || block.leader);
    if (!block.leader) ++service_.counters.collapsed;
    return true;
}

/// This stream reads the run from now on, and stays with it if it is invalidated.
void BlockStream::attend(const std::shared_ptr<BlockFlow>& flow) {
    if (flow && flow != joined_) joined_ = BlockFlow::attend(flow);
}

/// Joins the fetch that is under way for it, or begins one.
void BlockStream::fetch(Block& block, const Store::Found& found, AllowedSources may) {
    auto job = make_block_job(service_.cache, request(), blocks_of(body_.index(), body_.version()),
                              block.range.first);
    job->wanted.block->peers = peers_;
    job->from.tries = block.tries;
    job->from.peers_asked = transaction_.peers_asked();
    job->from.may_ask_peers = transaction_.config().cluster.has_value();
    auto fill = job->result.fill;
    block.leader = true;
    if (may != AllowedSources::be_alone && !found.unshareable) {
        auto taken = job->result.lease.take(found);
        if (!taken.leads && !taken.other) {  // another worker has just stored it
            auto again = service_.cache.shared.store.find(block.hash, job->result.lease.uri(), {},
                                                          Clock::now());
            if (again.response) {
                block.stored = std::move(again.response);
                block.leader = false;
                return;
            }
        }
        block.leader = !taken.other;
        if (taken.other) fill = std::move(taken.other);
    } else {
        job->result.lease.stay_alone(found.invalidations);
    }
    block.reader = std::make_unique<Fill::Reader>(fill, transaction_.wakeup, block.leader);
    if (!block.leader) {
        ++service_.counters.collapsed;
        return;
    }
    block.promised = likely_peer(body_.key_of(block.range)).has_value();
    job->wanted.block->bytes_behind = range_.last - std::min(block.range.last, range_.last);
    job->wanted.block->up_to = end_of_missing(service_.cache, *job);
    if (job->wanted.block->up_to) follows_ = true;
    fetched_ = job->wanted.block->to_ask();
    start_fetch(service_.cache, std::move(job));
}

/// The node that fetches the blocks of the body; empty: none is known.
std::string BlockStream::fetcher() const {
    const auto& request = transaction_.request;
    return service_.cache.shared.cooperation.fetchers.of(request.hash, Clock::now());
}

/// As in missing_blocks.hpp, for the body or a block of it.
std::optional<std::size_t> BlockStream::likely_peer(const Key& key) const {
    const auto& asked = transaction_.request;
    const BodyAsked body{asked.key, asked.hash, transaction_.config(),
                         origin_,   *peers_,    body_.blocks().block_bytes};
    return proxy::likely_peer(service_.cache, body, {key.hash, key.uri});
}

/// False: something is missing, and the origin gives no parts that fit.
bool BlockStream::may_come_in_parts() const {
    if (!origin_ || !service_.upstream.in_one_piece(*origin_, transaction_.request.key.uri()))
        return true;
    auto offset = body_.blocks().at(range_.first).first;
    for (std::uint64_t i = 0; offset <= range_.last; ++i) {
        if (i == kMaxBlocksExpected) return false;
        const auto block = body_.blocks().at(offset);
        const auto is_here = where(body_.key_of(block)) != Store::StoredAt::nowhere;
        if (!is_here && !flow_at(block.first)) return false;
        offset = block.last + 1;
    }
    return true;
}

/// Requests the first missing block before anything is sent, because the origin may have another
/// version by now.
asio::awaitable<FetchError> BlockStream::open_missing() {
    auto offset = now_.range.last + 1;
    for (std::uint64_t i = 0; offset <= range_.last; ++i) {
        if (i == kOpenedAhead) co_return FetchError::none;
        const auto block = body_.blocks().at(offset);
        if (where(body_.key_of(block)) == Store::StoredAt::nowhere) break;
        offset = block.last + 1;
    }
    if (offset > range_.last) co_return FetchError::none;
    // A flow has this version already.
    if (flow_at(offset)) co_return FetchError::none;
    ahead_ = find_or_fetch(offset, AllowedSources::not_disk);
    const auto error = co_await wait(*ahead_);
    // Other errors may pass.
    const auto lasts = error == FetchError::changed || error == FetchError::part_refused;
    co_return lasts ? error : FetchError::none;
}

std::shared_ptr<const RequestSnapshot> BlockStream::request() {
    if (!request_) request_ = transaction_.request.snapshot(true);
    return request_;
}

}  // namespace proxy
