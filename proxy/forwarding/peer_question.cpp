#include "proxy/forwarding/peer_question.hpp"

#include "proxy/forwarding/failure_log.hpp"
#include "proxy/http/cache_status.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

PeerQuestion::PeerQuestion(Worker& worker, const Config& config, const Peer& peer)
    : worker_(worker),
      budget_(config.cluster->peer_budget),
      peer_(peer),
      exchange_(worker.pool, worker.head_limits()) {
    exchange_.count_into(worker.counters.bytes_from_peers);
}

PeerQuestion::~PeerQuestion() {
    close(PeerVerdict::failure);
}

UpstreamTarget PeerQuestion::target() const {
    return {peer_.http_host, static_cast<std::uint16_t>(std::stoul(peer_.http_port)), false};
}

/// The peers may change while we wait, and with them the records: a name finds its record again.
PeerRecord* PeerQuestion::record() {
    return worker_.record_of(peer_.node);
}

asio::awaitable<PeerVerdict> PeerQuestion::ask(std::string request, bool promised) {
    ++worker_.counters.peer_requests;
    if (auto* record = this->record()) record->asked();
    open_ = true;
    begun_ = Clock::now();
    const Exchange::Request out{std::move(request), false, true};
    const auto target = this->target();
    const Exchange::Patience patience{begun_ + budget_, budget_, begun_ + budget_};
    const auto error = co_await exchange_.run(target, out, patience);
    round_trip_ = Clock::now() - begun_;
    if (error != FetchError::none) {
        failed_by_ = error;
        const auto late = error == FetchError::head_timeout || error == FetchError::connect_timeout;
        close(late ? PeerVerdict::timeout : PeerVerdict::failure);
        co_return late ? PeerVerdict::timeout : PeerVerdict::failure;
    }
    const auto& head = exchange_.head();
    const auto reason = head.status == 504 ? refusal_of(head.fields) : Refusal::unknown;
    if (reason == Refusal::unknown) co_return PeerVerdict::hit;  // a 504 may also be stored
    const auto verdict =
        reason == Refusal::absent && !promised ? PeerVerdict::refused : verdict_of(reason);
    close(verdict);
    auto rest = FetchError::none;  // read to its end, so that the connection can be used again
    while (rest == FetchError::none && !exchange_.done())
        rest = co_await exchange_.read_body(Clock::now() + budget_);
    exchange_.finish();
    co_return verdict;
}

void PeerQuestion::close(PeerVerdict verdict) {
    if (!open_) return;
    open_ = false;
    auto* record = this->record();
    if (record == nullptr) return;
    const auto now = Clock::now();
    record->ended(verdict, round_trip_, now);
    const auto failed = verdict == PeerVerdict::failure || verdict == PeerVerdict::timeout;
    if (failed && record->broken() && failed_by_ != FetchError::abandoned)
        log_peer_failures(worker_.upstream_log, peer_.node, target(), failed_by_,
                          exchange_.malformed(), record->closed_until() - now);
}

}  // namespace proxy
