#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>

#include "measure/commands.hpp"
#include "measure/demo.hpp"
#include "measure/http_get.hpp"
#include "proxy/node.hpp"

namespace {

using namespace measure;

/// What the command line said; each sub-command fills its own part.
struct CommandLine {
    std::string config;
    bool json = false;
    NodeChoice node;
    std::string origin_listen = "127.0.0.1:8000";
    OriginOptions origin;
    ReplayCommand replay;
    DemoCommand demo;
    double timeout_seconds = 30;
    bool reverse = false, no_verify = false;
    std::int64_t max_age = -1;
};

void add_node_options(CLI::App& command, NodeChoice& node) {
    auto* url = command.add_option("--url", node.url,
                                   "Admin address of the node (default http://127.0.0.1:9128)");
    command.add_option("--config", node.config, "Take the admin address from this configuration")
        ->check(CLI::ExistingFile)
        ->excludes(url);
}

void add_log_options(CLI::App& command, ReplayCommand& replay) {
    command.add_option(
        "--trace", replay.trace.path,
        "Request log: tab-separated, Squid access.log, Common or Combined; plain or gzip; "
        "- is standard input");
    command
        .add_option("--site", replay.trace.site,
                    "Put before URLs that are only a path, as in server logs")
        ->capture_default_str();
    command.add_flag("--all", replay.trace.all,
                     "Send every method and status, not only cacheable GETs");
    command.add_option("--limit", replay.trace.limit, "Send at most so many requests");
}

void add_replay(CLI::App& app, CommandLine& line) {
    auto* command =
        app.add_subcommand("replay", "Drive proxies with a request log and print what they did");
    ReplayCommand& replay = line.replay;
    add_log_options(*command, replay);
    command
        ->add_flag("--synthetic", replay.synthetic,
                   "Instead of a log: a made-up workload (Zipf, locality)")
        ->excludes("--trace");
    command->add_option("--requests", replay.workload.requests, "Size of the made-up workload")
        ->check(CLI::Range(1u, 100'000'000u))
        ->capture_default_str();
    command->add_option("--seed", replay.workload.seed, "Seed of the made-up workload")
        ->capture_default_str();
    command->add_option("--proxy", replay.proxies, "Proxy, http://HOST:PORT; once for each")
        ->required();
    command->add_option("--admin", replay.admins,
                        "Its admin address, in the same order; gives the full table");
    auto* rate = command
                     ->add_option("--rate", replay.replay.rate,
                                  "Requests per second (default: as fast as answered)")
                     ->check(CLI::PositiveNumber);
    command
        ->add_option("--speedup", replay.replay.speedup,
                     "Keep the log's times, so many times faster")
        ->check(CLI::PositiveNumber)
        ->excludes(rate);
    command
        ->add_option("--concurrency", replay.replay.concurrency,
                     "Requests under way: at one proxy with --rate or --speedup, else in all")
        ->check(CLI::Range(1u, 10'000u))
        ->capture_default_str();
    command->add_option("--origin-listen", replay.origin_listen,
                        "Run the built-in origin here meanwhile, HOST:PORT");
    command->add_option("--origin-workers", replay.origin_workers, "Its threads")
        ->check(CLI::Range(1u, 64u))
        ->capture_default_str();
    command->add_flag("--failover", replay.replay.failover,
                      "Try the next proxy when a connection fails or breaks");
    command->add_flag("--reverse", line.reverse,
                      "Send `GET /path` with Host (reverse proxies) instead of `GET http://...`");
    command->add_flag("--no-verify", line.no_verify,
                      "Do not check bodies against the built-in origin's");
    command
        ->add_option("--max-age", line.max_age,
                     "Freshness the origin gives, in seconds (default: a day)")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{2'147'483'647}));
    command
        ->add_option("--delay", replay.replay.delay_ms,
                     "Milliseconds the origin waits before each answer")
        ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{600'000}));
    command->add_option("--timeout", line.timeout_seconds, "Seconds for one answer")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command
        ->add_option("--wait", replay.wait_seconds,
                     "Seconds to wait for all --admin to be ready and in step")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    command->add_flag("--json", replay.json, "Print the report as JSON");
    command->add_flag("--quiet", replay.quiet, "No progress");
}

void add_demo(CLI::App& app, DemoCommand& demo) {
    auto* command = app.add_subcommand(
        "demo",
        "Start an origin and three proxies here, replay a made-up workload, print the table");
    command->add_option("--trace", demo.trace.path, "Replay this request log instead")
        ->check(CLI::ExistingFile);
    command->add_option("--site", demo.trace.site, "Put before URLs that are only a path")
        ->capture_default_str();
    command->add_option("--requests", demo.workload.requests, "Size of the made-up workload")
        ->check(CLI::Range(1u, 10'000'000u))
        ->capture_default_str();
    command->add_option("--seed", demo.workload.seed, "Seed of the made-up workload")
        ->capture_default_str();
    command->add_option("--rate", demo.rate, "Requests per second")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    command->add_flag("--stay", demo.stay, "Keep the cluster up afterwards, until Ctrl-C");
    command->add_flag("--json", demo.json, "Print the report as JSON");
}

int run_replay(CommandLine& line) {
    ReplayCommand& replay = line.replay;
    if (replay.trace.path.empty() && !replay.synthetic) {
        std::fputs("hearsay: replay needs --trace FILE or --synthetic\n", stderr);
        return kUsage;
    }
    replay.replay.form = line.reverse ? RequestForm::origin : RequestForm::absolute;
    replay.replay.verify = !line.no_verify;
    if (line.max_age >= 0) replay.replay.max_age = static_cast<std::uint64_t>(line.max_age);
    replay.replay.timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(line.timeout_seconds * 1000));
    return replay_command(std::move(replay));
}

int run_origin(CommandLine& line) {
    try {
        const Address at = parse_address(line.origin_listen);
        line.origin.host = at.host;
        line.origin.port = at.port;
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "hearsay: %s\n", error.what());
        return kUsage;
    }
    return origin_command(line.origin);
}

int run_node(const std::string& file) {
    auto loaded = proxy::load_config(file);
    if (!loaded.config) {
        std::fprintf(stderr, "%s: not a valid configuration\n%s\n", file.c_str(),
                     proxy::describe(loaded.errors).c_str());
        return kBadConfig;
    }
    return proxy::run_node(std::move(*loaded.config));
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("hearsay: HTTP caches that answer for one another");
    app.require_subcommand(1);
    CommandLine line;

    auto* run = app.add_subcommand("run", "Run a proxy");
    run->add_option("--config", line.config, "Its configuration (JSON)")->required();
    auto* check =
        app.add_subcommand("check", "Check a configuration; exits 78 when it is not valid");
    check->add_option("file,--config", line.config, "The configuration (JSON)")->required();
    add_demo(app, line.demo);
    add_replay(app, line);
    auto* origin = app.add_subcommand(
        "origin", "Run the built-in origin: any path, a body that depends on the URL alone");
    origin->add_option("--listen", line.origin_listen, "HOST:PORT")->capture_default_str();
    origin->add_option("--workers", line.origin.workers, "Threads")
        ->check(CLI::Range(1u, 64u))
        ->capture_default_str();
    auto* status = app.add_subcommand("status", "Show what a running node counts");
    add_node_options(*status, line.node);
    status->add_flag("--json", line.json, "As the node gives it");
    auto* healthcheck = app.add_subcommand("healthcheck", "Exit 0 when a node is ready, else 1");
    add_node_options(*healthcheck, line.node);
    auto* version = app.add_subcommand("version", "Print the version");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? kOk : kUsage;
    }
    if (*run) return run_node(line.config);
    if (*check) return check_command(line.config);
    if (app.got_subcommand("demo")) return demo_command(line.demo);
    if (app.got_subcommand("replay")) return run_replay(line);
    if (*origin) return run_origin(line);
    if (*status) return status_command(line.node, line.json);
    if (*healthcheck) return healthcheck_command(line.node);
    if (*version) std::puts("hearsay " HEARSAY_VERSION);
    return kOk;
}
