#include "proxy/request/block_stream.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "proxy/fetch/block_plan.hpp"
#include "proxy/fetch/fetch.hpp"
#include "proxy/fetch/fetch_job.hpp"
#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/request/body_sender.hpp"
#include "proxy/request/cache_lookup.hpp"
#include "summary/directory/directory.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

BlockStream::BlockStream(Transaction& transaction, std::shared_ptr<const StoredResponse> index,
                         std::shared_ptr<const RequestSnapshot> request)
    : transaction_(transaction),
      service_(transaction.service),
      body_(std::move(index), transaction.request.key.uri(), service_.cache.shared.key_hasher),
      origin_(transaction.request.origin()),
      request_(std::move(request)) {}

BlockStream::BlockedBody::BlockedBody(std::shared_ptr<const StoredResponse> index,
                                      std::string_view uri, const summary::KeyHasher& hasher)
    : index_(std::move(index)),
      uri_(uri),
      hasher_(hasher),
      version_(version_of(*index_, blocks().length, hasher)),
      flow_(hasher(flow_key(uri, version_.etag, version_.form, blocks().block_bytes))) {}

BlockStream::Key BlockStream::BlockedBody::key_of(const ByteRange& block) const {
    auto uri = block_key(uri_, version_.etag, version_.form, block);
    const auto hash = hasher_(uri);
    return {std::move(uri), hash};
}

Store::StoredAt BlockStream::where(const Key& key) const {
    return service_.cache.shared.store.peek(key.hash, key.uri, {});
}

/// Until it was read, or fetching it has begun instead.
asio::awaitable<FetchError> BlockStream::wait_for_disk(Block& block) {
    const auto deadline = Clock::now() + kRecallAtMost;
    auto news = Transaction::News::come;
    for (;;) {
        // First, because the sender of the block before may have taken the notice for this one.
        block = find_or_fetch(block.range.first, AllowedSources::use_all);
        if (block.stored) block.source = Source::disk;
        if (!block.recalled || news != Transaction::News::come) break;
        news = co_await transaction_.wait_for_news(deadline);
        if (news == Transaction::News::client_left) co_return FetchError::abandoned;
    }
    if (block.recalled) block = find_or_fetch(block.range.first, AllowedSources::not_disk);
    co_return FetchError::none;
}

/// Waits until the block's bytes are there or arrive.
asio::awaitable<FetchError> BlockStream::wait(Block& block) {
    if (block.recalled) {
        const auto error = co_await wait_for_disk(block);
        if (error != FetchError::none) co_return error;
    }
    if (block.stored) co_return FetchError::none;
    if (!block.reader) co_return FetchError::not_allowed;  // the disk's copy was of no use
    const auto deadline = Clock::now() + kFollowAtMost;
    const auto of_run = Clock::now() + std::max<std::chrono::nanoseconds>(kWaitForFlow, usual());
    auto looks = 0;
    for (;;) {
        const auto state = block.reader->state();
        if (state.phase == Fill::Phase::failed && state.error == FetchError::abandoned) {
            // The run or fetch has ended, or found that the block is here, or one begins that
            // brings it. After kMaxLooks such ends this request fetches for itself, so that the
            // loop ends.
            const auto may =
                ++looks < kMaxLooks ? AllowedSources::use_all : AllowedSources::be_alone;
            block = find_or_fetch(block.range.first, may, std::move(block.tries));
            if (block.recalled) block = find_or_fetch(block.range.first, AllowedSources::not_disk);
            if (block.stored) co_return FetchError::none;
            if (!block.reader) co_return FetchError::not_allowed;
            continue;
        }
        const auto of_others = !block.leader && state.error == FetchError::part_refused;
        if (state.released || of_others) {  // the block is for its leader alone
            block =
                find_or_fetch(block.range.first, AllowedSources::be_alone, std::move(block.tries));
            if (block.stored) co_return FetchError::none;
            continue;
        }
        // The client has got none of the block, so its first bytes are of no use.
        if (state.phase == Fill::Phase::failed) co_return state.error;
        if (state.phase != Fill::Phase::waiting) {
            note(block, state);
            co_return FetchError::none;
        }
        if (block.by_run && !block.follows && Clock::now() >= of_run) {  // slower than it seemed
            block =
                find_or_fetch(block.range.first, AllowedSources::be_alone, std::move(block.tries));
            if (block.stored) co_return FetchError::none;
            continue;
        }
        const auto until = block.by_run && !block.follows ? of_run : deadline;
        const auto news = co_await transaction_.wait_for_news(until);
        if (news == Transaction::News::client_left) co_return FetchError::abandoned;
        if (news == Transaction::News::late && until == deadline)
            co_return FetchError::head_timeout;
    }
}

