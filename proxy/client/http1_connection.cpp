#include "proxy/client/http1_connection.hpp"

#include <algorithm>

#include "proxy/client/client_context.hpp"
#include "proxy/client/error_response.hpp"
#include "proxy/client/purge_response.hpp"
#include "proxy/client/relay.hpp"
#include "proxy/client/response_from_cache.hpp"
#include "proxy/client/tunnel.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/hops.hpp"
#include "proxy/http/request_line.hpp"
#include "proxy/http/upgrade.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

/// What an HTTP/1.0 request asks for that names no host, as health checks of load balancers do: the
/// host of the origin that takes all hosts. Empty: there is none.
std::string host_of_any(const std::vector<OriginConfig>& origins) {
    const auto any = std::find_if(origins.begin(), origins.end(),
                                  [](const OriginConfig& entry) { return entry.host == "*"; });
    if (any == origins.end()) return {};
    auto host = any->server.text();
    const auto scheme = any->tls ? Scheme::https : Scheme::http;
    if (any->server.port == default_port(scheme)) host.resize(host.rfind(':'));
    return host;
}

bool take_last(std::string_view& words, std::string_view word) {
    const auto there = words.ends_with(word);
    if (there) words.remove_suffix(word.size());
    return there;
}

/// Answers the requests of one connection.
class Http1Connection {
public:
    Http1Connection(Frontend& frontend, Admitted client)
        : client_(frontend, std::move(client)), frontend_(frontend) {}

    asio::awaitable<void> run() {
        if (client_.config().clients.proxy_protocol && client_.requester.through_trusted_proxy()) {
            using Read = ClientConnection::ProxyHeaderRead;
            const auto read = co_await client_.connection.receive_proxy_header();
            // A peer at an address of the proxies sends none. What it proves with each question is
            // as good; nothing else is answered without the header.
            only_for_peers_ = read == Read::missing && frontend_.upstream.peers &&
                              client_.connection.scheme() == Scheme::http;
            if (read != Read::good && !only_for_peers_) {
                if (read != Read::refused)
                    ++frontend_.counters.refusals[RequestRefusal::proxy_header];
                co_return;
            }
            client_.requester.settle(client_.config(), client_.connection.remote_address());
        }
        if (client_.connection.scheme() == Scheme::https) {
            const auto secured = co_await client_.connection.handshake();
            if (secured == ClientConnection::Handshake::plain_http) co_await refuse_plain_http();
            if (secured != ClientConnection::Handshake::done) co_return;
        }
        for (;;) {
            if (client_.connection.input().empty()) client_.rest();
            const auto received = co_await client_.connection.receive_head();
            if (received == ClientConnection::Received::closed) {
                client_.connection.part();
                co_return;
            }
            begin_transaction();
            auto keep = false;
            const auto parsed = received == ClientConnection::Received::head && parse();
            PeerRequestOptions unused;
            if (only_for_peers_ && !(parsed && proven_peer(unused))) {
                ++frontend_.counters.refusals[RequestRefusal::proxy_header];
                client_.parser.reset();
                client_.connection.part();
                co_return;
            }
            if (received == ClientConnection::Received::head) {
                if (!parsed) {
                    co_await refuse_parse();
                    show_line(client_.connection.head_bytes());
                } else {
                    auto failed = false;
                    try {
                        keep = co_await handle();
                    } catch (...) {
                        failed = true;
                        if (is_cancelled()) throw;
                        frontend_.shared.faults.note("client connection");
                    }
                    if (failed) co_await refuse_fault();
                }
            } else if (received == ClientConnection::Received::timed_out) {
                ++frontend_.counters.refusals[RequestRefusal::timeout];
                co_await client_.refuse(408, "The request's head did not come in time.");
                show_line(client_.connection.input().data());
            } else {
                parse_error_ = client_.connection.refusal();
                co_await refuse_parse();
                show_line(client_.connection.input().data());
            }
            client_.finish_transaction();
            if (!keep) break;
        }
        if (client_.transaction.aborted) {
            // To HTTP/1.0 a plain end would mean that the body is whole.
            if (client_.head.version < 11) client_.connection.reset();
        } else if (!client_.connection.broken()) {
            const auto unread_body = client_.parser && !client_.parser->is_done();
            co_await client_.connection.linger(unread_body);
        }
    }

private:
    void begin_transaction() {
        client_.renew_config();
        client_.requester.begin();
        client_.transaction = Transaction{};
        client_.transaction.begun = Clock::now();
        client_.head.verb = verb::unknown;
        client_.head.version = 11;
        client_.head.target = client_.head.method = {};
        client_.head.fields.clear();
        client_.connection.begin_answer();
        client_.key.clear();
        client_.parser.reset();
    }

