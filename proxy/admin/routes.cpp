#include "proxy/admin/routes.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "proxy/admin/cluster_history.hpp"
#include "proxy/admin/dashboard_page.hpp"
#include "proxy/admin/explanation.hpp"
#include "proxy/admin/metrics_text.hpp"
#include "proxy/admin/status_json.hpp"
#include "proxy/admin/view_json.hpp"
#include "proxy/config/config_json.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Request = AdminRequest;
using Response = AdminResponse;

constexpr const char* kJson = "application/json";

Response json(const Request& request, http::status status, std::string body) {
    return admin_response(request, status, kJson, std::move(body));
}

std::optional<Response> refuse_unless_json(const Request& request) {
    const auto type = request[http::field::content_type];
    const auto media = type.substr(0, type.find_first_of("; \t"));
    if (beast::iequals(media, kJson)) return std::nullopt;
    return admin_text(request, http::status::unsupported_media_type,
                      "The Content-Type must be application/json.\n");
}

/// The reason why a node is not ready.
std::string awaited(const NodeStatus& status) {
    std::string names;
    for (const auto& peer : status.cluster.peers)
        if (!peer.in_sync() && !peer.node.empty()) names += (names.empty() ? "" : ", ") + peer.node;
    return "it waits to be in step with " + (names.empty() ? "its peers" : names) + ", for " +
           std::to_string(kReadyAlone.count()) + " s after its start at most";
}

/// The state, then a line for each faulty directory of the disk. The node fetches the objects of
/// such a directory again, so it is ready all the same.
std::string readiness(const NodeStatus& status) {
    auto text = status.draining ? "draining\n"
                : status.ready  ? "ready\n"
                                : "not ready: " + awaited(status) + '\n';
    for (const auto& disk : status.disk) {
        if (disk.state == DiskStatus::State::ready) continue;
        text.append("disk ").append(disk.path).append(" is ").append(name(disk.state));
        if (!disk.last_error.empty()) text.append(": ").append(disk.last_error);
        text += '\n';
    }
    return text;
}

http::status status_of(Reloaded::Outcome outcome) {
    switch (outcome) {
        case Reloaded::Outcome::applied:
            return http::status::ok;
        case Reloaded::Outcome::draining:
            return http::status::conflict;
        case Reloaded::Outcome::under_way:
            return http::status::accepted;
        case Reloaded::Outcome::refused:
            break;
    }
    return http::status::unprocessable_entity;
}

