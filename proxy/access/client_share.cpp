#include "proxy/access/client_share.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

namespace proxy {
namespace {

constexpr double kPiecesPerSecond = 8;
constexpr double kMostOfPiece = 256 * 1024;
constexpr double kLeastOfPiece = 1024;  // a smaller one costs more than it carries
/// Nobody knows when a request ends.
constexpr std::chrono::seconds kWhileFull{1};

double sharers(const Account& account) {
    return std::max(account.in_progress.load(std::memory_order_relaxed), 1u);
}

double piece_of(const Account& account, const BucketRate& rate) {
    const auto all = rate.per_second / kPiecesPerSecond;
    return std::max(all / sharers(account), std::min(all, kLeastOfPiece));
}

}  // namespace

BucketRate request_rate(const ClientAllowance& limits) {
    const auto burst = limits.burst > 0 ? limits.burst : limits.requests;
    return {static_cast<double>(limits.requests), static_cast<double>(burst)};
}

BucketRate byte_rate(const ClientAllowance& limits) {
    const auto bytes = static_cast<double>(limits.bandwidth);
    return {bytes, bytes};
}

std::uint64_t retry_after(TokenBucket::Time again_at, TokenBucket::Time now) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(again_at - now).count();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 1));
}

ClientShare::Entered ClientShare::enter(const std::shared_ptr<Account>& account,
                                        const ClientAllowance& limits, Time now) {
    AccountUse use(account);
    if (limits.connections > 0 &&
        use->in_progress.load(std::memory_order_relaxed) > limits.connections)
        return {OverLimit::connections, now + kWhileFull};
    if (limits.requests > 0) {
        const auto ready = use->requests.take_if_there(now, request_rate(limits));
        if (ready > now) return {OverLimit::rate, ready};
    }
    if (limits.bandwidth > 0) paced_.emplace_back(&*use, byte_rate(limits));
    uses_.push_back(std::move(use));
    return {};
}

void ClientShare::leave() {
    paced_.clear();
    uses_.clear();
}

std::uint64_t ClientShare::piece() const {
    if (paced_.empty()) return std::numeric_limits<std::uint64_t>::max();
    auto piece = kMostOfPiece;
    for (const auto& [account, rate] : paced_) piece = std::min(piece, piece_of(*account, rate));
    return static_cast<std::uint64_t>(std::max(piece, 1.0));
}

std::chrono::nanoseconds ClientShare::time_to_turn(Time now) const {
    auto time = ready_at(now) - now;
    for (const auto& [account, rate] : paced_)
        time = std::max(time, rate.time_for(piece_of(*account, rate) * sharers(*account)));
    return time;
}

/// A client may go into debt by one piece, so it needs no whole piece of tokens to begin with.
ClientShare::Time ClientShare::ready_at(Time now) const {
    auto ready = now;
    for (const auto& [account, rate] : paced_)
        ready = std::max(ready, account->bytes.ready_at(now, rate));
    return ready;
}

void ClientShare::sent(std::uint64_t bytes, Time now) {
    for (const auto& [account, rate] : paced_)
        account->bytes.take(now, rate, static_cast<double>(bytes));
}

}  // namespace proxy
