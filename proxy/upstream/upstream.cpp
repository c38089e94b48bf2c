#include "proxy/upstream/upstream.hpp"

#include <functional>
#include <random>
#include <utility>

#include "proxy/http/freshness.hpp"
#include "proxy/http/retry_after.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/upstream/failure_log.hpp"

namespace proxy {
namespace {

std::string place_of_pause(const RequestSnapshot& request) {
    const auto* const rule = request.policy().rule;
    return backoff_key(*request.origin(), request.host, rule ? std::string_view(rule->name) : "");
}

/// One URL at the place. A hash keeps the name short; two URLs with one hash share their pauses.
std::string resource_of_pause(const std::string& place, const RequestSnapshot& request) {
    return place + " " + std::to_string(std::hash<std::string_view>()(request.key.uri()));
}

}  // namespace

Upstream::Upstream(boost::asio::any_io_executor io, base::TimerWheel& timers,
                   const ConfigInEffect& in_effect, base::MemoryBudget& windows,
                   SharedUpstream& of_workers, WorkerCounters& counted)
    : executor(std::move(io)),
      wheel(timers),
      settings(in_effect),
      counters(counted),
      pool(executor, wheel, settings, windows, counters.peer_handshakes),
      origin_answers(settings->constants.origin_silence),
      shared(of_workers),
      peers(std::random_device()()),
      fetches(executor),
      probes(executor) {}

HeadLimits Upstream::head_limits() const {
    const auto& limits = config().limits;
    return {limits.request_line, limits.head, kHeadLines};
}

void Upstream::set_peers(PeerRecords::View view) {
    peers.follow(std::move(view));
    pool.set_peer_places(peers.view() ? peers.view()->places : nullptr);
}

void Upstream::note_part(const UpstreamTarget& origin, const RequestSnapshot& request,
                         FetchError wrong, const Head& response) {
    const auto status = response.status;
    const auto trouble = part_trouble(wrong, status);
    if (trouble == PartTrouble::none) return;
    const auto of_its_user = trouble == PartTrouble::refused && identifies_user(request.fields);
    const auto now = std::chrono::steady_clock::now();
    const auto etag = validators_of(response.fields).etag;
    const auto is_new =
        !of_its_user &&
        shared.part_responses.note(connection_key(origin), request.key.uri(), trouble, etag, now);
    log_part(log, origin, trouble, status, is_new);
}

bool Upstream::in_one_piece(const UpstreamTarget& origin, std::string_view uri) const {
    return shared.part_responses.size() > 0 &&
           shared.part_responses.in_one_piece(connection_key(origin), uri,
                                              std::chrono::steady_clock::now());
}

OriginHealth::Grant Upstream::leave_after_pause(const RequestSnapshot& request) {
    using Grant = OriginHealth::Grant;
    if (backoff.empty() || !request.origin()) return Grant::ask;
    const auto now = OriginBackoff::Time::clock::now();
    const auto place = place_of_pause(request);
    const auto resource = resource_of_pause(place, request);
    const auto may_ask = backoff.may_ask(place, now) && backoff.may_ask(resource, now);
    const auto is_slow = backoff.is_slow(place, now) || backoff.is_slow(resource, now);
    if (may_ask && !is_slow) return Grant::ask;
    ++counters.backed_off_requests;
    return may_ask ? Grant::trial : Grant::no;
}

void Upstream::note_pause(const RequestSnapshot& request, const PauseSignal& answer,
                          bool is_hidden) {
    const auto& [head, arrival, took] = answer;
    const auto asks = asks_for_pause(head.status);
    const auto is_slow = !asks && is_hidden && took >= kSlowTrouble;
    const auto is_over = !asks && !is_slow && !backoff.empty();
    if (!request.origin() || (!(asks && is_hidden) && !is_slow && !is_over)) return;
    const auto place = place_of_pause(request);
    const auto resource = resource_of_pause(place, request);
    if (is_over) backoff.answered(place, arrival.steady);
    if (is_over) return backoff.answered(resource, arrival.steady);
    if (is_slow)
        return backoff.failed_slowly(place, resource, arrival.steady - took, arrival.steady);
    const auto asked_for = retry_after(head.status, head.fields, arrival.wall);
    backoff.refused(place, asked_for, arrival.steady - took, arrival.steady);
}

}  // namespace proxy
