#include "app/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <iterator>
#include <stdexcept>

#include "app/fail.hpp"
#include "app/page_file.hpp"
#include "app/peer_check.hpp"
#include "app/version.hpp"
#include "measure/measurement.hpp"
#include "measure/report/report_html.hpp"
#include "measure/run/node_addresses.hpp"
#include "protocol/net/plain_message.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/config/disk_folders.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/config/resource_limits.hpp"
#include "proxy/net/load_config.hpp"
#include "proxy/node.hpp"

namespace app {
namespace {

using namespace std::chrono_literals;

void print_errors(const std::string& file, const proxy::ConfigResult& loaded) {
    const auto is_unread = loaded.errors.size() == 1 && loaded.errors[0].path.empty();
    const auto begin =
        is_unread ? std::string("hearsay: ") : file + ": not a valid configuration\n";
    fmt::print(stderr, "{}{}", begin, proxy::describe(loaded.errors));
}

int cannot_listen(const measure::OriginOptions& options, const boost::system::system_error& error) {
    const auto is_taken = error.code() == boost::asio::error::address_in_use;
    return fail(kFailed, "cannot listen at {}: {}{}", options.listen.text(), error.code().message(),
                is_taken ? "; another process listens there, which `ss -ltnp` shows: stop it, or "
                           "choose another address"
                         : "");
}

/// Advice for a replay whose answers were wrong.
std::string hint(const measure::Report& report, const ReplayCommand& command) {
    std::uint64_t wrong = 0, bad = 0, refused = 0, answered = 0;
    for (const auto& row : report.rows) {
        const auto count = [&](measure::RequestFailure failure) {
            return row.seen.failures[static_cast<std::size_t>(failure)];
        };
        wrong += count(measure::RequestFailure::wrong_body);
        bad += count(measure::RequestFailure::bad_status);
        refused += count(measure::RequestFailure::refused);
        answered += row.seen.answered();
    }
    if (refused > answered)
        return "the proxies refuse most requests: their configuration must let this machine, and "
               "these URLs, through (clients, forward, origins)";
    if (wrong + bad == 0 || answered > wrong + bad) return {};
    if (command.replay.verify != measure::Verify::all)
        return fmt::format(
            "most requests got an error for an answer: the proxies must be able to reach the sites "
            "of the {}",
            command.synthetic ? "workload, which only the built-in origin has: see --origin-listen "
                                "and, in the proxies' configuration, origins"
                              : "log");
    return "most answers are not those of hearsay's built-in origin: let the proxies use it, or "
           "leave out --origin-listen and --verify";
}

measure::PageFacts facts_of(const ReplayCommand& command) {
    measure::PageFacts facts{command.written, version_text(), {}};
    if (command.synthetic) facts.seed = command.workload.seed;
    return facts;
}

}  // namespace

int run_command(const std::string& file, proxy::BlockedSignals& blocked) {
    auto loaded = proxy::load_config_to_start(file);
    if (loaded.config) loaded.errors = proxy::make_disks(*loaded.config);
    if (!loaded.errors.empty()) loaded.config.reset();
    if (loaded.config) {
        auto disks = proxy::doubtful_disks(*loaded.config);
        std::move(disks.begin(), disks.end(), std::back_inserter(loaded.warnings));
        auto more = proxy::beyond(proxy::resource_limits(), *loaded.config);
        std::move(more.begin(), more.end(), std::back_inserter(loaded.warnings));
    }
    if (!loaded.config) {
        print_errors(file, loaded);
        return kBadConfig;
    }
    return proxy::run_node(std::move(*loaded.config), std::filesystem::absolute(file), blocked,
                           loaded.warnings);
}

int check_command(const std::string& file, bool strict, bool peers) {
    auto loaded = proxy::load_config_to_start(file);
    if (loaded.config) {
        auto here = proxy::doubts_here(*loaded.config);
        std::move(here.begin(), here.end(), std::back_inserter(loaded.warnings));
        auto open = proxy::open_secrets(*loaded.config, file, loaded.written_secrets);
        std::move(open.begin(), open.end(), std::back_inserter(loaded.warnings));
    } else {
        print_errors(file, loaded);
    }
    for (const auto& each : loaded.warnings)
        fmt::print(stderr, "{}: warning: {}: {}\n", file, each.path, each.message);
    if (!loaded.config) return kBadConfig;
    if (strict && !loaded.warnings.empty())
        return fail(kBadConfig, "{}: refused, because --strict treats warnings as errors", file);
    const auto& config = *loaded.config;
    std::size_t others = 0, names = 0;
    if (config.cluster) {
        for (const auto& peer : config.cluster->peers) others += peer.node != config.node;
        names = config.cluster->dns_peers.size();
    }
    const auto looked_for =
        names == 0 ? "" : fmt::format(" and those behind {}", measure::amount(names, "name"));
    fmt::print("{}: ok: node {}, proxy at {}, {}{}\n", file, config.node, config.listen.text(),
               measure::amount(others, "peer"), looked_for);
    fmt::print(
        "checked: every setting, and the files, directories, addresses and names in it, on this "
        "machine; left out: free ports, and answers of {}\n",
        peers ? "origins" : "peers and origins (--peers tries the peers)");
    return peers ? check_peers(config) : kOk;
}

int origin_command(const measure::OriginOptions& options) {
    try {
        const measure::Origin origin(options);
        fmt::print(stderr, "hearsay origin: answering any path at http://{}\n",
                   protocol::HostPort{options.listen.host, origin.port()}.text());
        boost::asio::io_context context(1);
        boost::asio::signal_set signals(context, SIGINT, SIGTERM);
        signals.async_wait([](boost::system::error_code, int) {});
        context.run();
        fmt::print(stderr, "hearsay origin: {} requests, {} body bytes\n",
                   measure::grouped(origin.requests()), measure::grouped(origin.body_bytes()));
        return kOk;
    } catch (const boost::system::system_error& error) {
        return cannot_listen(options, error);
    }
}

int replay_command(ReplayCommand command) {
    try {
        measure::NodeAddresses addresses;
        command.replay.proxies = addresses.expand(command.proxies);
        const auto admins = addresses.expand(command.admins, proxy::kAdminPort);
        if (!admins.empty() && admins.size() != command.replay.proxies.size()) {
            return fail(
                kUsage,
                "--admin must be given once for each --proxy, in the same order ({} and {})",
                admins.size(), command.replay.proxies.size());
        }
        PageFile page(command.html);
        measure::Progress progress(command.quiet);
        progress.update(command.synthetic ? "making the workload"
                                          : "reading " + command.trace.path);
        const measure::Trace trace = command.synthetic ? measure::make_workload(command.workload)
                                                       : measure::load_trace(command.trace);

        std::unique_ptr<measure::Origin> origin;
        if (!command.origin_listen.empty()) {
            measure::OriginOptions options;
            options.listen = measure::parse_address(command.origin_listen, 0);
            options.workers = command.origin_workers;
            try {
                origin = std::make_unique<measure::Origin>(options);
            } catch (const boost::system::system_error& error) {
                return cannot_listen(options, error);
            }
        }
        measure::MeasureOptions options;
        options.replay = command.replay;
        options.replay.stop_on_signal = true;
        options.admins = admins;
        options.wait =
            std::chrono::milliseconds(static_cast<std::int64_t>(command.wait_seconds * 1000));
        options.origin = origin.get();
        const measure::Report report = measure::measure(trace, options, progress);
        fmt::print("{}", command.json
                             ? measure::report_json(report)
                             : measure::report_text(report, measure::output_may_be_coloured()));
        std::fflush(stdout);
        if (page.is_wanted()) page.write(measure::report_html({report}, facts_of(command)));
        if (const auto words = hint(report, command); !words.empty())
            fmt::print(stderr, "hearsay: {}\n", words);
        std::uint64_t wrong = 0, answered = 0;
        for (const auto& row : report.rows) {
            wrong +=
                row.seen.failures[static_cast<std::size_t>(measure::RequestFailure::wrong_body)];
            answered += row.seen.answered();
        }
        return report.stopped || wrong > 0 || answered == 0 ? kFailed : kOk;
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::exception& error) {
        return fail(kFailed, "{}", protocol::plain_message(error));
    }
}

}  // namespace app