    bool parse() {
        client_.parser.emplace(client_.head, frontend_.upstream.head_limits());
        parse_error_ = client_.parser->parse_head(client_.connection.head_bytes());
        return parse_error_ == ParseError::ok;
    }

    /// For the access log: what came of a request line that was refused. `bytes` stay in place
    /// until the transaction is finished.
    void show_line(std::string_view bytes) {
        const auto shown = shown_request_line(bytes);
        client_.head.method = shown.method;
        client_.head.target = shown.target;
    }

    asio::awaitable<void> refuse_plain_http() {
        begin_transaction();
        co_await client_.refuse(400, "This port speaks TLS: ask for https://.");
        client_.finish_transaction();
        co_await client_.connection.linger();
    }

    /// After an exception. What of the answer has gone out cannot be taken back.
    asio::awaitable<void> refuse_fault() {
        client_.parser.reset();  // close: nobody knows how far it was read
        client_.transaction.outcome = Outcome::error;
        if (client_.connection.answer_bytes() > 0)
            client_.transaction.cut_short();
        else
            co_await client_.refuse(500,
                                    "An error that is not expected; the node's log says which.");
    }

    asio::awaitable<bool> refuse_parse() {
        ++frontend_.counters.refusals[refusal_of(parse_error_)];
        client_.parser.reset();  // whatever follows is not to be trusted: close
        std::string text("The request was refused: ");
        text.append(to_string(parse_error_)).append(".");
        co_await client_.refuse(status_of(parse_error_), text);
        co_return false;
    }