/// The same for a block of a body that has begun to go out: it tries again, as errors may pass.
asio::awaitable<FetchError> BlockStream::wait_and_retry(Block& block) {
    for (;;) {
        const auto error = co_await wait(block);
        if (error == FetchError::none || !block.reader) co_return error;
        const auto not_before = block.reader->state().not_before;
        // Another of the servers behind the origin's name may have the version.
        const auto status = block.reader->state().incoming.upstream_status;
        const auto other_version = error == FetchError::changed && (status == 200 || status == 206);
        const auto pause = block.tries->failed(other_version ? FetchError::origin_error : error,
                                               not_before, Clock::now());
        if (!pause) co_return error;
        block.reader.reset();
        auto news = Transaction::News::come;
        const auto until = Clock::now() + *pause;
        while (news == Transaction::News::come) news = co_await transaction_.wait_for_news(until);
        if (news == Transaction::News::client_left) co_return FetchError::abandoned;
        block = find_or_fetch(block.range.first, AllowedSources::not_disk, std::move(block.tries));
    }
}

void BlockStream::note(Block& block, const Fill::State& state) {
    if (!block.leader) return;
    block.fetched = true;
    block.source = state.incoming.from == Fill::From::peer ? Source::peer : Source::origin;
    transaction_.stats.details.note_server(state.incoming.server);
    if (block.promised) promises_hold_ = block.source == Source::peer;
    // Of several peers, the log names the one that Cache-Status did.
    if (block.source == Source::peer && !std::exchange(peer_gave_, true))
        transaction_.stats.peer = state.incoming.peer;
}

/// Where the bytes will probably come from, judged by what is stored and what peers announce of
/// some of the blocks. Another part of the body may be evicted, or false, by the time it is sent.
BlockStream::Expectation BlockStream::expect() const {
    Expectation expected;
    const auto& view = service_.upstream.peers.view();
    const auto* directory = view && transaction_.config().cluster ? view->directory.get() : nullptr;
    const auto candidates = [&](const Key& key) {
        return directory ? directory->candidates({key.hash, key.uri}) : summary::PeerSet();
    };
    // A peer that gave a block without a promise has the body in one piece.
    const auto by_whole =
        now_.source == Source::peer && candidates(body_.key_of(now_.range)).empty();
    if (now_.source == Source::peer) expected.peer = transaction_.stats.peer;
    const auto fetcher = this->fetcher();
    const auto comes_from_peer = !fetcher.empty() && fetcher != transaction_.config().node;
    const auto& blocks = body_.blocks();
    const auto parts = std::min(blocks.touched_by(range_), kBlocksSampled);
    for (std::uint64_t i = 0; i < parts; ++i) {
        const auto part = blocks.part_of(range_, parts, i);
        const auto block = blocks.at(part.first);
        auto source = now_.on_disk() ? Source::disk : now_.source;
        if (block != now_.range) {
            const auto key = body_.key_of(block);
            const auto here = is_fetched(block) ? Store::StoredAt::nowhere : where(key);
            if (here != Store::StoredAt::nowhere) {
                source = here == Store::StoredAt::disk ? Source::disk : Source::memory;
            } else {
                const auto peer = likely_peer(key);
                source = by_whole || peer || comes_from_peer ? Source::peer : Source::origin;
                if (expected.peer.empty() && peer) expected.peer = view->peers[*peer].node;
                if (expected.peer.empty() && comes_from_peer) expected.peer = fetcher;
            }
        }
        expected.bytes.add(source, part.size());
    }
    return expected;
}

