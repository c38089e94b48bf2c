#include "measure/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <stdexcept>

#include "measure/measurement.hpp"
#include "measure/run/http_get.hpp"
#include "measure/run/node_addresses.hpp"
#include "protocol/plain_message.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/net/load_config.hpp"

namespace measure {
namespace {

using namespace std::chrono_literals;

constexpr auto kAdminTimeout = 3s;

template <typename... Args>
int fail(int code, fmt::format_string<Args...> format, Args&&... args) {
    fmt::print(stderr, "hearsay: {}\n", fmt::format(format, std::forward<Args>(args)...));
    return code;
}

int cannot_listen(const OriginOptions& options, const boost::system::system_error& error) {
    return fail(kFailed, "cannot listen at {}: {}", options.listen.text(), error.code().message());
}

/// Without the line ends it came with.
std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(" \r\n") + 1);
    return text;
}

/// What a node that is not ready says, or whoever else is there.
std::string why_not(const HttpAnswer& answer) {
    const auto said = trimmed(answer.body.substr(0, answer.body.find('\n')));
    return said.empty() ? "not ready" : said;
}

/// Where to ask and the token to give, if there is one.
struct AdminPort {
    HostPort at;
    std::string token;
};

/// The admin port to ask, or a reason why there is none. The environment's token comes before that
/// of the configuration.
std::optional<AdminPort> admin_of(const NodeChoice& choice, std::string& why) {
    if (!choice.url.empty())
        return AdminPort{parse_address(choice.url, proxy::kAdminPort), admin_token()};
    if (choice.config.empty()) return AdminPort{proxy::AdminConfig{}.listen, admin_token()};
    const auto loaded = proxy::load_settings(choice.config);
    if (!loaded.config) {
        why = trimmed(proxy::describe(loaded.errors));
        return std::nullopt;
    }
    if (!loaded.config->admin) {
        why = choice.config + " has no admin port";
        return std::nullopt;
    }
    AdminPort port{loaded.config->admin->listen, admin_token()};
    if (port.token.empty()) port.token = loaded.config->admin->token;
    auto& out = port.at;
    // Listening everywhere includes loopback; the wildcard itself is no address to connect to.
    if (out.host == "0.0.0.0" || out.host.empty()) out.host = "127.0.0.1";
    if (out.host == "::") out.host = "::1";
    return port;
}

/// What a 401 asks of the user.
std::string token_hint(const HttpAnswer& answer, const AdminPort& admin) {
    if (answer.status != 401) return {};
    return admin.token.empty() ? " (set HEARSAY_ADMIN_TOKEN)"
                               : " (it has another token: set HEARSAY_ADMIN_TOKEN)";
}

