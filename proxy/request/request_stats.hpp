#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "proxy/http/outcome.hpp"
#include "proxy/request/client_service.hpp"
#include "proxy/request/request.hpp"
#include "proxy/request/response_writer.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/telemetry/peer_request_log.hpp"
#include "proxy/telemetry/trace_context.hpp"

namespace proxy {

/// The facts about one request that count nowhere and stand in its line of the access log. The
/// memory of the texts is kept from request to request.
struct LogDetails {
    std::string server;  // address of the last origin that answered
    std::string content_type;
    std::string cache_status;                     // as sent, if there is a log
    std::shared_ptr<PeerRequestLog> peers_asked;  // null: no peer was asked, or there is no log
    /// File and line of the list that has the target; null: none has it. Few requests need it.
    std::unique_ptr<const std::string> blocklist;
    unsigned redirects = 0;      // that were followed
    bool rewritten = false;      // for a mirror, now or when it was stored
    bool validated = false;      // the stored response was confirmed by a 304
    bool client_reload = false;  // the client's own directives forced validation

    void note_server(std::string_view address) {
        if (!address.empty()) server = address;
    }
    /// Keeps the fields of a response that the access log shows. Only if there is a log.
    void note_type(const StoredMetadata& response);

    void clear();
    std::size_t kept_bytes() const;
    void give_back();
};

/// The facts about one request and its response that become counters and a line of the access log.
/// One request at a time, one thread.
struct RequestStats {
    std::chrono::steady_clock::time_point begun;
    unsigned status = 0;
    BytesBySource from;                // bytes of the body, in responses of the store or through it
    Outcome outcome = Outcome::error;  // `from` overrides it if there is a body
    CacheResult cache = CacheResult::bypass;
    Source source = Source::none;
    std::string peer;      // gave the response or a part of it; or the peer that sent the request
    bool aborted = false;  // the response ended before its end
    bool intercepted = false;        // a CONNECT that this node has answered itself
    bool own_body = false;           // this node wrote the body itself: the text of an error
    bool cut = false;                // this node ended it, as nothing more came from upstream
    std::uint64_t tunnel_bytes = 0;  // that a tunnel passed to the client
    TraceContext leader{};           // of the fetch that this request has followed; or invalid
    LogDetails details;

    /// Forgets the last request.
    void begin(std::chrono::steady_clock::time_point now);

    /// The body ends too soon: the rest of it cannot be had.
    void cut_short() { aborted = cut = true; }

    /// Adds the request to the counters and writes its line. `writer` has the counts of bytes. The
    /// request counts in no limit any more.
    void close(ClientService& service, Request& request, const ResponseWriter& writer);

    /// Bytes of memory that are kept from request to request.
    std::size_t kept_bytes() const;
    void give_back();

private:
    void count(ClientService& service, const Request& request, const ResponseWriter& writer);
    /// Adds the request to the counts of its site and rule, and to the most frequent ones.
    void note_site(ClientService& service, const Request& request, std::uint64_t bytes) const;
    /// Decides outcome and source by the origin of most bytes of the body.
    void settle();
    /// Puts the span of the request into the queue. Precondition: its trace is sampled.
    void end_span(const Request& request, const ResponseWriter& writer) const;
    void log(ClientService& service, const Request& request, const ResponseWriter& writer,
             std::chrono::nanoseconds duration) const;
};

}  // namespace proxy
