#include "app/order_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "app/command_line.hpp"
#include "app/fail.hpp"
#include "measure/report/numbers.hpp"
#include "measure/run/http_get.hpp"
#include "measure/trace/printable.hpp"

namespace app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::chrono::seconds kReloadTimeout{15};  // a node answers within ten

constexpr const char* kPurgeFooter =
    R"(

  hearsay purge http://www.example.org/page --tag news

)"
    "Exit codes: 0 after every linked node has confirmed; a node without a link drops the "
    "responses "
    "when its link is up again, and until then goes on serving its own copies. 1 if a linked node "
    "has yet to confirm, or the asked node is silent; 2 usage; 78 bad configuration.";

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

/// A command without further options that one function runs.
Command add_order(CLI::App& app, const char* name, const char* help,
                  int (*order)(const NodeChoice&)) {
    auto& command = *app.add_subcommand(name, help);
    const auto node = std::make_shared<NodeChoice>();
    add_node_options(command, "--at", *node);
    return {&command, [node, order] { return order(*node); }};
}

}  // namespace

Command add_purge(CLI::App& app) {
    struct Options {
        NodeChoice node;
        PurgeNames names;
        bool json = false;
    };
    auto& command = *app.add_subcommand(
        "purge", "Invalidates stored responses by URL, tag, rule or prefix, in the whole cluster");
    const auto purge = std::make_shared<Options>();
    auto& names = purge->names;
    option(command, "urls", "URL...", names.urls, "Complete URLs, as clients request them");
    option(command, "--tag", "TAG", names.tags,
           "Tag of the responses (Surrogate-Key); any number of times");
    option(command, "--rule", "NAME", names.rules,
           "All responses that the rule of this name stored; any number of times");
    option(command, "--prefix", "URL/", names.prefixes,
           "All URLs that begin with this one, which ends with a slash; any number of times");
    command.add_flag("--soft", names.soft,
                     "Makes the responses in memory stale in place of removing them");
    add_node_options(command, "--at", purge->node);
    command.add_flag("--json", purge->json, "Prints the node's answer unchanged");
    command.footer(command.get_footer() + kPurgeFooter);
    return {&command, [purge, &command] {
                const auto& given = purge->names;
                if (given.urls.empty() && given.tags.empty() && given.rules.empty() &&
                    given.prefixes.empty())
                    return needs(command, "a URL, --tag, --rule or --prefix");
                return purge_command(purge->node, given, purge->json);
            }};
}

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
               measure::amount(objects, "object"),
               confirmed.empty() ? ""
               : names.soft      ? "; confirmed by "
                                 : "; gone at ",
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

Command add_reload(CLI::App& app) {
    struct Options {
        NodeChoice node;
        bool json = false;
    };
    auto& command = *app.add_subcommand(
        "reload",
        "Makes a running node read its configuration again; exits 1 if it refuses the file");
    const auto reload = std::make_shared<Options>();
    add_node_options(command, "--at", reload->node);
    command.add_flag("--json", reload->json, "Prints the node's answer unchanged");
    return {&command, [reload] { return reload_command(reload->node, reload->json); }};
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

Command add_drain(CLI::App& app) {
    return add_order(app, "drain",
                     "Makes a running node finish its requests, within timeouts.drain, and end",
                     drain_command);
}

int drain_command(const NodeChoice& choice) {
    const auto posted = post(choice, "/api/v1/drain", {}, kAdminTimeout,
                             [](unsigned status) { return status == 202; });
    if (posted.code == kOk)
        fmt::print("http://{} drains: it ends after its last request, or after timeouts.drain\n",
                   posted.where);
    return posted.code;
}

Command add_reopen_logs(CLI::App& app) {
    return add_order(app, "reopen-logs",
                     "Makes a running node reopen its access log after a rotation",
                     reopen_logs_command);
}

int reopen_logs_command(const NodeChoice& choice) {
    const auto posted = post(choice, "/api/v1/reopen-logs", {}, kAdminTimeout,
                             [](unsigned status) { return status == 202; });
    if (posted.code == kOk)
        fmt::print("http://{}: {}\n", posted.where,
                   measure::printable(posted.answer.body.substr(0, posted.answer.body.find('\n'))));
    return posted.code;
}

}  // namespace app