double percent(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// What each peer's summary is worth, and what it costs.
void print_sharing(const std::vector<PeerCounters>& peers, std::size_t width) {
    fmt::print("\n{:<{}} {:>8} {:>10} {:>8} {:>8} {:>8} {:>12} {:>12} {:>12} {:>7}\n", "sharing",
               width, "lag s", "collisions", "evicted", "sampled", "missed", "saved ms", "lost ms",
               "update bytes", "bits");
    for (const auto& p : peers) {
        const auto bits = p.objects == 0
                              ? std::string("-")
                              : fmt::format("{:.1f}", static_cast<double>(p.bits) /
                                                          static_cast<double>(p.objects));
        fmt::print("{:<{}} {:>8.1f} {:>10} {:>8} {:>8} {:>8} {:>12} {:>12} {:>12} {:>7}\n", p.node,
                   width, p.lag_seconds, grouped(p.collisions), grouped(p.evicted),
                   grouped(p.sampled), grouped(p.false_misses),
                   grouped(p.saved_microseconds / 1000), grouped(p.lost_microseconds / 1000),
                   grouped(p.announcement_bytes_received), bits);
    }
}

void print_status(const NodeCounters& n) {
    fmt::print("node {}: {}, up {:.0f} s\n", n.node,
               n.draining ? "draining"
               : n.ready  ? "ready"
                          : "NOT READY",
               n.uptime_seconds);
    if (!n.reload_error.empty())
        fmt::print("configuration: the last reload was REFUSED: {}\n", n.reload_error);
    fmt::print(
        "requests {}: {:.1f} % local hits, {:.1f} % peer hits, {:.1f} % origin fetches, "
        "{} passed through, {}\n",
        grouped(n.total), percent(n.local_hit, n.total), percent(n.peer_hit, n.total),
        percent(n.origin_fetch, n.total), grouped(n.uncacheable), amount(n.error, "error"));
    fmt::print("cache {}, {} in memory, {} evicted\n", amount(n.cache.objects, "object"),
               amount(n.cache.memory_bytes, "byte"), grouped(n.evictions));
    fmt::print("upstream {} to origins, {} to peers\n",
               amount(n.traffic.origin_requests, "request"), grouped(n.traffic.peer_requests));
    for (const auto& name : n.names)
        fmt::print("name {} leads to {}{}\n", name.name, amount(name.places, "place"),
                   name.trouble.empty() ? "" : ": " + name.trouble);
    for (const auto& place : n.unanswered) fmt::print("no answer from {}\n", place);
    for (const auto& node : n.unplaced)
        fmt::print("no room for the listed peer {} (cluster.max_peers)\n", node);
    if (n.peers.empty()) return;
    fmt::print("links {} sent, {} received, {} out, {} in\n\n",
               amount(n.links.announcements_sent, "announcement"),
               grouped(n.links.announcements_received), amount(n.links.bytes_sent, "byte"),
               grouped(n.links.bytes_received));
    std::size_t width = 16;
    bool any_error = false;
    for (const auto& p : n.peers) {
        width = std::max(width, p.node.size());
        any_error = any_error || !p.last_error.empty();
    }
    fmt::print("{:<{}} {:<16} {:>9} {:>9} {:>9} {:>7} {:>8} {:>8} {:>8}{}\n", "peer", width,
               "state", "asked", "hits", "false", "stale", "refused", "failed", "given",
               any_error ? "  last error" : "");
    for (const auto& p : n.peers) {
        fmt::print("{:<{}} {:<16} {:>9} {:>9} {:>9} {:>7} {:>8} {:>8} {:>8}{}{}\n", p.node, width,
                   p.state, grouped(p.asked), grouped(p.hits), grouped(p.false_hits),
                   grouped(p.stale_hits), grouped(p.refused), grouped(p.failures),
                   grouped(p.served), p.last_error.empty() ? "" : "  ", p.last_error);
    }
    print_sharing(n.peers, width);
}

/// What several nodes did together; one that was asked twice counts once. `missing` more did not
/// answer.
void print_together(std::vector<NodeCounters> nodes, std::size_t missing) {
    const auto by_name = [](const auto& a, const auto& b) { return a.node < b.node; };
    const auto same = [](const auto& a, const auto& b) { return a.node == b.node; };
    std::sort(nodes.begin(), nodes.end(), by_name);
    nodes.erase(std::unique(nodes.begin(), nodes.end(), same), nodes.end());
    NodeCounters sum;
    for (const auto& n : nodes) sum += n;
    const auto known = nodes.size();
    const auto who = missing > 0 ? fmt::format("{} of {} nodes, {} of them missing", known,
                                               known + missing, missing)
                                 : amount(known, "node");
    fmt::print(
        "{}: {}: hit rate {:.1f} % ({:.1f} % local, {:.1f} % from peers), {:.1f} % "
        "origin fetches, {}; {} to origins\n",
        who, amount(sum.total, "request"), percent(sum.local_hit + sum.peer_hit, sum.total),
        percent(sum.local_hit, sum.total), percent(sum.peer_hit, sum.total),
        percent(sum.origin_fetch, sum.total), amount(sum.error, "error"),
        amount(sum.traffic.origin_requests, "request"));
}

/// Words that tell what keeps answers from being what they should be.
std::string hint(const Report& report, const ReplayCommand& command) {
    std::uint64_t wrong = 0, bad = 0, refused = 0, answered = 0;
    for (const auto& row : report.rows) {
        const auto count = [&](Failure failure) {
            return row.seen.failures[static_cast<std::size_t>(failure)];
        };
        wrong += count(Failure::wrong_body);
        bad += count(Failure::bad_status);
        refused += count(Failure::refused);
        answered += row.seen.answered();
    }
    if (refused > answered)
        return "the proxies refuse most requests: their configuration must let this machine, and "
               "these URLs, through (clients, forward, origins)";
    if (wrong + bad == 0 || answered > wrong + bad) return {};
    if (command.replay.verify != Verify::all)
        return fmt::format(
            "most requests got an error for an answer: the proxies must be able to reach the sites "
            "of the {}",
            command.synthetic ? "workload, which only the built-in origin has: see --origin-listen "
                                "and, in the proxies' configuration, origins"
                              : "log");
    return "most answers are not those of hearsay's built-in origin: let the proxies use it, or "
           "leave out --origin-listen and --verify";
}

}  // namespace