std::string reload_json(const Reloaded& reloaded) {
    nlohmann::ordered_json out;
    if (reloaded.outcome == Reloaded::Outcome::applied) {
        out["changed"] = reloaded.changed;
        if (reloaded.read_certificates) out["certificates_read"] = true;
        if (reloaded.read_users) out["users_read"] = true;
        if (reloaded.read_blocklists) out["blocklists_read"] = true;
        if (!reloaded.warnings.empty()) out["warnings"] = errors_json(reloaded.warnings);
    } else if (reloaded.outcome == Reloaded::Outcome::under_way) {
        out["under_way"] = true;
    } else {
        out["errors"] = errors_json(reloaded.errors);
    }
    return out.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

/// What a query of the history asks for. Names of nodes need no percent-encoding.
struct HistoryQuery {
    Span span = Span::minutes_15;
    std::string node;  // empty: this one
};

/// Returns nothing for another parameter, one that comes twice, and a value that none may have.
std::optional<HistoryQuery> history_query(std::string_view target) {
    constexpr std::string_view kSpan = "span=", kNode = "node=";
    HistoryQuery query;
    const auto begin = target.find('?');
    if (begin == std::string_view::npos) return query;
    bool has_span = false;
    for (auto rest = target.substr(begin); !rest.empty();) {
        rest.remove_prefix(1);
        const auto parameter = rest.substr(0, rest.find('&'));
        rest.remove_prefix(parameter.size());
        if (parameter.starts_with(kSpan) && !std::exchange(has_span, true)) {
            const auto span = span_named(parameter.substr(kSpan.size()));
            if (!span) return std::nullopt;
            query.span = *span;
        } else if (parameter.starts_with(kNode) && query.node.empty()) {
            query.node = parameter.substr(kNode.size());
            if (query.node.empty()) return std::nullopt;
        } else {
            return std::nullopt;
        }
    }
    return query;
}

asio::awaitable<Response> healthz(const Request& request, NodeControl&) {
    co_return admin_text(request, http::status::ok, "ok\n");
}

asio::awaitable<Response> readyz(const Request& request, NodeControl& node) {
    const auto status = co_await node.status();
    const auto up = status.ready && !status.draining;
    co_return admin_text(request, up ? http::status::ok : http::status::service_unavailable,
                         readiness(status));
}

/// The members of Accept over all its lines.
std::string accepted(const Request& request) {
    std::string members;
    const auto [first, last] = request.equal_range(http::field::accept);
    for (auto line = first; line != last; ++line) {
        if (line != first) members.push_back(',');
        members.append(line->value().data(), line->value().size());
    }
    return members;
}

asio::awaitable<Response> metrics(const Request& request, NodeControl& node) {
    const auto status = co_await node.status();
    const auto format = wanted_format(accepted(request));
    auto response = admin_response(request, http::status::ok, content_type_of(format),
                                   metrics_text(status, format));
    response.set(http::field::vary, "Accept");
    co_return response;
}

asio::awaitable<Response> show_status(const Request& request, NodeControl& node) {
    const auto status = co_await node.status();
    co_return json(request, http::status::ok, status_json(status));
}

asio::awaitable<Response> show_peers(const Request& request, NodeControl& node) {
    const auto status = co_await node.status();
    co_return json(request, http::status::ok, cluster_json(status));
}

asio::awaitable<Response> show_summary(const Request& request, NodeControl& node) {
    const auto status = co_await node.status();
    co_return json(request, http::status::ok, summary_json(status));
}

asio::awaitable<Response> show_config(const Request& request, NodeControl& node) {
    co_return json(request, http::status::ok, effective_config(*node.config()));
}

asio::awaitable<Response> change_peers(const Request& request, NodeControl& node) {
    if (auto refusal = refuse_unless_json(request)) co_return *std::move(refusal);
    auto order = parse_peer_order(request.body());
    PeersChanged changed;
    if (auto* errors = std::get_if<std::vector<ConfigError>>(&order))
        changed.errors = std::move(*errors);
    else
        changed = node.change_peers(std::get<PeerOrder>(order));
    const auto status = changed.errors.empty() ? http::status::ok
                        : changed.draining     ? http::status::conflict
                                               : http::status::unprocessable_entity;
    co_return json(request, status, peers_changed_json(changed));
}

asio::awaitable<Response> purge(const Request& request, NodeControl& node) {
    if (auto refusal = refuse_unless_json(request)) co_return *std::move(refusal);
    auto order = parse_purge(request.body());
    if (const auto* wrong = std::get_if<std::string>(&order))
        co_return admin_text(request, http::status::bad_request, *wrong + "\n");
    const auto config = node.config();
    const auto unknown = unknown_rule(std::get<PurgeOrder>(order), config->rules.all());
    if (!unknown.empty())
        co_return admin_text(request, http::status::unprocessable_entity, unknown + "\n");
    auto purging = node.purge(std::move(std::get<PurgeOrder>(order)));
    auto answer = co_await std::move(purging);
    co_return json(request, http::int_to_status(answer.status), std::move(answer.json));
}

asio::awaitable<Response> explain(const Request& request, NodeControl& node) {
    const auto target = request.target();
    auto url = explained_url({target.data(), target.size()});
    if (const auto* wrong = std::get_if<std::string>(&url))
        co_return admin_text(request, http::status::bad_request, *wrong + "\n");
    auto explaining = node.explain(std::move(std::get<CacheKey>(url)));
    const auto explanation = co_await std::move(explaining);
    if (!explanation)
        co_return admin_text(request, http::status::service_unavailable,
                             "The node is ending, or has too much to do.\n");
    co_return json(request, http::status::ok, explanation_json(*explanation));
}

asio::awaitable<Response> reload(const Request& request, NodeControl& node) {
    const auto reloaded = co_await node.reload();
    co_return json(request, status_of(reloaded.outcome), reload_json(reloaded));
}

asio::awaitable<Response> drain(const Request& request, NodeControl& node) {
    node.drain();
    co_return admin_text(request, http::status::accepted, "draining\n");
}

asio::awaitable<Response> reopen_logs(const Request& request, NodeControl& node) {
    const auto why_not = co_await node.reopen_logs();
    if (!why_not.empty())
        co_return admin_text(request, http::status::internal_server_error, why_not + "\n");
    const auto access = node.config()->log.access;
    const auto has_file = access != "off" && access != "stdout";
    co_return admin_text(request, http::status::accepted,
                         has_file ? "the access log is open anew\n"
                                  : "log.access is " + access + ": there is no file to reopen\n");
}

asio::awaitable<Response> show_nodes(const Request& request, NodeControl& node) {
    const auto view = co_await node.cluster_view();
    co_return json(request, http::status::ok, nodes_json(view));
}

asio::awaitable<Response> show_history(const Request& request, NodeControl& node) {
    const auto target = request.target();
    const auto query = history_query({target.data(), target.size()});
    if (!query)
        co_return admin_text(request, http::status::bad_request,
                             "The parameters are span (15m, 6h or 7d) and node (a name, or * for "
                             "the sum).\n");
    const auto self = node.config()->node;
    if (query->node.empty() || query->node == self)
        co_return json(request, http::status::ok,
                       history_json(self, query->span, interval_of(query->span),
                                    node.history(query->span), clocks_now()));
    if (query->span != Span::minutes_15)
        co_return admin_text(request, http::status::bad_request,
                             "Of other nodes and of the sum this node keeps span=15m alone.\n");
    const auto points = node.cluster_history(query->node);
    if (!points)
        co_return admin_text(request, http::status::not_found,
                             "This node knows no node of that name.\n");
    co_return json(
        request, http::status::ok,
        history_json(query->node, query->span, ClusterHistory::kInterval, *points, clocks_now()));
}

asio::awaitable<Response> show_site_counts(const Request& request, NodeControl& node) {
    const auto totals = co_await node.sites();
    co_return json(request, http::status::ok, sites_json(totals));
}

asio::awaitable<Response> show_top(const Request& request, NodeControl& node) {
    const auto lists = co_await node.top();
    co_return json(request, http::status::ok, top_json(lists));
}

asio::awaitable<Response> show_errors(const Request& request, NodeControl& node) {
    co_return json(request, http::status::ok, recent_errors_json(node.recent_errors()));
}

asio::awaitable<Response> show_settings(const Request& request, NodeControl& node) {
    co_return json(request, http::status::ok, settings_json(*node.config()));
}

/// A new route needs a row, a handler above, and a section in docs/reference/admin-api.md.
constexpr AdminRoute kRoutes[] = {
    {AdminMethod::get, "/", Guard::page, "shows the dashboard", show_dashboard},
    {AdminMethod::get, kDashboardFolder, Guard::page, "has the files of the dashboard",
     show_dashboard},
    {AdminMethod::get, "/healthz", Guard::open, "says that the process lives", healthz},
    {AdminMethod::get, "/readyz", Guard::open, "says whether the node takes requests", readyz},
    {AdminMethod::get, "/metrics", Guard::open, "is for Prometheus", metrics},
    {AdminMethod::get, "/api/v1/status", Guard::open, "shows all that is counted", show_status},
    {AdminMethod::get, "/api/v1/peers", Guard::open, "shows the peers", show_peers},
    {AdminMethod::post, "/api/v1/peers", Guard::guarded, "changes them", change_peers},
    {AdminMethod::get, "/api/v1/summary", Guard::open, "shows the own summary", show_summary},
    {AdminMethod::get, "/api/v1/config", Guard::guarded, "shows what is in effect", show_config},
    {AdminMethod::get, "/api/v1/nodes", Guard::open, "shows all nodes, by their reports",
     show_nodes},
    {AdminMethod::get, "/api/v1/history", Guard::open,
     "shows the traffic of the last ?span=15m, 6h or 7d, or 15m of another ?node=", show_history},
    {AdminMethod::get, "/api/v1/sites", Guard::open, "counts requests by site and rule",
     show_site_counts},
    {AdminMethod::get, "/api/v1/top", Guard::guarded, "shows the most frequent URLs and clients",
     show_top},
    {AdminMethod::get, "/api/v1/errors", Guard::guarded, "shows the last warnings and errors",
     show_errors},
    {AdminMethod::get, "/api/v1/settings", Guard::guarded,
     "shows settings with their defaults and sources", show_settings},
    {AdminMethod::get, "/api/v1/explain", Guard::guarded,
     "says of ?url= where it is, and whom a miss would ask", explain},
    {AdminMethod::post, "/api/v1/purge", Guard::guarded, "purges, in the whole cluster", purge},
    {AdminMethod::post, "/api/v1/reload", Guard::guarded, "reloads this node's configuration",
     reload},
    {AdminMethod::post, "/api/v1/drain", Guard::guarded, "drains this node", drain},
    {AdminMethod::post, "/api/v1/reopen-logs", Guard::guarded, "opens the access log anew",
     reopen_logs},
};

constexpr bool changes_are_guarded() {
    return std::all_of(std::begin(kRoutes), std::end(kRoutes), [](const auto& route) {
        return route.method == AdminMethod::get || route.guard == Guard::guarded;
    });
}
static_assert(changes_are_guarded());

}  // namespace

std::span<const AdminRoute> admin_routes() {
    return kRoutes;
}

}  // namespace proxy
