#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "proxy/request/client_watch.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/request/upload.hpp"
#include "proxy/upstream/exchange.hpp"
#include "proxy/upstream/origin_permit.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

class KeptCopy;
class ResponseFromCache;

/// Passes one request through to the origin and the response back. Bodies stream both ways in
/// bounded memory, and nothing of a response is stored but the copy that a POST names (KeptCopy).
/// Relayed are methods other than GET, requests with a body, ranges that cannot become a part of
/// stored content, and requests that forbid storing. One coroutine; the transaction
/// outlives it. Precondition: the request has a site.
///
/// Interim responses pass as they come, and the origin answers Expect: 100-continue. The origin
/// also chooses the moment of its response: if it refuses a body that is not sent yet, or answers
/// and closes, the rest is not sent and the client gets the response at once (RFC 9112 §9.5). If it
/// answers and goes on to read, the body is sent first.
///
/// A success of an unsafe method invalidates the content stored under the target (RFC 9111 §4.4).
/// HEAD and POST may change it (store_update.hpp).
class Relay {
public:
    /// `upgrade`: protocols to ask for (RFC 9110 §7.8), or empty; after a 101 the connection is a
    /// tunnel.
    /// `stale`: has the stored response that may stand in for the origin's; null: none does.
    Relay(Transaction& transaction, std::string upgrade, ResponseFromCache* stale);
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    boost::asio::awaitable<void> run(CacheStatus status, Outcome outcome);

private:
    using Clock = std::chrono::steady_clock;

    const LoadedConfig& config() const { return transaction_.config(); }
    bool backs_off() const;
    boost::asio::awaitable<FetchError> ask();
    FetchError trouble(FetchError error) const;
    FetchError rewrite();
    bool goes_on_without_range();
    boost::asio::awaitable<FetchError> put();
    boost::asio::awaitable<FetchError> put_once(Clock::time_point connect_by);
    boost::asio::awaitable<FetchError> send_once(const Exchange::Request& out, ConnectionReuse kept,
                                                 Clock::time_point connect_by, bool expects);
    std::string own_lines(bool expects) const;
    bool expects_continue() const;

    boost::asio::awaitable<void> become_tunnel();
    boost::asio::awaitable<void> respond(CacheStatus status, Outcome outcome);
    ResponseHead response_head() const;
    boost::asio::awaitable<std::size_t> invalidate();
    boost::asio::awaitable<void> wait_until_kept();
    boost::asio::awaitable<bool> pass_body(KeptCopy& copy);
    boost::asio::awaitable<bool> pass_pieces();
    boost::asio::awaitable<void> refuse(FetchError error, CacheStatus status);
    boost::asio::awaitable<void> refuse_open_length(CacheStatus status);
    bool switched() const { return exchange_.head().status == 101; }
    bool switched_unasked() const;
    bool unasked_304();
    bool client_gone() const { return client_gone_ || upload_.client_gone(); }

    Transaction& transaction_;
    ClientService& service_;
    Request& request_;
    std::shared_ptr<const RequestSnapshot> snapshot_;
    const bool repeatable_;  // the request as a whole may be sent more than once
    OriginPermit origin_permit_;
    Exchange exchange_;
    ClientWatch watch_;
    Upload upload_;
    Clock::time_point sent_at_;
    const std::string upgrade_;  // the protocols to ask for; empty: none
    ResponseFromCache* const stale_;
    bool begun_ = false;      // a server was sent a request that is not repeatable_
    bool sent_whole_ = true;  // the request, so the connection can carry another one
    bool client_gone_ = false;
};

/// Relays a request to its site, or refuses it when there is nowhere to go. `why` goes into
/// Cache-Status, `outcome` into the statistics.
/// A HEAD gets the head of a stored response in `stale` where a GET would get that response.
boost::asio::awaitable<void> relay_to_origin(Transaction& transaction, Forward why, Outcome outcome,
                                             std::string upgrade = {},
                                             ResponseFromCache* stale = nullptr);

}  // namespace proxy
