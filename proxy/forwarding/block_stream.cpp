#include "proxy/forwarding/block_stream.hpp"

#include "proxy/forwarding/answer.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

BlockStream::BlockStream(ClientContext& client, std::shared_ptr<const StoredResponse> index,
                         OriginRoute route)
    : client_(client),
      worker_(client.worker),
      index_(std::move(index)),
      route_(std::move(route)),
      etag_(validators_of(index_->fields()).etag) {}

bool BlockStream::hold(ByteRange range) {
    held_.clear();
    held_from_ = index_->blocks->at(range.first).first;
    for (auto offset = range.first; offset <= range.last;) {
        const auto block = index_->blocks->at(offset);
        const auto uri = block_key(client_.key.uri(), etag_, block);
        const auto hash = worker_.shared.key_hasher(uri);
        auto found = worker_.shared.store.find(hash, uri, {}, Clock::now());
        if (!found.response) {
            held_.clear();
            return false;
        }
        held_.push_back(std::move(found.response));
        offset = block.last + 1;
    }
    return true;
}

BlockStream::Block BlockStream::find_or_fetch(std::uint64_t offset, bool alone) {
    auto& store = worker_.shared.store;
    Block block;
    block.range = index_->blocks->at(offset);
    if (!held_.empty()) {
        block.stored = held_[(block.range.first - held_from_) / index_->blocks->block_bytes];
        return block;
    }
    const auto uri = block_key(client_.key.uri(), etag_, block.range);
    const auto hash = block.hash = worker_.shared.key_hasher(uri);
    const auto found = store.find(hash, uri, {}, Clock::now());
    if (found.response) {
        block.stored = found.response;
        return block;
    }
    forwarded_ = true;
    if (!request_) request_ = std::make_shared<RequestSnapshot>(client_.head, client_.key, true);
    auto job =
        make_block_job(worker_, request_, client_.settings, route_, *index_->blocks, etag_, offset);
    job->generation = found.generation;
    job->may_ask_peers = client_.config().cluster.has_value();
    auto fill = job->fill;
    block.leader = true;
    if (!alone && !found.unshareable) {
        // Nothing was awaited since find(): what has changed since is a fill that we follow.
        const auto claim = store.claim(hash, uri, found, fill);
        if (claim.fill) fill = claim.fill;
        block.leader = claim.leader || !claim.fill;
    }
    block.reader = std::make_unique<Fill::Reader>(fill, client_.wakeup, block.leader);
    if (!block.leader) {
        ++worker_.counters.collapsed;
        return block;
    }
    start_fetch(worker_, std::move(job));
    return block;
}

/// Until the block's bytes are there or come.
asio::awaitable<FetchError> BlockStream::wait(Block& block) {
    if (block.stored) co_return FetchError::none;
    const auto deadline = Clock::now() + kFollowAtMost;
    for (;;) {
        const auto state = block.reader->state();
        const auto given_up = !block.leader && state.error == FetchError::abandoned;
        if (state.released || given_up) {  // not for others: this one fetches for itself
            block = find_or_fetch(block.range.first, true);
            if (block.stored) co_return FetchError::none;
            continue;
        }
        if (state.phase == Fill::Phase::failed && !state.response) co_return state.error;
        if (state.phase != Fill::Phase::waiting) {
            note(state, block.leader);
            co_return FetchError::none;
        }
        const auto woken = co_await client_.wakeup->wait_until(deadline);
        if (!woken) co_return FetchError::head_timeout;
    }
}

/// The worst source of all blocks is that of the answer.
void BlockStream::note(const Fill::State& state, bool leader) {
    auto& turn = client_.turn;
    if (!leader || turn.outcome == Outcome::origin_fetch) return;
    const auto peer = state.source == Fill::Source::peer;
    turn.outcome = peer ? Outcome::peer_hit : Outcome::origin_fetch;
    turn.source = peer ? Source::peer : Source::origin;
    if (peer)
        turn.given_by(state.peer);
    else
        turn.upstream = client_.key.host();
}

asio::awaitable<FetchError> BlockStream::open(ByteRange range) {
    range_ = range;
    now_ = find_or_fetch(range.first, false);
    const auto error = co_await wait(now_);
    co_return error;
}

asio::awaitable<bool> BlockStream::send() {
    auto part = range_;
    for (;;) {
        part.last = std::min(range_.last, now_.range.last);
        if (part.last < range_.last) next_ = find_or_fetch(part.last + 1, false);
        const auto sent = co_await send_block(now_, part);
        if (!sent) {
            client_.turn.aborted = true;
            co_return false;
        }
        if (part.last == range_.last) co_return client_.keep_alive();
        part.first = part.last + 1;
        now_ = std::move(*next_);
        next_.reset();
        const auto error = co_await wait(now_);
        if (error != FetchError::none) {
            client_.turn.aborted = true;
            co_return false;
        }
    }
}

asio::awaitable<bool> BlockStream::send_block(const Block& block, ByteRange part) {
    auto& buffers = client_.buffers;
    auto offset = part.first - block.range.first;
    const auto end = part.last - block.range.first + 1;
    if (block.reader) block.reader->consume(offset);
    while (offset < end || !buffers.empty()) {
        const auto room = kBuffersPerSend - buffers.size();
        std::uint64_t bytes = 0;
        if (block.stored) {
            bytes = block.stored->body->view(offset, std::min(end - offset, kBytesPerSend), room,
                                             buffers);
        } else {
            const auto piece = block.reader->peek(end - offset, room, buffers);
            if (piece.failed) co_return false;
            bytes = piece.bytes;
        }
        if (!client_.connection.send_now(buffers)) {
            if (block.stored) worker_.shared.store.hold(block.hash);
            const auto sent = co_await client_.connection.send(buffers);
            if (!sent) co_return false;
        }
        client_.turn.body_bytes += bytes;
        offset += bytes;
        if (block.reader) block.reader->consume(bytes);
        if (bytes == 0 && offset < end) {
            if (block.stored) co_return false;  // shorter than it should be
            co_await client_.wakeup->wait_until(Clock::now() + kFollowAtMost);
        }
    }
    co_return true;
}

}  // namespace proxy