/// The origin was asked for it already, and it may have come.
bool BlockStream::is_fetched(const ByteRange& block) const {
    return fetched_ && fetched_->first <= block.first && block.last <= fetched_->last;
}

/// Nothing has to be fetched, once those that expect() looked at are here. False also when there
/// are too many blocks to know.
bool BlockStream::all_here() const {
    const auto& blocks = body_.blocks();
    const auto count = blocks.touched_by(range_);
    if (fetched_ && fetched_->last > now_.range.last) return false;
    if (count <= kBlocksSampled) return true;
    if (count > kMaxBlocksExpected) return false;
    for (auto offset = now_.range.last + 1; offset <= range_.last;) {
        const auto block = blocks.at(offset);
        if (where(body_.key_of(block)) == Store::StoredAt::nowhere) return false;
        offset = block.last + 1;
    }
    return true;
}

void BlockStream::describe(CacheStatus& status) {
    const auto [expected, peer] = expect();
    const auto all_here = expected.peer + expected.origin == 0 && this->all_here();
    const auto index_was_here =
        status.forward != Forward::uri_miss && status.forward != Forward::vary_miss;
    if (all_here && (index_was_here || status.collapsed)) {
        const auto is_hit = status.forward == Forward::none && status.detail.empty();
        if (is_hit && service_.cache.shared.store.disk())
            status.detail = expected.disk > 0 ? "disk" : "memory";
        return;
    }
    if (!all_here) {
        if (transaction_.stats.cache == CacheResult::hit)
            transaction_.stats.cache = CacheResult::partial;
        if (index_was_here) status.forward = Forward::partial;
        status.collapsed = false;
    }
    switch (expected.most()) {
        case Source::peer:
            detail_ = "PEER_" + peer;
            break;
        case Source::memory:
        case Source::disk:
            detail_ = kMostlyLocal;
            break;
        case Source::origin:
        case Source::none:
            detail_.clear();
    }
    status.detail = detail_;
}

asio::awaitable<FetchError> BlockStream::open(ByteRange range, bool leads) {
    range_ = range;
    follows_ = leads;
    if (!leads && !may_not_fetch() && !may_come_in_parts()) co_return FetchError::changed;
    if (leads)
        fetched_ = {body_.blocks().at(range.first).first, body_.blocks().at(range.last).last};
    now_ = find_or_fetch(range.first, AllowedSources::use_all);
    if (leads && !now_.leader) {
        now_.fetched = true;
        now_.source = Source::origin;
    }
    const auto error = co_await wait(now_);
    if (error != FetchError::none || !now_.stored || may_not_fetch()) co_return error;
    co_return co_await open_missing();
}

asio::awaitable<void> BlockStream::send() {
    auto part = range_;
    std::uint64_t turn_bytes = 0;
    std::optional<Block> next;
    for (;;) {
        part.last = std::min(range_.last, now_.range.last);
        if (part.last < range_.last) {
            next = next_from(part.last + 1);
            look_ahead(next->range.last + 1);
        }
        const auto sent = co_await send_block(now_, part);
        if (!sent || part.last == range_.last) co_return;
        turn_bytes += part.size();
        if (turn_bytes >= kTurnBytes) {
            turn_bytes = 0;
            co_await asio::post(service_.executor, asio::use_awaitable);
        }
        part.first = part.last + 1;
        now_ = std::move(*next);
        next.reset();
        const auto error = co_await wait_and_retry(now_);
        if (error == FetchError::none) continue;
        auto sent_rest = false;
        part.last = range_.last;
        if (error == FetchError::changed)
            service_.cache.shared.store.invalidate(transaction_.request.hash, Clock::now());
        if (error == FetchError::changed || error == FetchError::part_refused)
            sent_rest = co_await send_out_of_whole(part);
        if (!sent_rest && !transaction_.stats.aborted) transaction_.stats.cut_short();
        co_return;
    }
}

BlockStream::Block BlockStream::next_from(std::uint64_t offset) {
    if (!coming_.empty() && coming_.front().block.range.first == offset) {
        auto block = std::move(coming_.front().block);
        coming_.pop_front();
        return block;
    }
    if (!ahead_ || ahead_->range.first != offset)
        return find_or_fetch(offset, AllowedSources::use_all);
    auto block = std::move(*ahead_);
    ahead_.reset();
    return block;
}

