#include "app/query_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

#include <cstdio>
#include <optional>
#include <utility>

#include "app/command_line.hpp"
#include "app/fail.hpp"
#include "app/status_text.hpp"
#include "app/traffic_report.hpp"
#include "measure/report/explanation_text.hpp"
#include "measure/run/http_get.hpp"
#include "measure/run/node_addresses.hpp"
#include "measure/run/node_sample.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/config_values.hpp"

namespace app {
namespace {

using namespace std::chrono_literals;

/// Returns the admin ports of all choices, each once, or nothing and the reason in `why`. Throws
/// std::invalid_argument for a malformed address.
std::vector<AdminPort> admins_of(const std::vector<NodeChoice>& choices, std::string& why) {
    std::vector<AdminPort> admins;
    const auto add = [&](AdminPort port) {
        const auto is_same = [&](const AdminPort& other) { return other.at == port.at; };
        if (std::ranges::none_of(admins, is_same)) admins.push_back(std::move(port));
    };
    measure::NodeAddresses addresses;
    for (const auto& choice : choices) {
        if (!choice.url.empty()) {
            for (auto& at : addresses.expand({choice.url}, proxy::kAdminPort))
                add({std::move(at), measure::admin_token()});
            continue;
        }
        const auto admin = admin_of(choice, why);
        if (!admin) return {};
        add(*admin);
    }
    return admins;
}

/// The status of one node, read and as it came.
struct ReadStatus {
    measure::NodeSample counters;
    std::string json;
};

/// Returns nothing, after a report on standard error, if the node gives no status. `hint`: what the
/// user may do about a node that does not answer.
std::optional<ReadStatus> read_status(const AdminPort& port, std::string_view hint) {
    const auto& admin = port.at;
    auto answer = measure::http_get(admin, "/api/v1/status", kAdminTimeout, port.token);
    if (!answer) {
        fail(kFailed, "no node answers at http://{}: {}{}", admin.text(), answer.error().message(),
             hint);
        return std::nullopt;
    }
    if (!may_be_of_a_node(*answer)) {
        no_node(admin.text(), *answer);
        return std::nullopt;
    }
    if (answer->status == 401 || answer->status == 403) {
        fail(kFailed, "http://{}: status {}: {}{}", admin.text(), answer->status,
             first_line(*answer), token_hint(*answer, port));
        return std::nullopt;
    }
    std::string why;
    auto counters = measure::parse_status(answer->body, why);
    if (!counters) {
        fail(kFailed, "http://{}: {} (status {}); it must be the admin port, 9128 by default",
             admin.text(), why, answer->status);
        return std::nullopt;
    }
    return ReadStatus{std::move(*counters), std::move(answer->body)};
}

/// The traffic of one node, or nothing after a report on standard error.
std::optional<TrafficReport> read_traffic_of(const AdminPort& port, std::chrono::nanoseconds since,
                                             std::string_view hint) {
    const auto where = port.at.text();
    const auto target = "/api/v1/history?span=" + std::string(span_for(since));
    const auto answer = measure::http_get(port.at, target, kAdminTimeout, port.token);
    if (!answer) {
        fail(kFailed, "no node answers at http://{}: {}{}", where, answer.error().message(), hint);
        return std::nullopt;
    }
    if (!may_be_of_a_node(*answer)) {
        no_node(where, *answer);
        return std::nullopt;
    }
    if (answer->status != 200) {
        fail(kFailed, "http://{}: status {}: {}{}", where, answer->status, first_line(*answer),
             token_hint(*answer, port));
        return std::nullopt;
    }
    auto report = read_traffic(answer->body, since);
    if (!report) no_node(where, *answer);
    return report;
}

/// The nodes of a command for several: those named one after the other, and the one of an option.
struct NodeChoices {
    std::vector<std::string> named;
    NodeChoice other;
    bool json = false;

