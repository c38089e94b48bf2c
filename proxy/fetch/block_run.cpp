#include "proxy/fetch/block_run.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/fetch/meeting_plan.hpp"
#include "proxy/fetch/open_flow.hpp"
#include "proxy/fetch/resume_plan.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using Clock = std::chrono::steady_clock;

/// How often a run without readers looks whether it is to end.
constexpr std::chrono::seconds kLook{1};

/// The head of one block, from the head of the response. `content_range` must outlive it.
Head head_of_block(const Head& answer, std::string_view content_range) {
    Head head = answer;
    head.status = 206;
    std::erase_if(head.fields, [](const Field& line) { return line.id == field::content_range; });
    head.fields.push_back({field::content_range, "Content-Range", content_range});
    return head;
}

}  // namespace

BlockRun::BlockRun(Cache& cache, FetchJob& job, Of of, Exchange& exchange)
    : cache_(cache),
      job_(job),
      body_(std::move(of.body)),
      exchange_(exchange),
      covered_(of.covered),
      at_(covered_.first) {
    open_flow(cache_, job_, body_, covered_, of.storable);
    note_fetcher();
}

BlockRun::~BlockRun() {
    job_.progress.flow.reset();
}

asio::awaitable<void> BlockRun::run(Delivery* own) {
    auto own_is_to_come = own != nullptr;
    for (auto offset = covered_.first; offset <= covered_.last;) {
        const auto block = body_.blocks.at(offset);
        if (block.last > covered_.last) break;
        const auto wanted = co_await wait_until_wanted(offset, own_is_to_come);
        if (!wanted) break;
        const auto is_own = own_is_to_come && block == job_.wanted.block->range;
        const auto goes_on = co_await bring(block, is_own ? own : nullptr);
        if (is_own) own_is_to_come = false;
        if (!goes_on) break;
        const auto behind = co_await skip_to(block.last + 1);
        if (!behind) break;
        offset = block.last + 1;
    }
    exchange_.finish();
}

/// After an invalidation the store takes none of the blocks, so that a stream which comes late
/// would get nothing. Then the run waits for all of them, within bounds. False: the fetch is to
/// end, as nobody waits for the block, or will (ReaderTimeout).
asio::awaitable<bool> BlockRun::wait_until_wanted(std::uint64_t offset, bool own_is_to_come) {
    auto& flow = job_.progress.flow->get();
    const auto begun = Clock::now();
    for (;;) {
        if (job_.progress.given_up) co_return false;
        const auto readers = job_.result.fill->audience().readers;
        const auto is_stored = !flow.is_outdated(cache_.shared.store);
        const auto finds_readers =
            is_stored || flow.all_wait_for(offset) || Clock::now() - begun >= kAloneAtMost;
        const auto is_wanted = flow.wanted_from(offset) || (own_is_to_come && readers > 0);
        if (is_wanted && finds_readers) co_return true;
        const auto taken = at_ - covered_.first;
        if (readers == 0 && is_stored && goes_on_unread(taken, covered_.size())) co_return true;
        co_await job_.result.wakeup->wait_until(Clock::now() + kLook);
    }
}

/// False: the response has broken off.
asio::awaitable<bool> BlockRun::bring(const ByteRange& block, Delivery* own) {
    auto& flow = job_.progress.flow->get();
    note_fetcher();
    if (own) {
        flow.begin(block.first);
        const auto goes_on = co_await send_into(*own, block);
        co_return goes_on;
    }
    auto fill = flow.fill_for(block.first);
    auto job = make_block_job(cache_, job_.wanted.request, body_, block.first,
                              FillSlot{job_.result.wakeup, fill});
    auto& lease = job->result.lease;
    auto found = cache_.shared.store.find(lease.hash(), lease.uri(), {}, Clock::now());
    // The block belongs to the request of the run, so later invalidations count for it.
    found.invalidations = job_.result.lease.invalidations();
    auto leads = false;
    // A block stored after an invalidation belongs to another response.
    if (found.unshareable || flow.is_outdated(cache_.shared.store)) {
        lease.stay_alone(found.invalidations);
        leads = true;
    } else if (!found.response && !found.on_disk) {
        leads = lease.take(found).leads;
    }
    if (!leads) {
        flow.pass(block.first);
        co_return true;
    }
    flow.begin(block.first);
    job_.progress.beside = std::move(job);
    auto goes_on = false;
    {
        Delivery delivery(cache_, *job_.progress.beside);
        goes_on = co_await send_into(delivery, block);
    }
    job_.progress.beside.reset();
    co_return goes_on;
}

asio::awaitable<bool> BlockRun::send_into(Delivery& delivery, const ByteRange& block) {
    std::string range;
    append_content_range(range, {block, body_.blocks.length});
    const auto answer = exchange_.received();
    const auto head = head_of_block(answer.head, range);
    const ReceivedHead from{head,  answer.request_time, answer.arrival, answer.own_lines,
                            false, answer.took,         answer.server,  answer.redirects};
    std::function<void(std::uint64_t)> count = [this](std::uint64_t bytes) { came(bytes); };
    co_return co_await delivery.run_slice(exchange_, from, std::move(count));
}

/// Reads and drops the bytes before `offset`.
asio::awaitable<bool> BlockRun::skip_to(std::uint64_t offset) {
    const auto silence = silence_at_most(Fill::From::origin, job_.wanted.request->config());
    while (at_ < offset) {
        if (exchange_.pieces().empty()) {
            if (exchange_.done()) co_return false;
            const auto error = co_await exchange_.read_body(Clock::now() + silence);
            if (error != FetchError::none) co_return false;
            continue;
        }
        const auto n = std::min<std::uint64_t>(exchange_.pieces().front().size(), offset - at_);
        exchange_.take(n);
        came(n);
    }
    co_return true;
}

/// Nodes that get the index from this one learn who fetches the blocks.
void BlockRun::note_fetcher() {
    const auto& request = *job_.wanted.request;
    const auto& config = request.config();
    if (!config.cluster || !may_fetch_once(request)) return;
    const auto target = cache_.shared.key_hasher(request.key.uri());
    cache_.shared.cooperation.fetchers.meet(target, config.node, {}, Clock::now());
}

void BlockRun::came(std::uint64_t bytes) {
    at_ += bytes;
    job_.progress.flow->get().came(bytes, Clock::now());
}

}  // namespace proxy
