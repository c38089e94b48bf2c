#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/async/wakeup.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/interim.hpp"
#include "proxy/http/live_fields.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/request/request.hpp"
#include "proxy/request/request_stats.hpp"
#include "proxy/request/response_writer.hpp"

namespace proxy {

class TunnelOpener;

/// One request of a client and the response to it: the parts that the code above the transport seam
/// works with, and the few steps that need more than one of them. The parts outlive this. One
/// thread, one coroutine at a time.
struct Transaction {
    ClientService& service;
    ClientService::Connection& connection;
    Request& request;
    ResponseWriter& writer;
    RequestStats& stats;
    std::shared_ptr<base::Wakeup> wakeup;  // of the coroutine that serves the connection
    /// Where the request can become a tunnel; else null.
    TunnelOpener* opener = nullptr;
    std::string edited_fields = {};  // of the stored head, where a rule changes it

    const LoadedConfig& config() const { return request.config(); }

    /// The head of a response to this request with a body of `length` bytes. A status without
    /// content, and a HEAD request, leave the body out (RFC 9110 §6.4.1).
    ResponseHead head(unsigned status, FieldBlock stored,
                      std::optional<std::uint64_t> length) const;
    /// Adds the fields of this response alone to writer.fields(), and begins the response. `live`
    /// may be null; without `age` there is no Age field. A client's response has its fields changed
    /// as the rule of the request says; a peer's has them as stored.
    void begin(const ResponseHead& head, const LiveFields* live,
               std::optional<std::chrono::seconds> age, const CacheStatus& status);
    /// Sends an interim response, with its fields changed as the rule of the request says.
    boost::asio::awaitable<void> interim(const InterimResponse& response);
    /// The fields of a 1xx response, changed in this way.
    std::string edited_interim(const InterimResponse& response) const;
    /// Sends a response that has begun and has no body.
    boost::asio::awaitable<void> send_head();

    /// Sends a message of this node. `fields`: a FieldBlock beside Date, Via and Cache-Status.
    boost::asio::awaitable<void> respond(unsigned status, FieldBlock fields, std::string_view body,
                                         CacheStatus cache = kOwnAnswer);
    /// Sends a message with a short text for a person.
    boost::asio::awaitable<void> refuse(unsigned status, std::string_view text,
                                        CacheStatus cache = kOwnAnswer, FieldBlock fields = {});
    /// Counts a refusal, and sets the outcome that its reason has.
    void note_refusal(RequestRefusal reason);
    /// Refuses a head that is no good request.
    boost::asio::awaitable<void> refuse_head(ParseError error);
    /// Ends a request after an exception. `begun`: a part of a response has gone out, which cannot
    /// be taken back.
    boost::asio::awaitable<void> refuse_fault(bool begun);
    /// The rule of the request, which a client sent, refuses young content.
    bool judges_age() const;
    /// Why that rule refuses this response as too young, if so. Notes its first sight.
    std::optional<std::string> why_too_young(unsigned status, Fields response,
                                             WallTime arrived) const;
    std::optional<std::string> why_too_young(const StoredMetadata& response) const;
    boost::asio::awaitable<void> refuse_too_young(std::string_view why);
    /// Refuses a request without a site.
    boost::asio::awaitable<void> refuse_without_site(SiteRefusal reason);
    /// The client gets a stored response, or an error, as the origin of the site gave no answer.
    void note_stand_in(bool is_stale);
    /// Refuses a request whose fetch failed. `authority`: the host of the origin, with its port
    /// unless that is the default of the scheme.
    boost::asio::awaitable<void> refuse_fetch(FetchError error, std::string_view authority,
                                              UpstreamRole asked, CacheStatus cache,
                                              ParseError malformed = {});

    /// The list where fetches for this request note the peers they ask; null when no log needs it.
    const std::shared_ptr<PeerRequestLog>& peers_asked();
    /// Notes the content type, if there is a log.
    void note_type(const StoredMetadata& response) {
        if (service.shared.access_log.enabled()) stats.details.note_type(response);
    }

    enum class News : std::uint8_t { come, late, client_left };
    /// Waits for a notice to `wakeup`, until `deadline` and as long as the client is there. When
    /// the client has left, the statistics say `aborted`.
    boost::asio::awaitable<News> wait_for_news(std::chrono::steady_clock::time_point deadline);

    /// Waits until the bandwidth of the client has room, as long as the client is there. False: it
    /// has left, and the statistics say `aborted`. Returns at once without a limit.
    boost::asio::awaitable<bool> wait_for_bandwidth();

private:
    FieldBlock edit(const FieldEdits& edits, FieldBlock stored);
    FieldBlock keep_credentials(FieldBlock stored);
    FieldBlock without_connection_logins(FieldBlock stored);
};

}  // namespace proxy
