#include "app/run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "app/command_line.hpp"
#include "app/fail.hpp"
#include "app/origin_check.hpp"
#include "app/peer_check.hpp"
#include "measure/report/numbers.hpp"
#include "proxy/config/config_review.hpp"
#include "proxy/config/disk_folders.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/config/resource_limits.hpp"
#include "proxy/node/load_config.hpp"
#include "proxy/node/node.hpp"

namespace app {
namespace {

constexpr const char* kNeedsFile = "a FILE, its configuration";

void add_config_file(CLI::App& command, std::string& file) {
    auto* named = option(command, "--config", "FILE", file, "The same file, as an option");
    option(command, "file", "FILE", file, "The configuration (JSON); required")->excludes(named);
}

void print_errors(const std::string& file, const proxy::ConfigResult& loaded) {
    const auto is_unread = loaded.errors.size() == 1 && loaded.errors[0].path.empty();
    const auto begin =
        is_unread ? std::string("hearsay: ") : file + ": not a valid configuration\n";
    fmt::print(stderr, "{}{}", begin, proxy::describe(loaded.errors));
}

std::string_view unasked_text(AskedByCheck asks) {
    if (asks.peers) return asks.origins ? "" : ", and answers of origins (--origins)";
    return asks.origins ? ", and answers of peers (--peers)"
                        : ", and answers of peers (--peers) and origins (--origins)";
}

}  // namespace

Command add_run(CLI::App& app, proxy::BlockedSignals* blocked) {
    auto& command = *app.add_subcommand("run", "Runs a node");
    const auto file = std::make_shared<std::string>();
    add_config_file(command, *file);
    return {&command, [file, blocked, &command] {
                return file->empty() ? needs(command, kNeedsFile) : run_command(*file, *blocked);
            }};
}

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
    return proxy::run_node(std::move(loaded), std::filesystem::absolute(file), blocked);
}

Command add_check(CLI::App& app) {
    struct Options {
        std::string file;
        bool strict = false;
        AskedByCheck asks;
    };
    auto& command = *app.add_subcommand(
        "check", "Checks a configuration and the files and names in it; exits 78 if it is invalid");
    const auto check = std::make_shared<Options>();
    add_config_file(command, check->file);
    command.add_flag("--strict", check->strict, "Treats warnings as errors");
    command.add_flag("--peers", check->asks.peers,
                     "Tries each peer's link with the key, and its http port, and reports the "
                     "faults; exits 1 if there are any");
    command.add_flag("--origins", check->asks.origins,
                     "Asks each origin with a `public` name once, and reports its status, its time "
                     "and where it redirects to; exits 1 if one does not answer, or answers 5xx");
    return {&command, [check, &command] {
                if (check->file.empty()) return needs(command, kNeedsFile);
                return check_command(check->file, check->strict, check->asks);
            }};
}

int check_command(const std::string& file, bool strict, AskedByCheck asks) {
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
        "machine; left out: free ports{}\n",
        unasked_text(asks));
    const auto of_peers = asks.peers ? check_peers(config) : kOk;
    const auto of_origins = asks.origins ? check_origins(config) : kOk;
    return std::max(of_peers, of_origins);
}

}  // namespace app
