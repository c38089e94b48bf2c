#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/request/listed_target.hpp"
#include "proxy/request/peer_proof.hpp"
#include "proxy/request/request_access.hpp"
#include "proxy/request/response_from_cache.hpp"
#include "proxy/request/transaction.hpp"

namespace proxy {

/// The steps from a parsed head to the end of the response, whatever the transport.
/// admit() and choose_route() list them in order; each private function is one step, or a refusal.
/// The transport parses the head before, and closes the statistics and breaks off an incomplete
/// response afterwards. CONNECT is the connection's own matter (connect.hpp). One object serves the
/// requests of a client one after the other, on the thread of its connection. The transaction
/// outlives it.
class RequestSteps {
public:
    explicit RequestSteps(Transaction& transaction)
        : transaction_(transaction), service_(transaction.service), request_(transaction.request) {}
    RequestSteps(const RequestSteps&) = delete;
    RequestSteps& operator=(const RequestSteps&) = delete;

    /// Begins a request: takes the steps that need no wait. A usual hit in memory goes out at once,
    /// without a coroutine. False: run() has to follow.
    bool run_at_once();
    /// Responds by the route that run_at_once() has chosen, or sends the rest of its response.
    boost::asio::awaitable<void> run();

private:
    /// The part that responds to the request.
    enum class Route : std::uint8_t {
        bad_target,
        peer,
        refused_client,
        limits,  // bound the client: they wait, and choose_route() goes on
        purge,
        last_hop,
        no_site,
        listed,
        upgrade,
        past_the_cache,
        cache
    };
    /// Where OPTIONS ends, and where TRACE does.
    enum class Hops : std::uint8_t { pass_on, last_hop, malformed, echo };

    Route admit();
    Route choose_route();
    boost::asio::awaitable<void> run_if_admitted();
    std::string_view understand();
    TargetError find_target();
    std::optional<RequestRefusal> judge_client();
    Hops judge_hops();
    AccessTarget access_target() const;
    bool is_refused_by_list();
    bool is_too_young(const ResponseFromCache& response);
    bool claims_tls() const;
    bool is_upgrade() const;
    bool is_get_or_head() const;
    bool goes_past_the_cache() const;

    boost::asio::awaitable<void> serve_peer();
    boost::asio::awaitable<void> end_here();
    boost::asio::awaitable<void> pass_upgrade();
    boost::asio::awaitable<void> pass_by();
    boost::asio::awaitable<void> respond_from_cache();
    boost::asio::awaitable<void> refuse_target();
    boost::asio::awaitable<void> refuse_client();
    boost::asio::awaitable<void> refuse_misdirected();

    Transaction& transaction_;
    ClientService& service_;
    Request& request_;
    Route route_ = Route::bad_target;
    // The reason for the route:
    std::string_view bad_target_;
    std::optional<ProvenPeer> peer_;
    std::optional<RequestRefusal> refusal_;
    Hops hops_ = Hops::pass_on;
    std::optional<ListedPage> page_;  // of a refusal
    std::string max_forwards_;        // that the next hop reads
    /// What run_at_once() leaves for run().
    std::optional<ResponseFromCache> response_;
};

}  // namespace proxy
