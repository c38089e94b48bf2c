#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/access/client_share.hpp"
#include "proxy/config/loaded_config.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/request/client_access.hpp"
#include "proxy/request/head_for_origin.hpp"
#include "proxy/request/head_trace.hpp"
#include "proxy/request/intercepted_connect.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/site.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The body of a request as it comes from the client. A transport implements it. One thread.
class RequestBody {
public:
    virtual ~RequestBody() = default;

    /// All of it was taken, or there is none.
    virtual bool done() const = 0;
    /// The length that the head states.
    virtual std::optional<std::uint64_t> length() const = 0;
    /// There is a body whose length the head does not state.
    virtual bool has_open_length() const = 0;
    /// Bytes of it are here that take() would give.
    virtual bool has_come() const = 0;
    /// Appends views of the bytes that have come; they stay valid until receive_more(). False: the
    /// bytes are no body, and error() says why.
    virtual bool take(std::vector<std::string_view>& pieces) = 0;
    /// Takes the framing of a body that has come and turns out to have no bytes. Then it is done().
    virtual void take_empty() {}
    virtual ParseError error() const = 0;
    /// Waits for more. False when none comes any more, or fewer bytes than limits.client_rate_min.
    virtual boost::asio::awaitable<bool> receive_more() = 0;
    /// Ends a receive_more() that waits, as if nothing came any more; the next one waits again.
    virtual void interrupt() = 0;
};

/// The upstream connection that a login has made a client's (connection_login.hpp), with the origin
/// of its URLs. A trusted proxy may send the requests of several clients over one connection.
struct OwnUpstream {
    UpstreamPtr connection;  // null: there is none
    std::string origin, client;

    bool serves(std::string_view of_origin, std::string_view of_client) const {
        return connection && origin == of_origin && client == of_client;
    }
};

/// One request of a client, as its head and its connection state it. The object lives as long as
/// the connection and is reused for each request. One thread.
struct Request {
    Head head;
    CacheKey key;
    summary::KeyHash hash;  // of the key
    RequestDirectives directives;
    Requester requester;
    std::shared_ptr<const LoadedConfig>
        settings;                  // in effect for this request, whatever is reloaded
    Scheme scheme = Scheme::http;  // of the connection; in HTTP/2, as the request states
    Site site;                     // of `key`, in `settings`
    bool from_peer = false;        // a peer sent it, so it is no client request
    RequestBody* body = nullptr;
    EnclosingConnect inside;
    OwnUpstream own_upstream;  // in HTTP/1 alone
    /// Its part in the limits of its client, from its admission to its end; null without limits.
    std::unique_ptr<ClientShare> share;

    const LoadedConfig& config() const { return *settings; }
    /// Begins the next request under `in_effect`. The caller parses the head into `head`.
    void begin(const std::shared_ptr<const LoadedConfig>& in_effect,
               const boost::asio::ip::address& remote);

    /// The request goes to the origin of own_upstream, and is of its client.
    bool has_own_upstream() const { return own_upstream.serves(key.origin(), requester.text()); }
    /// Whether the request may go over own_upstream, or make its connection that. The login stays
    /// while its client visits other origins, and ends when the client logs in there.
    bool take_own_upstream();
    /// It logs a connection in, or comes after that: its response is for this client alone.
    bool is_logged_in() const;
    /// The upstream of the site; none without a site.
    std::optional<UpstreamTarget> origin() const {
        return target_of(config(), site, key, requester.text());
    }
    /// The request and its site for a fetch, which may outlive the request. `whole`: as
    /// RequestSnapshot has it.
    std::shared_ptr<const RequestSnapshot> snapshot(bool whole) const {
        auto kept = std::make_shared<RequestSnapshot>(
            head, key, whole, keep_site(settings, site, key, requester.text()));
        if (trace()) trace_.give(*kept);
        return kept;
    }

    /// Begins the trace of this request (HeadTrace::take()). Precondition: `tracing` is set.
    void take_trace(bool trusted, SpanQueue& spans) {
        trace_.take(head.fields, trusted, config().tracing->sample_ratio, spans);
    }
    void drop_own_trace() { trace_.drop_own(); }
    /// Of take_trace().
    const RequestTrace& trace() const { return trace_.trace(); }

    /// A trusted proxy has stated these parts of the target, and the key has them from it.
    void note_stated(StatedParts parts) { for_origin_.note_stated(parts); }

    /// Writes the statements about client and target into the head that an origin reads there, once
    /// for each request: before the request goes to an origin, and before the store selects a
    /// variant, because a response may vary by them. A peer's request gets only statements that do
    /// not depend on the client.
    void rewrite_forwarded();
    bool forwarded_is_rewritten() const { return for_origin_.is_written(); }
    /// The client itself has sent Authorization or another credential, at a mirror; a rule may have
    /// set further ones.
    bool has_own_credential() const { return for_origin_.has_own_credential(head.fields); }

    /// Bytes of memory that are kept from request to request.
    std::size_t kept_bytes() const;
    void give_back();

private:
    void edit_fields(const FieldEdits& edits);
    bool goes_where_credentials_go() const;
    void drop_overrides();

    HeadTrace trace_;
    HeadForOrigin for_origin_;
};

}  // namespace proxy
