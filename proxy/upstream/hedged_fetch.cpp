#include "proxy/upstream/hedged_fetch.hpp"

#include <algorithm>

#include "proxy/upstream/ask_budget.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

asio::awaitable<void> run_peer(std::shared_ptr<PeerAttempt> self, std::string request,
                               std::shared_ptr<base::Wakeup> wakeup) {
    const auto verdict = co_await self->request.send(std::move(request), self->promised);
    const auto wanted = !self->lost && verdict == PeerVerdict::hit;
    self->verdict = verdict;
    wakeup->notify();
    if (!wanted && verdict != PeerVerdict::failure && verdict != PeerVerdict::timeout)
        co_await self->request.discard();
}

asio::awaitable<void> run_origin(std::shared_ptr<OriginAttempt> self,
                                 std::shared_ptr<base::Wakeup> wakeup) {
    const auto error = co_await self->run();
    self->result = error;
    if (!self->lost && self->on_end) self->on_end();
    wakeup->notify();
    if (self->lost && error == FetchError::none)
        co_await self->response().discard(Clock::now() + kLatestHead);
}

}  // namespace

bool HedgedFetch::start(std::shared_ptr<PeerAttempt> attempt, std::string request) {
    auto task = run_peer(attempt, std::move(request), wakeup_);
    if (!upstream_.fetches.spawn(std::move(task))) return false;
    peers_.push_back(std::move(attempt));
    return true;
}

bool HedgedFetch::start(const std::shared_ptr<OriginAttempt>& attempt) {
    auto task = run_origin(attempt, wakeup_);
    attempt->under_way = upstream_.fetches.spawn(std::move(task));
    if (attempt->under_way) ++upstream_.counters.origin_hedges;
    return attempt->under_way;
}

PeerAttempt* HedgedFetch::take_ended() {
    const auto ended = std::find_if(peers_.begin(), peers_.end(), [](const auto& attempt) {
        return attempt->verdict && !attempt->taken;
    });
    if (ended == peers_.end()) return nullptr;
    (*ended)->taken = true;
    return ended->get();
}

unsigned HedgedFetch::peers_open() const {
    return static_cast<unsigned>(std::count_if(
        peers_.begin(), peers_.end(), [](const auto& attempt) { return !attempt->verdict; }));
}

void HedgedFetch::won_by(const PeerAttempt* winner) {
    for (const auto& attempt : peers_) {
        if (attempt.get() == winner || attempt->taken || attempt->lost) continue;
        attempt->lost = true;
        attempt->request.lost();
    }
}

}  // namespace proxy
