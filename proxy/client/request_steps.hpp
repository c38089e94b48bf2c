#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/client/listed_target.hpp"
#include "proxy/client/peer_proof.hpp"
#include "proxy/client/request_admission.hpp"
#include "proxy/client/transaction.hpp"
#include "proxy/storage/store.hpp"

namespace proxy {

class ResponseFromCache;

/// The steps from a parsed head to the end of the response, whatever the transport.
/// run_steps() lists them in order; each private function is one step, or a refusal. The transport
/// parses the head before, and closes the books and breaks off an incomplete response afterwards.
/// CONNECT is the connection's own matter (connect.hpp). One object serves the requests of a client
/// one after the other, on the thread of its connection. The transaction outlives it.
class RequestSteps {
public:
    explicit RequestSteps(Transaction& transaction)
        : transaction_(transaction),
          frontend_(transaction.frontend),
          request_(transaction.request) {}
    RequestSteps(const RequestSteps&) = delete;
    RequestSteps& operator=(const RequestSteps&) = delete;

    boost::asio::awaitable<void> run();
    /// The steps of a usual hit in memory, if the transport takes the response at once. They need
    /// no coroutine. False: run() has to follow.
    bool run_at_once();

private:
    /// Where OPTIONS ends, and where TRACE does.
    enum class Hops : std::uint8_t { pass_on, last_hop, malformed, echo };

    boost::asio::awaitable<void> run_steps();
    boost::asio::awaitable<void> run_if_admitted();
    std::string_view understand();
    TargetError find_target();
    std::optional<RequestRefusal> judge_client();
    Hops judge_hops();
    AskedPlace asked_place() const;
    bool may_be_listed() const;
    bool is_refused_by_list();
    bool is_too_young(const ResponseFromCache& response);
    bool claims_tls() const;
    bool is_upgrade() const;
    bool is_get_or_head() const;
    bool goes_past_the_cache() const;

    boost::asio::awaitable<void> serve_peer(ProvenPeer peer);
    boost::asio::awaitable<void> end_here(Hops here);
    boost::asio::awaitable<void> pass_upgrade();
    boost::asio::awaitable<void> pass_by();
    boost::asio::awaitable<void> refuse_target(std::string_view why);
    boost::asio::awaitable<void> refuse_client(RequestRefusal reason);
    boost::asio::awaitable<void> refuse_misdirected();

    Transaction& transaction_;
    Frontend& frontend_;
    Request& request_;
    std::string max_forwards_;        // that the next hop reads
    std::optional<ListedPage> page_;  // of a refusal; here, as the frame of run_steps() is small
    // What run_at_once() leaves for run_steps(): the result of understand(), and that of the
    // look-up.
    std::optional<std::string_view> understood_;
    std::optional<Store::Found> found_;
};

}  // namespace proxy