    /// Kept below 1,020 bytes of locals: larger frames of coroutines are not used again.
    asio::awaitable<bool> handle() {
        const auto& head = client_.head;
        if (head.verb == verb::connect) {
            client_.requester.look(client_.config(), head.fields);
            if (!client_.requester.rights().ask) {
                client_.parser.reset();  // what follows was meant for a tunnel
                co_await refuse_client(RequestRefusal::client);
                co_return false;
            }
            co_await tunnel(client_);
            co_return false;
        }
        const auto bad = understand();
        if (!bad.empty()) co_return co_await refuse_target(bad);
        const auto of_entry = client_.site.of_entry();
        PeerRequestOptions options;
        if (const auto peer = proven_peer(options)) {
            // A token lets a peer ask, and nothing else.
            const auto asks = head.verb == verb::get || head.verb == verb::head;
            if (!asks || !client_.parser->is_done()) co_return co_await refuse_question();
            client_.transaction.from_peer = true;
            client_.connection.know();
            client_.tell_of_client();
            ResponseFromCache answer(client_);
            co_return co_await answer.run_for_peer(*peer, options);
        }
        auto& requester = client_.requester;
        requester.look(client_.config(), head.fields);
        if (!requester.rights().ask) co_return co_await refuse_client(RequestRefusal::client);
        if (via_names(head.fields, client_.config().node)) co_return co_await refuse_loop();
        if (head.verb == verb::purge) co_return co_await respond_to_purge(client_);
        // Also what is stored and what is asked for in origin-form is only for those who could have
        // it fetched.
        if (!of_entry && client_.config().forward.enabled && !requester.rights().forward)
            co_return co_await refuse_client(RequestRefusal::forward_client);
        if (head.verb == verb::options || head.verb == verb::trace) {
            // Of the server as a whole: this node, where none stands behind it (RFC 9110 §9.3.7).
            if (head.target == "*" && !of_entry) co_return co_await answer_as_last_hop();
            const auto limit = max_forwards(head.fields);
            if (limit.state == MaxForwards::State::malformed)
                co_return co_await refuse_max_forwards();
            if (limit.state == MaxForwards::State::present) {
                if (limit.hops == 0) co_return co_await answer_as_last_hop();
                count_hop(limit.hops);
            }
        }
        // What is stored is given as it would be fetched: by the settings of now, or not at all.
        if (const auto none = client_.site.none)
            co_return co_await client_.refuse_without_site(*none);
        auto upgrade = upgrade_wish(head.fields, head.version, client_.config().upgrade);
        if (upgrade.state == UpgradeWish::State::refused) co_return co_await refuse_upgrade();
        if (upgrade.state == UpgradeWish::State::allowed && client_.parser->is_done()) {
            client_.tell_of_client();
            co_return co_await pass(client_, Forward::bypass, Outcome::uncacheable,
                                    std::move(upgrade.protocols));
        }
        if ((head.verb != verb::get && head.verb != verb::head) || !client_.parser->is_done() ||
            client_.directives.no_store) {
            client_.tell_of_client();
            co_return co_await pass(client_,
                                    head.verb != verb::get && head.verb != verb::head
                                        ? Forward::method
                                        : Forward::bypass,
                                    Outcome::uncacheable);
        }
        ResponseFromCache answer(client_);
        co_return co_await answer.run();
    }

    /// What the head means becomes the client's request. Returns what is wrong with it, or nothing.
    std::string_view understand() {
        auto& head = client_.head;
        const auto bad = find_target();
        if (bad != TargetError::none) return to_string(bad);
        const HopByHop hop_by_hop(head.fields);
        if (hop_by_hop.too_many()) return "too many connection options";
        client_.hash = frontend_.cache.shared.key_hasher(client_.key.uri());
        client_.directives =
            request_directives(head.fields, client_.site.policy.cache->client_directives);
        return {};
    }

    /// Sets the request's key and site. The target URI is what the client has asked for, be it of a
    /// trusted proxy before this node: redirections and links in the answer depend on it, so it is
    /// what the answer is stored under. That proxy's statement counts for what an entry of
    /// `origins` serves, unless this node is to say it anew; its own connection by TLS stays https.
    TargetError find_target() {
        const auto& head = client_.head;
        const auto* line = find(head.fields, field::host);
        std::string named;
        if (!line && head.version < 11) named = host_of_any(client_.config().origins);
        const auto host = line ? line->value : std::string_view(named);
        const auto own = client_.connection.scheme();
        client_.states_scheme = client_.states_host = false;
        const auto path_alone = head.target.starts_with('/') || head.target == "*";
        const auto& config = client_.config();
        const auto take = [&](Scheme scheme, std::string_view by_host) {
            const auto error = client_.key.assign(scheme, head.verb, head.target, by_host);
            if (error == TargetError::none)
                client_.site = choose_site(config, client_.key, !path_alone);
            return error;
        };
        if (path_alone && client_.requester.through_trusted_proxy() &&
            config.forwarded.origins != ForwardedMode::replace) {
            const auto stated = stated_target(head.fields);
            const auto scheme = own == Scheme::https ? own : stated.scheme.value_or(own);
            const auto is_served = [&](std::string_view by_host) {
                return take(scheme, by_host) == TargetError::none && client_.site.of_entry();
            };
            client_.states_host = !stated.host.empty() && is_served(stated.host);
            if (client_.states_host || (stated.scheme && is_served(host))) {
                client_.states_scheme = stated.scheme.has_value();
                return TargetError::none;
            }
        }
        return take(own, host);
    }