int check_command(const std::string& file, bool strict) {
    auto loaded = proxy::load_config(file);
    if (loaded.config) {
        auto here = proxy::doubts_here(*loaded.config);
        std::move(here.begin(), here.end(), std::back_inserter(loaded.warnings));
    } else {
        fmt::print(stderr, "{}: not a valid configuration\n{}", file,
                   proxy::describe(loaded.errors));
    }
    for (const auto& each : loaded.warnings)
        fmt::print(stderr, "{}: warning: {}: {}\n", file, each.path, each.message);
    if (!loaded.config) return kBadConfig;
    if (strict && !loaded.warnings.empty())
        return fail(kBadConfig, "{}: not accepted, as --strict takes warnings for errors", file);
    const auto& config = *loaded.config;
    std::size_t others = 0, names = 0;
    if (config.cluster) {
        for (const auto& peer : config.cluster->peers) others += peer.node != config.node;
        names = config.cluster->dns_peers.size();
    }
    const auto looked_for =
        names == 0 ? "" : fmt::format(" and those behind {}", amount(names, "name"));
    fmt::print("{}: ok: node {}, proxy at {}, {}{}\n", file, config.node, config.listen.text(),
               amount(others, "peer"), looked_for);
    return kOk;
}

int origin_command(const OriginOptions& options) {
    try {
        const Origin origin(options);
        fmt::print(stderr, "hearsay origin: answering any path at http://{}\n",
                   HostPort{options.listen.host, origin.port()}.text());
        boost::asio::io_context context(1);
        boost::asio::signal_set signals(context, SIGINT, SIGTERM);
        signals.async_wait([](boost::system::error_code, int) {});
        context.run();
        fmt::print(stderr, "hearsay origin: {} requests, {} body bytes\n",
                   grouped(origin.requests()), grouped(origin.body_bytes()));
        return kOk;
    } catch (const boost::system::system_error& error) {
        return cannot_listen(options, error);
    }
}

