#include "proxy/admin/server.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <nlohmann/json.hpp>

#include "proxy/admin/admission.hpp"
#include "proxy/admin/metrics_text.hpp"
#include "proxy/admin/status_json.hpp"
#include "proxy/config/config_json.hpp"
#include "proxy/net/listen.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr std::chrono::seconds kDeadline{5};
constexpr std::chrono::milliseconds kAcceptPause{50};
constexpr const char* kJson = "application/json";
constexpr const char* kText = "text/plain; charset=utf-8";

Response answer(const Request& request, http::status status, const char* type, std::string body) {
    Response response(status, request.version());
    response.set(http::field::content_type, type);
    response.set(http::field::cache_control, "no-store");
    response.keep_alive(request.keep_alive());
    response.body() = std::move(body);
    response.prepare_payload();
    return response;
}

/// Why this request is not answered.
std::optional<Response> refuse(const Request& request, const AdminConfig& config,
                               std::string_view target, const asio::ip::address& from) {
    const auto admission = admit(config, request, is_guarded(request.method(), target), from);
    if (admission == Admission::granted) return std::nullopt;
    const auto needs_token = admission == Admission::needs_token;
    auto refusal =
        answer(request, needs_token ? http::status::unauthorized : http::status::forbidden, kText,
               std::string(explain(admission)) + "\n");
    if (needs_token) refusal.set(http::field::www_authenticate, "Bearer realm=\"hearsay\"");
    return refusal;
}

/// Why this request may change nothing. A page in the operator's browser can send a POST here, but
/// not without Origin. `purpose`: what a POST would do.
std::optional<Response> refuse_change(const Request& request, std::string_view purpose,
                                      std::string_view allowed = "POST") {
    if (request.find(http::field::origin) != request.end())
        return answer(request, http::status::forbidden, kText, "Not on a web page's word.\n");
    if (request.method() == http::verb::post) return std::nullopt;
    auto refusal =
        answer(request, http::status::method_not_allowed, kText, std::string(purpose) + "\n");
    refusal.set(http::field::allow, allowed);
    return refusal;
}

std::optional<Response> refuse_unless_json(const Request& request) {
    const auto type = request[http::field::content_type];
    const auto media = type.substr(0, type.find_first_of("; \t"));
    if (beast::iequals(media, kJson)) return std::nullopt;
    return answer(request, http::status::unsupported_media_type, kText,
                  "The Content-Type must be application/json.\n");
}

/// What POST /api/v1/purge asks for, or why it is refused.
std::variant<PurgeOrder, Response> purge_order(const Request& request) {
    if (auto refusal = refuse_change(request, "POST purges, in the whole cluster."))
        return *std::move(refusal);
    if (auto refusal = refuse_unless_json(request)) return *std::move(refusal);
    const auto body = parse_purge(request.body());
    if (const auto* order = std::get_if<PurgeOrder>(&body)) return *order;
    return answer(request, http::status::bad_request, kText, std::get<std::string>(body) + "\n");
}

Response change_peers(const Request& request, const AdminServer::Hooks& hooks) {
    if (auto refusal =
            refuse_change(request, "GET shows the peers, POST changes them.", "GET, HEAD, POST"))
        return *std::move(refusal);
    if (auto refusal = refuse_unless_json(request)) return *std::move(refusal);
    auto order = parse_peer_order(request.body());
    PeersChanged changed;
    if (auto* errors = std::get_if<std::vector<ConfigError>>(&order))
        changed.errors = std::move(*errors);
    else
        changed = hooks.change_peers(std::get<PeerOrder>(order));
    const auto status = changed.errors.empty() ? http::status::ok
                        : changed.draining     ? http::status::conflict
                                               : http::status::unprocessable_entity;
    return answer(request, status, kJson, peers_changed_json(changed));
}

std::string section(const NodeStatus& status, const char* name) {
    return nlohmann::json::parse(status_json(status)).at(name).dump(2) + "\n";
}

std::string readiness(const NodeStatus& status) {
    if (status.draining) return "draining\n";
    return status.ready ? "ready\n" : "not ready\n";
}

http::status status_of(Reloaded::Outcome outcome) {
    switch (outcome) {
        case Reloaded::Outcome::applied:
            return http::status::ok;
        case Reloaded::Outcome::draining:
            return http::status::conflict;
        case Reloaded::Outcome::refused:
            break;
    }
    return http::status::unprocessable_entity;
}