    asio::awaitable<bool> refuse_target(std::string_view why) {
        ++frontend_.counters.refusals[RequestRefusal::malformed];
        client_.parser.reset();  // close: what follows may be as bad
        std::string text("The request target is refused: ");
        text.append(why).append(".");
        co_await client_.refuse(400, text);
        co_return false;
    }

    asio::awaitable<bool> refuse_client(RequestRefusal reason) {
        ++frontend_.counters.refusals[reason];
        const auto text = reason == RequestRefusal::client
                              ? "This proxy is not for " + client_.requester.described() +
                                    " (clients.allow, clients.deny)."
                              : "This is no forward proxy for " + client_.requester.described() +
                                    " (forward.clients).";
        co_return co_await client_.refuse(403, text);
    }

    asio::awaitable<bool> refuse_question() {
        ++frontend_.counters.refusals[RequestRefusal::malformed];
        co_return co_await client_.refuse(400,
                                          "A peer's question is a GET or HEAD without a body.");
    }

    asio::awaitable<bool> refuse_upgrade() {
        ++frontend_.counters.refusals[RequestRefusal::upgrade];
        co_return co_await client_.refuse(403, "WebSockets are not let through (upgrade).");
    }

    asio::awaitable<bool> refuse_loop() {
        ++frontend_.counters.refusals[RequestRefusal::loop];
        const auto text = "A loop: Via says that this request has passed the node " +
                          client_.config().node + " before.";
        co_return co_await client_.refuse(508, text);
    }

    /// A limit that cannot be read cannot be kept; passing the request on would take it further
    /// than its sender may have meant.
    asio::awaitable<bool> refuse_max_forwards() {
        ++frontend_.counters.refusals[RequestRefusal::malformed];
        co_return co_await client_.refuse(400, "Max-Forwards must be one number.");
    }

    /// OPTIONS or TRACE that goes no further (RFC 9110 §7.6.2).
    asio::awaitable<bool> answer_as_last_hop() {
        const auto& head = client_.head;
        std::string lines, body;
        if (head.verb == verb::trace) {
            lines = "Content-Type: message/http\r\n";
            body = traced(head.method, head.target, head.version, head.fields);
        } else {
            lines = "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE";
            lines.append(client_.config().forward.enabled ? ", CONNECT\r\n" : "\r\n");
        }
        client_.transaction.outcome = Outcome::uncacheable;
        co_return co_await client_.answer(200, lines, body);
    }

    /// The Max-Forwards that the next hop reads.
    void count_hop(std::uint32_t hops) {
        max_forwards_ = std::to_string(hops - 1);
        for (auto& line : client_.head.fields)
            if (line.id == field::max_forwards) line.value = max_forwards_;
    }

    /// Which peer the request proves to be from, and what it asks for; nothing: it is no peer's.
    std::optional<std::size_t> proven_peer(PeerRequestOptions& options) const {
        if (!frontend_.upstream.peers || client_.connection.scheme() != Scheme::http)
            return std::nullopt;
        const auto* proof = find(client_.head.fields, kPeerField);
        if (proof == nullptr) return std::nullopt;
        auto words = proof->value;
        options.part = take_last(words, " part");
        options.stale_too = take_last(words, " stale");
        return authenticate(words);
    }

    std::optional<std::size_t> authenticate(std::string_view proof) const {
        const auto space = proof.find(' ');
        if (space == std::string_view::npos) return std::nullopt;
        return frontend_.upstream.peers->authenticate(proof.substr(0, space),
                                                      proof.substr(space + 1));
    }

    ClientContext client_;
    Frontend& frontend_;
    ParseError parse_error_ = ParseError::ok;
    bool only_for_peers_ = false;  // a trusted proxy's PROXY header is missing
    std::string max_forwards_;
};

}  // namespace

asio::awaitable<void> serve_client(Frontend& frontend, Admitted client) {
    Http1Connection connection(frontend, std::move(client));
    co_await connection.run();
}

}  // namespace proxy