    std::vector<NodeChoice> all() const {
        std::vector<NodeChoice> out;
        for (const auto& url : named) out.push_back({url, {}});
        if (!other.url.empty() || !other.config.empty() || out.empty()) out.push_back(other);
        return out;
    }
};

}  // namespace

Command add_status(CLI::App& app) {
    auto& command = *app.add_subcommand(
        "status", "Shows the counters of running nodes: one, or several and their sum");
    const auto nodes = std::make_shared<NodeChoices>();
    option(command, "nodes", "HOST:PORT...", nodes->named,
           "Admin addresses (dns:HOST:PORT for every address of a name); name all nodes for the "
           "hit rate of the cluster");
    add_node_options(command, "--at,--url", nodes->other);
    command.footer(sharing_legend() + "\n\n" + command.get_footer());
    command.add_flag("--json", nodes->json, "Prints the nodes' answers unchanged");
    return {&command, [nodes] { return status_command(nodes->all(), nodes->json); }};
}

int status_command(const std::vector<NodeChoice>& choices, bool json) {
    return reported([&] {
        std::string why;
        const auto admins = admins_of(choices, why);
        if (admins.empty() && !why.empty()) return fail(kBadConfig, "{}", why);
        std::vector<measure::NodeSample> nodes;
        std::vector<std::string> answers, answered_at;
        const auto hint =
            choices.size() == 1 ? address_hint(choices.front(), "or --config") : std::string();
        for (const auto& port : admins) {
            auto read = read_status(port, hint);
            if (!read) continue;
            if (!json) {
                print_status(read->counters);
                if (admins.size() > 1) fmt::print("\n");
            }
            nodes.push_back(std::move(read->counters));
            answered_at.push_back(port.at.text());
            answers.push_back(std::move(read->json));
        }
        if (json && admins.size() == 1 && !answers.empty()) fmt::print("{}\n", answers.front());
        if (json && admins.size() > 1) fmt::print("[{}]\n", fmt::join(answers, ","));
        const auto missing = admins.size() - nodes.size();
        const auto doubles = drop_repeats(nodes, answered_at);
        if (!json && admins.size() > 1 && !nodes.empty()) print_together(nodes, missing);
        for (const auto& each : doubles) fmt::print(stderr, "hearsay: warning: {}\n", each);
        return missing == 0 ? kOk : kFailed;
    });
}

Command add_healthcheck(CLI::App& app) {
    auto& command = *app.add_subcommand("healthcheck", "Exits 0 if a node is ready, otherwise 1");
    const auto node = std::make_shared<NodeChoice>();
    add_node_options(command, "--at,--url", *node);
    return {&command, [node] { return healthcheck_command(*node); }};
}

int healthcheck_command(const NodeChoice& choice) {
    return reported([&] {
        std::string why;
        const auto admin = admin_of(choice, why);
        if (!admin) return fail(kBadConfig, "{}", why);
        const auto answer = measure::http_get(admin->at, "/readyz", kAdminTimeout, admin->token);
        const auto where = admin->at.text();
        if (!answer)
            return fail(kFailed, "no node answers at {}: {}", where, answer.error().message());
        if (!may_be_of_a_node(*answer)) return no_node(where, *answer);
        if (answer->status != 200) {
            return fail(kFailed, "{}: {} (http://{}/readyz: status {}){}", where, why_not(*answer),
                        where, answer->status, token_hint(*answer, *admin));
        }
        return kOk;
    });
}

Command add_report(CLI::App& app) {
    struct Options : NodeChoices {
        std::string since = "24h";
    };
    auto& command = *app.add_subcommand(
        "report", "Shows what running nodes spared the origins lately: one node, or several");
    const auto report = std::make_shared<Options>();
    option(command, "nodes", "HOST:PORT...", report->named,
           "Admin addresses (dns:HOST:PORT for every address of a name)");
    option(command, "--since", "TIME", report->since, "The last 15m, 24h, ..., up to 7d")
        ->capture_default_str();
    add_node_options(command, "--at", report->other);
    command.add_flag("--json", report->json, "Prints JSON");
    return {&command,
            [report] { return report_command(report->all(), report->since, report->json); }};
}

int report_command(const std::vector<NodeChoice>& choices, const std::string& since, bool json) {
    constexpr auto kLongest = 24h * 7;
    const auto span = proxy::parse_duration(since);
    if (!span || *span <= 0s || *span > kLongest)
        return fail(kUsage, "--since takes a duration of at most 7 days, such as 15m, 24h or 7d");
    return reported([&] {
        std::string why;
        const auto admins = admins_of(choices, why);
        if (admins.empty() && !why.empty()) return fail(kBadConfig, "{}", why);
        const auto hint = choices.size() == 1
                              ? address_hint(choices.front(), "HOST:PORT, --at, or --config")
                              : std::string();
        std::vector<TrafficReport> nodes;
        for (const auto& port : admins)
            if (auto report = read_traffic_of(port, *span, hint))
                nodes.push_back(std::move(*report));
        if (json && !nodes.empty()) fmt::print("{}", traffic_json(nodes, *span));
        TrafficReport together;
        for (const auto& node : nodes) {
            if (!json) fmt::print("{}", traffic_text(node));
            together += node;
        }
        if (!json && nodes.size() > 1) fmt::print("{}", traffic_text(together));
        return nodes.size() == admins.size() ? kOk : kFailed;
    });
}

Command add_explain(CLI::App& app) {
    struct Options {
        NodeChoice node;
        std::string url;
        bool json = false;
    };
    auto& command = *app.add_subcommand("explain",
                                        "Shows which nodes store a URL, which summaries claim it, "
                                        "and which peers a miss would ask");
    const auto explain = std::make_shared<Options>();
    option(command, "url", "URL", explain->url, "A complete URL, as clients request it; required");
    add_node_options(command, "--at", explain->node);
    command.add_flag("--json", explain->json, "Prints the node's answer unchanged");
    return {&command, [explain, &command] {
                if (explain->url.empty()) return needs(command, "a URL");
                return explain_command(explain->node, explain->url, explain->json);
            }};
}

int explain_command(const NodeChoice& choice, const std::string& url, bool json) {
    return reported([&] {
        std::string why;
        const auto admin = admin_of(choice, why);
        if (!admin) return fail(kBadConfig, "{}", why);
        const auto where = admin->at.text();
        const auto answer =
            measure::http_get(admin->at, "/api/v1/explain?url=" + measure::percent_encoded(url),
                              kAdminTimeout, admin->token);
        if (!answer)
            return fail(kFailed, "no node answers at http://{}: {}{}", where,
                        answer.error().message(), address_hint(choice, "--at, or --config"));
        if (!may_be_of_a_node(*answer)) return no_node(where, *answer);
        if (answer->status == 400) return fail(kUsage, "{}", first_line(*answer));
        if (answer->status != 200)
            return fail(kFailed, "http://{}: status {}: {}{}", where, answer->status,
                        first_line(*answer), token_hint(*answer, *admin));
        const auto text = json ? answer->body : measure::explanation_text(answer->body, why);
        if (text.empty()) return no_node(where, *answer);
        fmt::print("{}", text);
        return kOk;
    });
}

}  // namespace app