/// Begins with missing blocks from `offset` on that peers announce, unless the last promise was
/// empty, because the origin would get a request for each of them. Those that this stream has
/// fetched are charged to limits.body_windows, and without room it takes the next one alone.
void BlockStream::look_ahead(std::uint64_t offset) {
    auto& windows = service_.cache.shared.windows;
    const auto end = offset + kBlocksAhead * body_.blocks().block_bytes;
    if (!coming_.empty()) offset = coming_.back().block.range.last + 1;
    if (may_not_fetch() || !promises_hold_) return;
    for (ByteRange block; offset <= range_.last && offset < end; offset = block.last + 1) {
        block = body_.blocks().at(offset);
        const auto key = body_.key_of(block);
        if ((ahead_ && ahead_->range.first == offset) || !likely_peer(key)) return;
        if (where(key) != Store::StoredAt::nowhere) continue;
        auto room = base::read_ahead(windows, block.size());
        if (!room) return;
        ComingBlock coming{{}, std::move(*room)};
        coming.block = find_or_fetch(offset, AllowedSources::not_disk);
        if (!coming.block.leader) coming.charge = base::Charge();
        coming_.push_back(std::move(coming));
    }
}

/// The origin answers for a block with something else. The whole is fetched in one piece; its
/// beginning has been sent, and is left out if it is the same.
asio::awaitable<bool> BlockStream::send_out_of_whole(ByteRange rest) {
    const auto& asked = transaction_.request;
    auto job = std::make_unique<FetchJob>(service_.cache, request(),
                                          summary::Key{asked.hash, asked.key.uri()});
    job->wanted.directives = asked.directives;
    job->from.may_ask_peers = job->wanted.may_use_blocks = false;
    const auto found = service_.cache.shared.store.find(asked.hash, asked.key.uri(),
                                                        asked.head.fields, Clock::now());
    auto fill = job->result.fill;
    auto taken = job->result.lease.take(found);
    const auto leads = !taken.other;
    if (!leads) fill = std::move(taken.other);
    Fill::Reader reader(fill, transaction_.wakeup, leads);
    if (leads) start_fetch(service_.cache, std::move(job));
    const auto state = co_await head_of(reader);
    const auto& incoming = state.incoming;
    if (state.released || !incoming.response || !is_whole_of(*incoming.response, body_.version()))
        co_return false;
    if (incoming.length_known && incoming.length != body_.blocks().length) co_return false;
    if (incoming.response->server != body_.index().server) co_return false;  // perhaps other bytes
    BodyReader body(reader);
    body.consume(rest.first);
    BodySender::What what;
    what.bytes = rest.size();
    what.fetched = leads;
    BodySender sender(transaction_, std::move(body), what);
    const auto sent = co_await sender.run();
    co_return sent;
}

/// As soon as it is there, or is not to be had.
asio::awaitable<Fill::State> BlockStream::head_of(const Fill::Reader& reader) {
    const auto deadline = Clock::now() + kFollowAtMost;
    for (;;) {
        auto state = reader.state();
        if (state.phase != Fill::Phase::waiting || state.released) co_return state;
        const auto news = co_await transaction_.wait_for_news(deadline);
        if (news != Transaction::News::come) co_return state;
    }
}

asio::awaitable<bool> BlockStream::send_block(const Block& block, ByteRange part) {
    auto& windows = service_.cache.shared.windows;
    auto body = block.stored ? BodyReader(*block.stored, transaction_.wakeup, windows)
                             : BodyReader(*block.reader);
    body.consume(part.first - block.range.first);
    BodySender::What what;
    what.bytes = part.size();
    what.fetched = block.fetched;
    if (block.stored) what.stored_as = block.hash;
    if (block.on_disk()) what.stored_in = Source::disk;
    BodySender sender(transaction_, std::move(body), what);
    if (sender.send_now()) co_return true;
    const auto sent = co_await sender.run();
    co_return sent;
}

}  // namespace proxy