std::string reload_json(const Reloaded& reloaded) {
    nlohmann::ordered_json out;
    if (reloaded.outcome == Reloaded::Outcome::applied) {
        out["changed"] = reloaded.changed;
    } else {
        out["errors"] = errors_json(reloaded.errors);
    }
    return out.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

AdminServer::AdminServer(asio::io_context& control, const Endpoint& where, Hooks hooks)
    : hooks_(std::move(hooks)), acceptor_(control), tasks_(control.get_executor()) {
    const auto fd = listen_shared(where, 1).front();
    acceptor_.assign(where.host.find(':') != std::string::npos ? tcp::v6() : tcp::v4(), fd);
}

void AdminServer::start() {
    tasks_.spawn(accept_loop());
}

void AdminServer::stop() {
    boost::system::error_code ec;
    acceptor_.close(ec);
    tasks_.cancel();
}

asio::awaitable<void> AdminServer::accept_loop() {
    asio::steady_timer pause(acceptor_.get_executor());
    while (acceptor_.is_open()) {
        boost::system::error_code ec;
        auto socket =
            co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, ec));
        if (!ec && tasks_.size() <= kMaxConnections) {
            auto task = serve(std::move(socket));
            tasks_.spawn(std::move(task));
            continue;
        }
        if (ec == asio::error::operation_aborted) break;
        pause.expires_after(kAcceptPause);
        co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
    }
}

asio::awaitable<void> AdminServer::serve(tcp::socket socket) {
    boost::system::error_code gone;
    const auto from = socket.remote_endpoint(gone).address();
    if (gone) co_return;
    beast::tcp_stream stream(std::move(socket));
    beast::flat_buffer buffer(64 * 1024);
    for (;;) {
        Request request;
        boost::system::error_code ec;
        stream.expires_after(kDeadline);
        co_await http::async_read(stream, buffer, request,
                                  asio::redirect_error(asio::use_awaitable, ec));
        if (ec) co_return;

        const std::string target(request.target().substr(0, request.target().find('?')));
        const auto get =
            request.method() == http::verb::get || request.method() == http::verb::head;
        Response response;
        const auto config = hooks_.config();
        auto refused = refuse(request, config->admin.value_or(AdminConfig{}), target, from);
        if (refused) {
            response = *std::move(refused);
        } else if (target == "/healthz" && get) {
            response = answer(request, http::status::ok, kText, "ok\n");
        } else if (target == "/api/v1/config" && get) {
            response = answer(request, http::status::ok, kJson, effective_config(*config));
        } else if (target == "/api/v1/purge") {
            auto order = purge_order(request);
            if (auto* wrong = std::get_if<Response>(&order)) {
                response = std::move(*wrong);
            } else {
                auto purge = hooks_.purge(std::move(std::get<PurgeOrder>(order)));
                const auto report = co_await std::move(purge);
                response = answer(request, http::int_to_status(status_of(report)), kJson,
                                  purge_json(report));
            }
        } else if (target == "/api/v1/peers" && !get) {
            response = change_peers(request, hooks_);
        } else if (target == "/api/v1/drain" || target == "/api/v1/reload") {
            const auto drain = target == "/api/v1/drain";
            auto refusal =
                refuse_change(request, drain ? "POST drains this node."
                                             : "POST reloads this node's configuration.");
            if (refusal) {
                response = *std::move(refusal);
            } else if (drain) {
                response = answer(request, http::status::accepted, kText, "draining\n");
                hooks_.drain();
            } else {
                const auto reloaded = co_await hooks_.reload();
                response =
                    answer(request, status_of(reloaded.outcome), kJson, reload_json(reloaded));
            }
        } else if (target == "/readyz" || target == "/metrics" || target == "/api/v1/status" ||
                   target == "/api/v1/peers" || target == "/api/v1/summary") {
            const auto status = co_await hooks_.status();
            const auto up = status.ready && !status.draining;
            if (target == "/readyz")
                response =
                    answer(request, up ? http::status::ok : http::status::service_unavailable,
                           kText, readiness(status));
            else if (target == "/metrics")
                response =
                    answer(request, http::status::ok, kMetricsContentType, metrics_text(status));
            else if (target == "/api/v1/status")
                response = answer(request, http::status::ok, kJson, status_json(status));
            else
                response =
                    answer(request, http::status::ok, kJson,
                           section(status, target == "/api/v1/peers" ? "cluster" : "summary"));
        } else {
            response = answer(request, http::status::not_found, kText,
                              "Here are /healthz, /readyz, /metrics, /api/v1/status, "
                              "/api/v1/peers, /api/v1/summary,\n"
                              "/api/v1/config, and POST /api/v1/{drain,reload,purge,peers}.\n");
        }
        if (request.method() == http::verb::head) response.body().clear();
        stream.expires_after(kDeadline);
        co_await http::async_write(stream, response, asio::redirect_error(asio::use_awaitable, ec));
        if (ec || !response.keep_alive()) co_return;
    }
}

}  // namespace proxy
