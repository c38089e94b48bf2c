#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/timer_wheel.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/origin_permit.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

/// The lines that a node adds to a client's request, and the version that they name.
struct AddedLines {
    std::string text = {};  // each line with its CRLF
    /// Set: conditions or If-Range name a version that came from this source_of(). They are for its
    /// URL alone.
    std::optional<std::string> source = std::nullopt;
    /// As OriginTerms::pin has it, for the URL of `source`.
    std::optional<std::uint32_t> server = std::nullopt;
    bool wants_part = false;  // of that version; its other URLs have none
};

/// The origin request of a fetch, alone or beside peers. The fetch and, beside peers, the request's
/// coroutine share it. A lost one is given up after kLatestHead. Where the rule of the request says
/// so, it follows redirects. The response to a request of a mirror is the rewritten one.
struct OriginAttempt final : base::TimerWheel::Timer {
    /// Precondition: `asks` has an origin. `has_a_stored`: a stored response may be given while the
    /// origin is unreachable.
    OriginAttempt(Upstream& in, std::shared_ptr<const RequestSnapshot> asks, bool has_a_stored,
                  AddedLines lines = {})
        : upstream(in),
          snapshot(std::move(asks)),
          has_stand_in(has_a_stored),
          added(std::move(lines)),
          permit(upstream, *snapshot->origin(), {has_stand_in, true, pin_of_first()}),
          exchange_(upstream.pool, upstream.head_limits()) {}

    /// Sends the request with the added lines and waits for the final head. A redirect whose target
    /// cannot be had is the response itself, unless a stored response can be given, or a part is
    /// wanted.
    boost::asio::awaitable<FetchError> run();
    /// The owner uses the result of a request that went out beside a peer.
    void take();
    /// The request loses its owner, which the worker's counters show. No effect after take(), or on
    /// a request without a peer beside it.
    void lose();

    /// The response, and the way to its body.
    Exchange& response() { return followed_ ? *followed_ : exchange_; }
    const Exchange& response() const { return followed_ ? *followed_ : exchange_; }
    /// The response has answered the added lines. False: its URL got none, as the lines are about a
    /// version of another URL.
    bool lines_count() const { return lines_count_; }

    Upstream& upstream;
    const std::shared_ptr<const RequestSnapshot> snapshot;
    const bool has_stand_in;
    const AddedLines added;
    std::function<void()>
        on_end;  // for an owner that waits for other events, too; not called after lose()
    OriginPermit permit;
    bool under_way = false;            // beside a peer
    std::optional<FetchError> result;  // once it has ended
    bool lost = false;

private:
    boost::asio::awaitable<FetchError> run_and_follow();
    boost::asio::awaitable<FetchError> run_for_mirror();
    std::optional<std::uint32_t> pin_of_first() const {
        return names_another_url() ? std::nullopt : added.server;
    }
    bool names_another_url() const { return added.source && !added.source->empty(); }
    bool is_source(const CacheKey& url) const;
    std::optional<std::chrono::seconds> min_age_of(const CacheKey& url) const;
    void expire() override { response().abandon(); }

    Exchange exchange_;
    std::unique_ptr<Exchange> followed_;  // null: the first response counts
    CacheKey source_url_;                 // with a mirror: the last URL
    bool taken_ = false;
    bool lines_count_ = true;
};

}  // namespace proxy
