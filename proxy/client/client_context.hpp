#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "proxy/client/client_access.hpp"
#include "proxy/client/client_connection.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/http/outcome.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/telemetry/access_log.hpp"
#include "proxy/telemetry/peers_asked.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

/// What is known of one request's end so far; becomes counters and a log line when the answer has
/// ended.
struct Transaction {
    std::chrono::steady_clock::time_point begun;
    unsigned status = 0;
    std::uint64_t body_bytes = 0;      // that the socket took
    BytesBySource from;                // of these, in answers of the store or by way of it
    Outcome outcome = Outcome::error;  // with a body, `from` has the last word
    CacheResult cache = CacheResult::bypass;
    Source source = Source::none;
    std::string peer;  // that gave the answer, or a part of it; of a peer's question, who asks
    std::shared_ptr<PeersAsked> peers_asked;  // for the log; null: none was, or there is no log
    std::string server;  // address of the last origin that answered; empty: none was asked, or did
    std::string content_type;
    Forward forward = Forward::uri_miss;  // why the store could not answer
    std::string cache_status;             // as sent, if there is a log
    bool validated = false;
    bool recalled = false;  // what was stored had to be read from the disk first
    bool client_reload = false;
    bool aborted = false;         // ended before its end
    bool cut = false;             // that was our doing, as nothing more came from upstream
    bool tunnelled = false;       // body_bytes did not go by the connection's own count
    bool told_of_client = false;  // see ClientContext::tell_of_client()
    bool from_peer = false;       // a peer's question: no client request, so not counted as one

    void note_server(const std::string& address) {
        if (!address.empty()) server = address;
    }
    /// The body ends too soon: what is still to come cannot be had.
    void cut_short() { aborted = cut = true; }
    /// Outcome and source by where most of the body came from.
    void settle();
};

/// One client connection and the request on it that is being answered. One thread, one coroutine at
/// a time.
struct ClientContext {
    ClientContext(Frontend& owner, Admitted client)
        : frontend(owner),
          settings(owner.settings),
          connection(owner, std::move(client)),
          wakeup(std::make_shared<Wakeup>(owner.executor)) {
        requester.settle(*settings, connection.remote_address());
    }

    /// The rules of this request, whatever is reloaded meanwhile; valid until the transaction ends.
    const Config& config() const { return *settings; }
    /// The next request goes by what is in effect now.
    void renew_config() {
        // The count of owners is shared by all workers: it is left alone as long as nothing
        // changed.
        if (settings == frontend.settings) return;
        settings = frontend.settings;
        requester.settle(*settings, connection.remote_address());
    }

    /// The upstream of the request's site; none without a site.
    std::optional<UpstreamTarget> origin() const { return target_of(site, key, requester.text()); }
    /// The request and its site for a fetch, which may outlive the request. `whole`: as
    /// RequestSnapshot has it.
    std::shared_ptr<const RequestSnapshot> snapshot(bool whole) const {
        return std::make_shared<RequestSnapshot>(head, key, whole,
                                                 keep_site(settings, site, key, requester.text()));
    }

    /// Writes into the head what an origin is to read of the client there, once in a transaction:
    /// before the request goes to an origin, and before a response that varies is looked for, as it
    /// may vary by that. A peer's question (transaction.from_peer) is given what does not depend on
    /// the client.
    void tell_of_client();

    /// Will the connection carry another request after this answer?
    bool keep_alive() const {
        return parser && parser->keep_alive() && parser->is_done() &&
               parser->error() == ParseError::ok && !connection.ending();
    }

    /// How the end of a body is marked for this client; `length` empty: not known.
    Framing framing(unsigned status, std::optional<std::uint64_t> length) const;

    /// Composes the head of an answer into `buffers`: `stored_head`, then what belongs to this
    /// answer alone.
    void compose(const std::string& stored_head, const LiveFields* live,
                 std::optional<std::chrono::seconds> age, const CacheStatus& status,
                 Framing framing, std::uint64_t length);

    /// Books the bytes of the body that went out since the last call, whether all was sent or not.
    /// Behind the head, or what was booked last, `before` bytes of framing went first, then at most
    /// `body` bytes of the body, then framing again.
    std::uint64_t book(std::uint64_t before = 0,
                       std::uint64_t body = std::numeric_limits<std::uint64_t>::max());

    /// Where fetches for this request tell of the peers they ask; null when nobody wants to know.
    const std::shared_ptr<PeersAsked>& peers_asked();

    /// Keeps what the access log wants to know of a response, if there is a log.
    void note_type(const StoredResponse& response);

    /// Answers with a message of our own; true when the connection can carry another request.
    /// `lines`: fields that end in CRLF, beside Date, Via, Cache-Status and those of framing.
    boost::asio::awaitable<bool> answer(unsigned status, std::string_view lines,
                                        std::string_view body, CacheStatus cache = kOwnAnswer);
    /// The same with a short text for a person, and these field lines.
    boost::asio::awaitable<bool> refuse(unsigned status, std::string_view text,
                                        CacheStatus cache = kOwnAnswer,
                                        std::string_view lines = {});
    /// The same for a request without a site.
    boost::asio::awaitable<bool> refuse_without_site(NoSite reason);
    /// Counts a fetch that failed because its destination is closed.
    void note_refused(FetchError error);

    enum class News { come, late, client_left };
    /// Waits for a notice to `wakeup`, until `deadline` and as long as the client is there; when it
    /// is not, the transaction is `aborted`.
    boost::asio::awaitable<News> wait_for_news(std::chrono::steady_clock::time_point deadline);

    /// Counts and logs the transaction.
    void finish_transaction();

    /// Between two requests, when nothing of the next one has come yet: what the last one has left
    /// behind goes if it is more than kIdleBytes. What is small is kept, as the next one needs it.
    void rest();
    static constexpr std::size_t kIdleBytes = 4 * 1024;

    Frontend& frontend;
    std::shared_ptr<const Config> settings;
    ClientConnection connection;
    std::shared_ptr<Wakeup> wakeup;
    Requester requester;
    ForwardedFields forwarded;  // what `head` says of the client, rewritten
    Head head;
    std::optional<RequestParser> parser;
    CacheKey key;
    Site site;  // of `key`, in `settings`
    // A trusted proxy has stated these of the target, and the key has them from it.
    bool states_scheme = false, states_host = false;
    summary::KeyHash hash;
    RequestDirectives directives;
    Transaction transaction;
    std::vector<boost::asio::const_buffer> buffers;
    std::string out;  // what `buffers` views, beside stored bytes
    std::string own_head;

private:
    void drop_overrides();

    std::uint64_t booked_ = 0;  // bytes of the answer, its head included
};

}  // namespace proxy
