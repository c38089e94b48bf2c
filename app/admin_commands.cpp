#include "app/admin_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "app/commands.hpp"
#include "app/fail.hpp"
#include "app/status_text.hpp"
#include "app/traffic_report.hpp"
#include "measure/report/explanation_text.hpp"
#include "measure/report/numbers.hpp"
#include "measure/run/http_get.hpp"
#include "measure/run/node_addresses.hpp"
#include "measure/run/node_sample.hpp"
#include "measure/trace/printable.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/config_values.hpp"

namespace app {
namespace {

using namespace std::chrono_literals;

using Json = nlohmann::ordered_json;

constexpr auto kAdminTimeout = 3s;
constexpr auto kReloadTimeout = 15s;  // a node answers within ten

/// Returns the admin ports of all choices, or an empty list and the reason in `why`. Throws
/// std::invalid_argument for a malformed address.
std::vector<AdminPort> admins_of(const std::vector<NodeChoice>& choices, std::string& why) {
    std::vector<AdminPort> admins;
    measure::NodeAddresses addresses;
    for (const auto& choice : choices) {
        if (!choice.url.empty()) {
            for (auto& at : addresses.expand({choice.url}, proxy::kAdminPort))
                admins.push_back({std::move(at), measure::admin_token()});
            continue;
        }
        const auto admin = admin_of(choice, why);
        if (!admin) return {};
        admins.push_back(*admin);
    }
    return admins;
}

/// The status of one node, read and as it came.
struct ReadStatus {
    measure::NodeSample counters;
    std::string json;
};

/// Returns nullopt, after a report on standard error, if the status cannot be had. `hint`: the
/// advice for the user about a silent node.
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

/// The answer of a node to a POST, or the exit code if the request failed.
struct Posted {
    int code = kOk;
    measure::HttpAnswer answer;
    std::string where;
};

/// `taken` returns true for the statuses that the caller handles. Others are reported on standard
/// error.
Posted post(const NodeChoice& choice, const std::string& target, const std::string& json,
            std::chrono::milliseconds timeout, bool (*taken)(unsigned status)) {
    Posted out;
    try {
        std::string why;
        const auto admin = admin_of(choice, why);
        if (!admin) {
            out.code = fail(kBadConfig, "{}", why);
            return out;
        }
        out.where = admin->at.text();
        const auto answer = measure::http_post(admin->at, target, json, timeout, admin->token);
        if (!answer) {
            out.code = fail(kFailed, "no node answers at http://{}: {}{}", out.where,
                            answer.error().message(), address_hint(choice, "--at, or --config"));
            return out;
        }
        out.answer = *answer;
        if (taken(answer->status)) return out;
        if (!may_be_of_a_node(*answer)) {
            out.code = no_node(out.where, *answer);
            return out;
        }
        const bool wrong_order = answer->status == 400 || answer->status == 422;
        out.code = fail(wrong_order ? kUsage : kFailed, "http://{}: status {}: {}{}", out.where,
                        answer->status, first_line(*answer), token_hint(*answer, *admin));
    } catch (const std::invalid_argument& error) {
        out.code = fail(kUsage, "{}", error.what());
    }
    return out;
}

/// The strings of an array of `object`.
std::vector<std::string> texts(const Json& object, const char* name) {
    std::vector<std::string> out;
    const auto at = object.find(name);
    if (at == object.end() || !at->is_array()) return out;
    for (const auto& each : *at)
        if (each.is_string()) out.push_back(measure::printable(each.get<std::string>()));
    return out;
}

std::string text_in(const Json& object, const char* name) {
    const auto at = object.find(name);
    return at != object.end() && at->is_string() ? measure::printable(at->get<std::string>())
                                                 : std::string();
}

}  // namespace

int purge_command(const NodeChoice& choice, const PurgeNames& names, bool json) {
    Json order = Json::object();
    if (!names.urls.empty()) order["urls"] = names.urls;
    if (!names.tags.empty()) order["tags"] = names.tags;
    if (!names.rules.empty()) order["rules"] = names.rules;
    if (!names.prefixes.empty()) order["prefixes"] = names.prefixes;
    if (names.soft) order["soft"] = true;
    const auto body = order.dump(-1, ' ', true, Json::error_handler_t::replace);
    const auto posted = post(choice, "/api/v1/purge", body, kAdminTimeout,
                             [](unsigned status) { return status == 200 || status == 202; });
    if (posted.code != kOk) return posted.code;
    const auto report = Json::parse(posted.answer.body, nullptr, false);
    if (!report.is_object()) return no_node(posted.where, posted.answer);
    const auto confirmed = texts(report, "confirmed"), pending = texts(report, "pending"),
               away = texts(report, "away");
    if (json) {
        fmt::print("{}", posted.answer.body);
        return pending.empty() ? kOk : kFailed;
    }
    const auto count = report.find("objects");
    const auto objects = count != report.end() && count->is_number_unsigned()
                             ? count->get<std::uint64_t>()
                             : std::uint64_t{0};
    const auto has_star = [](const std::string& url) { return url.find('*') != url.npos; };
    if (std::ranges::any_of(names.urls, has_star))
        fmt::print(
            "note: a star in a URL is a character like any other; --prefix http://host/path/ is "
            "for all URLs that begin so\n");
    fmt::print("{}: {} here{}{}\n", names.soft ? "made stale" : "purged",
               measure::amount(objects, "object"), confirmed.empty() ? "" : "; gone at ",
               fmt::join(confirmed, ", "));
    if (!away.empty())
        fmt::print(
            "no link to {}: it drops the objects when the link is up again; until then it goes on "
            "serving its own copies\n",
            fmt::join(away, ", "));
    if (pending.empty()) return kOk;
    return fail(kFailed, "not confirmed yet by {}: the node goes on trying",
                fmt::join(pending, ", "));
}

/// Returns a line for each message of that list, with its path in the configuration.
std::string messages_of(const Json& report, const char* list) {
    std::string lines;
    if (const auto found = report.find(list); found != report.end() && found->is_array())
        for (const auto& each : *found)
            if (each.is_object()) {
                const auto path = text_in(each, "path");  // empty: the message names the file
                lines += fmt::format("\n  {}{}{}", path, path.empty() ? "" : ": ",
                                     text_in(each, "message"));
            }
    return lines;
}

/// The files beside the configuration that a reload has read again.
std::string what_was_read(const Json& report) {
    std::vector<std::string_view> read;
    for (const auto& [member, what] : {std::pair("certificates_read", "certificates"),
                                       {"users_read", "users"},
                                       {"blocklists_read", "blocklists"}})
        if (const auto found = report.find(member); found != report.end() && *found == true)
            read.emplace_back(what);
    return read.empty() ? "" : fmt::format("; read again: {}", fmt::join(read, ", "));
}

int reload_command(const NodeChoice& choice, bool json) {
    const auto posted = post(choice, "/api/v1/reload", {}, kReloadTimeout, [](unsigned status) {
        return status == 200 || status == 202 || status == 409 || status == 422;
    });
    if (posted.code != kOk) return posted.code;
    const auto report = Json::parse(posted.answer.body, nullptr, false);
    if (!report.is_object()) return no_node(posted.where, posted.answer);
    if (json) fmt::print("{}", posted.answer.body);
    if (const auto warnings = messages_of(report, "warnings"); !warnings.empty())
        fmt::print(stderr, "warnings:{}\n", warnings);
    if (posted.answer.status == 200) {
        const auto changed = texts(report, "changed");
        const auto more = what_was_read(report);
        const auto* const none = more.empty() ? "nothing has changed" : "no setting has changed";
        if (!json && changed.empty()) fmt::print("reloaded: {}{}\n", none, more);
        if (!json && !changed.empty())
            fmt::print("reloaded: changed {}{}\n", fmt::join(changed, ", "), more);
        return kOk;
    }
    if (posted.answer.status == 202)
        return fail(
            kFailed,
            "http://{} still reads its files after ten seconds; the reload goes on, and the "
            "log and `hearsay status` say how it ended",
            posted.where);
    if (posted.answer.status == 409)
        return fail(kFailed, "http://{} is draining and takes no reload", posted.where);
    return fail(kFailed, "http://{} refuses the configuration; it keeps the old one{}",
                posted.where, messages_of(report, "errors"));
}

int drain_command(const NodeChoice& choice) {
    const auto posted = post(choice, "/api/v1/drain", {}, kAdminTimeout,
                             [](unsigned status) { return status == 202; });
    if (posted.code == kOk)
        fmt::print("http://{} drains, and ends after its last request\n", posted.where);
    return posted.code;
}

int reopen_logs_command(const NodeChoice& choice) {
    const auto posted = post(choice, "/api/v1/reopen-logs", {}, kAdminTimeout,
                             [](unsigned status) { return status == 202; });
    if (posted.code == kOk) fmt::print("http://{} has reopened its access log\n", posted.where);
    return posted.code;
}

int status_command(const std::vector<NodeChoice>& choices, bool json) {
    try {
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
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::runtime_error& error) {
        return fail(kFailed, "{}", error.what());
    }
}

int healthcheck_command(const NodeChoice& choice) {
    try {
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
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    }
}

/// The traffic of one node, or nullopt after a report on standard error.
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

int report_command(const std::vector<NodeChoice>& choices, const std::string& since, bool json) {
    constexpr auto kLongest = 24h * 7;
    const auto span = proxy::parse_duration(since);
    if (!span || *span <= 0s || *span > kLongest)
        return fail(kUsage, "--since takes a duration of at most 7 days, such as 15m, 24h or 7d");
    try {
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
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::runtime_error& error) {
        return fail(kFailed, "{}", error.what());
    }
}

int explain_command(const NodeChoice& choice, const std::string& url, bool json) {
    try {
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
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::runtime_error& error) {
        return fail(kFailed, "{}", error.what());
    }
}

}  // namespace app