int replay_command(ReplayCommand command) {
    try {
        NodeAddresses addresses;
        command.replay.proxies = addresses.expand(command.proxies);
        const auto admins = addresses.expand(command.admins, proxy::kAdminPort);
        if (!admins.empty() && admins.size() != command.replay.proxies.size()) {
            return fail(
                kUsage,
                "--admin must be given once for each --proxy, in the same order ({} and {})",
                admins.size(), command.replay.proxies.size());
        }
        Progress progress(command.quiet);
        progress.update(command.synthetic ? "making the workload"
                                          : "reading " + command.trace.path);
        const Trace trace =
            command.synthetic ? make_workload(command.workload) : load_trace(command.trace);

        std::unique_ptr<Origin> origin;
        if (!command.origin_listen.empty()) {
            OriginOptions options;
            options.listen = parse_address(command.origin_listen);
            options.workers = command.origin_workers;
            try {
                origin = std::make_unique<Origin>(options);
            } catch (const boost::system::system_error& error) {
                return cannot_listen(options, error);
            }
        }
        MeasureOptions options;
        options.replay = command.replay;
        options.replay.stop_on_signal = true;
        options.admins = admins;
        options.wait =
            std::chrono::milliseconds(static_cast<std::int64_t>(command.wait_seconds * 1000));
        options.origin = origin.get();
        const Report report = measure(trace, options, progress);
        fmt::print("{}", command.json ? report_json(report)
                                      : report_text(report, output_may_be_coloured()));
        std::fflush(stdout);
        if (const auto words = hint(report, command); !words.empty())
            fmt::print(stderr, "hearsay: {}\n", words);
        std::uint64_t wrong = 0, answered = 0;
        for (const auto& row : report.rows) {
            wrong += row.seen.failures[static_cast<std::size_t>(Failure::wrong_body)];
            answered += row.seen.answered();
        }
        return report.stopped || wrong > 0 || answered == 0 ? kFailed : kOk;
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::exception& error) {
        return fail(kFailed, "{}", protocol::plain_message(error));
    }
}

int status_command(const std::vector<NodeChoice>& choices, bool json) {
    try {
        std::vector<AdminPort> admins;
        NodeAddresses addresses;
        for (const auto& choice : choices) {
            if (!choice.url.empty()) {
                for (auto& at : addresses.expand({choice.url}, proxy::kAdminPort))
                    admins.push_back({std::move(at), admin_token()});
                continue;
            }
            std::string why;
            const auto admin = admin_of(choice, why);
            if (!admin) return fail(kBadConfig, "{}", why);
            admins.push_back(*admin);
        }
        std::vector<NodeCounters> nodes;
        std::vector<std::string> answers;
        int code = kOk;
        for (const auto& port : admins) {
            const auto& admin = port.at;
            std::string why;
            const auto answer = http_get(admin, "/api/v1/status", kAdminTimeout, port.token);
            if (!answer) {
                code = fail(kFailed, "no node answers at http://{}: {}{}", admin.text(),
                            answer.error().message(),
                            admins.size() == 1 ? " (give its admin address, or --config)" : "");
                continue;
            }
            if (answer->status == 401 || answer->status == 403) {
                code = fail(kFailed, "http://{}: status {}: {}{}", admin.text(), answer->status,
                            trimmed(answer->body), token_hint(*answer, port));
                continue;
            }
            const auto counters = parse_status(answer->body, why);
            if (!counters) {
                code = fail(kFailed,
                            "http://{}: {} (status {}); it must be the admin port, 9128 by default",
                            admin.text(), why, answer->status);
                continue;
            }
            if (!json) {
                print_status(*counters);
                if (admins.size() > 1) fmt::print("\n");
            }
            nodes.push_back(*counters);
            answers.push_back(answer->body);
        }
        if (json && admins.size() == 1 && !answers.empty()) fmt::print("{}\n", answers.front());
        if (json && admins.size() > 1) fmt::print("[{}]\n", fmt::join(answers, ","));
        if (!json && admins.size() > 1 && !nodes.empty()) {
            const auto missing = admins.size() - nodes.size();
            print_together(std::move(nodes), missing);
        }
        return code;
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
        const auto answer = http_get(admin->at, "/readyz", kAdminTimeout, admin->token);
        const auto where = admin->at.text();
        if (!answer)
            return fail(kFailed, "no node answers at {}: {}", where, answer.error().message());
        if (answer->status != 200) {
            return fail(kFailed, "{}: {} (http://{}/readyz: status {}){}", where, why_not(*answer),
                        where, answer->status, token_hint(*answer, *admin));
        }
        return kOk;
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    }
}

}  // namespace measure
