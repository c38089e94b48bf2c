#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <system_error>

#include "app/admin_commands.hpp"
#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/demo_command.hpp"
#include "app/disk_command.hpp"
#include "app/init_command.hpp"
#include "app/simulate_options.hpp"
#include "app/status_text.hpp"
#include "measure/run/node_addresses.hpp"
#include "proxy/config/config_values.hpp"

namespace {

using namespace app;

/// The options of the command line, one member for each sub-command.
struct CommandLine {
    std::string config;
    bool json = false, strict = false, peers = false;
    NodeChoice node;
    std::vector<std::string> purged_urls, purged_tags;
    InitCommand init;
    std::vector<std::string> nodes;
    std::string explained;
    std::string help_on;
    std::string origin_listen = "127.0.0.1:8000";
    measure::OriginOptions origin;
    ReplayCommand replay;
    DemoCommand demo;
    SimulateCommand simulate;
    DiskCommand disk;
    double timeout_seconds = 30;
    bool reverse = false, verify = false, no_verify = false;
    std::int64_t max_age = -1;
};

constexpr const char* kReplayFooter = R"(Formats of --trace, found out from the first lines:
  JSON           hearsay's own access log (log.format json); lines of peers' requests are skipped
  Squid          its native access.log, also hearsay's log.format squid
  Common,        of any server, also hearsay's log.format combined; URLs that are only a path
  Combined       follow --site, or the virtual host where each line begins with it
  tab-separated  milliseconds since 1970, number of the client, method, absolute URL, status, bytes
                 (0 or - if not known); what follows is not looked at; # begins a comment

Requests of one client go to one proxy, in order, one at a time. Sizes of the log are asked of the
built-in origin (`hearsay origin`, --origin-listen); any other origin answers as it does, and its
bytes are counted as they come. Caches should be empty, and nobody else should use them meanwhile,
or the table compares different things; it says so when it can tell. HEARSAY_ADMIN_TOKEN in the
environment is given as the token of every --admin.

  hearsay replay --trace access.log --proxy http://10.0.0.1:3128 --admin http://10.0.0.1:9128

Exit codes: 0; 1 when it was stopped, a body was wrong or nothing was answered; 2 usage.)";

void add_config_file(CLI::App& command, std::string& file) {
    auto* named = option(command, "--config", "FILE", file, "The same");
    option(command, "file", "FILE", file, "The configuration (JSON); needed")->excludes(named);
}

void add_node_options(CLI::App& command, const char* name, NodeChoice& node) {
    auto* url = option(command, name, "ADDRESS", node.url,
                       "Admin address of the node (default 127.0.0.1:9128)");
    option(command, "--config", "FILE", node.config,
           "Take the admin address and token from this configuration")
        ->excludes(url);
    command.footer("HEARSAY_ADMIN_TOKEN in the environment is given as the admin port's token.");
}

void add_workload_options(CLI::App& command, measure::WorkloadOptions& workload) {
    option(command, "--requests", "N", workload.requests, "Size of the made-up workload")
        ->check(within(1u, 100'000'000u))
        ->capture_default_str();
    option(command, "--seed", "N", workload.seed, "Seed of the made-up workload")
        ->check(whole_number())
        ->capture_default_str();
}

/// A log excludes the options of the made-up workload.
void exclude_workload(CLI::App& command) {
    command.get_option("--trace")
        ->excludes(command.get_option("--requests"))
        ->excludes(command.get_option("--seed"));
}

void add_source(CLI::App& command, ReplayCommand& replay) {
    option(command, "--trace", "FILE", replay.trace.path,
           "Request log, plain or gzip; - is standard input; formats: see below");
    option(command, "--site", "URL", replay.trace.site,
           "Put before URLs that are only a path, as in server logs")
        ->capture_default_str();
    command.add_flag("--all", replay.trace.all,
                     "Send every method and status, not only cacheable GETs");
    option(command, "--limit", "N", replay.trace.limit, "Send at most so many requests")
        ->check(within(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()));
    command
        .add_flag("--synthetic", replay.synthetic,
                  "Instead of a log: a made-up workload (Zipf, locality)")
        ->excludes("--trace");
    add_workload_options(command, replay.workload);
    exclude_workload(command);
}

void add_pace(CLI::App& command, measure::ReplayOptions& replay) {
    auto* rate = option(command, "--rate", "N", replay.rate,
                        "Requests per second (default: as fast as answered)")
                     ->check(above_zero());
    option(command, "--speedup", "N", replay.speedup, "Keep the log's times, so many times faster")
        ->check(above_zero())
        ->excludes(rate);
    option(command, "--concurrency", "N", replay.concurrency,
           "Requests under way: at one proxy with --rate or --speedup, else in all")
        ->check(within(1u, 10'000u))
        ->capture_default_str();
}

void add_replay(CLI::App& app, CommandLine& line) {
    auto& command =
        *app.add_subcommand("replay", "Drive proxies with a request log and print what they did");
    command.footer(kReplayFooter);
    ReplayCommand& replay = line.replay;
    option(command, "--proxy", "URL", replay.proxies,
           "Proxy, http://HOST:PORT, once for each; or dns:HOST:PORT, every address of a name")
        ->required();
    option(command, "--admin", "URL", replay.admins,
           "Its admin address, in the same order (dns: too); gives the full table");
    add_source(command, replay);
    add_pace(command, replay.replay);
    option(command, "--origin-listen", "HOST:PORT", replay.origin_listen,
           "Run the built-in origin here meanwhile");
    option(command, "--origin-workers", "N", replay.origin_workers, "Its threads")
        ->check(within(1u, 64u))
        ->capture_default_str();
    command.add_flag("--failover", replay.replay.failover,
                     "Try the next proxy when a connection fails or breaks");
    command.add_flag("--reverse", line.reverse,
                     "Send `GET /path` with Host (reverse proxies) instead of `GET http://...`");
    auto* verify = command.add_flag(
        "--verify", line.verify,
        "Every body must be the built-in origin's (so it is with --origin-listen; else only those "
        "are checked that say they come from it)");
    command.add_flag("--no-verify", line.no_verify, "Check no body")->excludes(verify);
    option(command, "--max-age", "N", line.max_age,
           "Freshness the origin gives, in seconds (default: a day)")
        ->check(within(std::int64_t{0}, std::int64_t{2'147'483'647}));
    option(command, "--delay", "N", replay.replay.delay_ms,
           "Milliseconds the origin waits before each answer")
        ->check(within(std::uint64_t{0}, std::uint64_t{600'000}));
    option(command, "--timeout", "N", line.timeout_seconds, "Seconds for one answer")
        ->check(above_zero())
        ->capture_default_str();
    option(command, "--wait", "N", replay.wait_seconds,
           "Seconds to wait for all --admin to be ready and in step")
        ->check(not_negative())
        ->capture_default_str();
    command.add_flag("--json", replay.json, "Print the report as JSON");
    command.add_flag("--quiet", replay.quiet, "No progress");
}

std::optional<std::uint64_t> parse_disk_size(const std::string& text) {
    const auto size = proxy::parse_size(text);
    return size && *size >= proxy::kMinDiskBytes && *size <= proxy::kMaxDiskBytes ? size
                                                                                  : std::nullopt;
}

void add_demo(CLI::App& app, DemoCommand& demo) {
    auto& command = *app.add_subcommand(
        "demo",
        "Start an origin and three proxies here, replay a made-up workload, print the table");
    option(command, "--trace", "FILE", demo.trace.path, "Replay this request log instead");
    option(command, "--site", "URL", demo.trace.site, "Put before URLs that are only a path")
        ->capture_default_str();
    add_workload_options(command, demo.workload);
    exclude_workload(command);
    option(command, "--rate", "N", demo.rate, "Requests per second")
        ->check(above_zero())
        ->capture_default_str();
    parsed(command, "--disk", "SIZE", demo.disk_bytes, parse_disk_size,
           "the size of a disk, as 1GiB, from 256MiB on",
           "Give each proxy a disk; after half of the workload kill all (kill -9) and go on with "
           "what the disks kept");
    command.add_flag("--stay", demo.stay, "Keep the cluster up afterwards, until Ctrl-C");
    command.add_flag("--json", demo.json, "Print the report as JSON");
}

constexpr const char* kDiskFooter =
    R"(Each PATH is a directory of cache.disk, which no node may be using, or one of its files
(*.segment), at any time. Nothing is changed there. What was purged by URL counts as if it were
there, as only the node can tell; it does not give it.

  hearsay disk /var/cache/hearsay --check

Exit codes: 0; 1 when it cannot be looked at, with --check when something is damaged, with --url
when that URL is nowhere there; 2 usage.)";

void add_disk(CLI::App& app, DiskCommand& disk) {
    auto& command = *app.add_subcommand("disk", "Show what a stopped cache holds on disk");
    command.footer(kDiskFooter);
    option(command, "path", "PATH...", disk.places,
           "Directories of cache.disk, or single files of theirs")
        ->required();
    option(command, "--url", "URL", disk.url,
           "Say whether it is there, all variants: where, since when, until when");
    command.add_flag("--check", disk.check, "Read everything and verify every checksum");
    command.add_flag("--json", disk.json, "Print it as JSON");
    command.add_flag("--quiet", disk.quiet, "No progress");
}

/// The commands that give orders to a running node.
void add_orders(CLI::App& app, CommandLine& line) {
    auto& purge = *app.add_subcommand(
        "purge", "End what is stored under URLs or with tags, in the whole cluster");
    option(purge, "urls", "URL...", line.purged_urls, "Whole URLs, as clients ask for them");
    option(purge, "--tag", "TAG", line.purged_tags,
           "All responses with this tag in Surrogate-Key; any number of times");
    add_node_options(purge, "--at", line.node);
    purge.add_flag("--json", line.json, "As the node says it");
    purge.footer(
        purge.get_footer() +
        "\n\n  hearsay purge http://www.example.org/page --tag news\n\nExit codes: 0 when it "
        "is gone, also when nodes that are away have to drop it first when they are back; 1 "
        "when a node that is there has not confirmed it yet, or none answers; 2 usage; 78 bad "
        "configuration.");
    auto& reload = *app.add_subcommand(
        "reload", "Let a running node read its configuration again; 1 when it refuses it");
    add_node_options(reload, "--at", line.node);
    reload.add_flag("--json", line.json, "As the node says it");
    auto& drain =
        *app.add_subcommand("drain", "Let a running node finish what is at hand, and end");
    add_node_options(drain, "--at", line.node);
    auto& reopen = *app.add_subcommand(
        "reopen-logs", "Let a running node open its access log anew, after it was moved away");
    add_node_options(reopen, "--at", line.node);
}

constexpr const char* kInitFooter =
    R"(Each NODE is [NAME=]HOST[:PORT]: where it answers requests (3128 if not said); the next port is that of its
links, and its admin port is on its own loopback. Names are a, b, ... if not given. Nothing is overwritten.

  hearsay init 10.0.0.1 10.0.0.2 10.0.0.3 --out cluster --cache 2GiB

Exit codes: 0; 1 when a file cannot be written, or is there already; 2 usage.)";

void add_init(CLI::App& app, InitCommand& init) {
    auto& command = *app.add_subcommand(
        "init", "Write configurations that fit together, for the nodes of a cluster, and a key");
    command.footer(kInitFooter);
    option(command, "nodes", "NODE...", init.nodes, "Two or more")->required();
    option(command, "--out", "FOLDER", init.folder, "Where to write; made if it is not there")
        ->capture_default_str();
    option(command, "--cache", "SIZE", init.memory, "Memory of each cache")->capture_default_str();
    option(command, "--origin", "URL", init.origin,
           "Answer for this server (reverse proxies); without it they are forward proxies");
}

int run_replay(CommandLine& line) {
    ReplayCommand& replay = line.replay;
    if (replay.trace.path.empty() && !replay.synthetic) {
        std::fputs("hearsay: replay needs --trace FILE or --synthetic\n", stderr);
        return kUsage;
    }
    replay.replay.form =
        line.reverse ? measure::RequestForm::origin : measure::RequestForm::absolute;
    if (line.no_verify) replay.replay.verify = measure::Verify::none;
    if (line.verify || (!line.no_verify && !replay.origin_listen.empty()))
        replay.replay.verify = measure::Verify::all;
    if (line.max_age >= 0) replay.replay.max_age = static_cast<std::uint64_t>(line.max_age);
    replay.replay.timeout =
        std::chrono::milliseconds(static_cast<std::int64_t>(line.timeout_seconds * 1000));
    return replay_command(std::move(replay));
}

int run_origin(CommandLine& line) {
    try {
        line.origin.listen = measure::parse_address(line.origin_listen, 0);
    } catch (const std::invalid_argument& error) {
        std::fprintf(stderr, "hearsay: %s\n", error.what());
        return kUsage;
    }
    return origin_command(line.origin);
}

int run_status(const CommandLine& line) {
    std::vector<NodeChoice> choices;
    for (const auto& url : line.nodes) choices.push_back({url, {}});
    if (!line.node.url.empty() || !line.node.config.empty() || choices.empty())
        choices.push_back(line.node);
    return status_command(choices, line.json);
}

int no_command(const CLI::App& app, const std::string& name) {
    std::vector<std::string> known;
    for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
        known.push_back(command->get_name());
    const std::string near(proxy::nearest_name(name, known));
    std::fprintf(stderr, "hearsay: no command '%s'; %s\n", name.c_str(),
                 near.empty() ? "see hearsay --help" : ("did you mean '" + near + "'?").c_str());
    return kUsage;
}

/// Proposes the option that was probably meant, after the error about an unknown one.
void propose_option(const CLI::App& app, const std::vector<std::string>& words) {
    std::vector<std::string> known;
    const auto is_meant = [&](const CLI::App* command) { return command->check_name(words[0]); };
    const auto given = app.get_subcommands(is_meant);
    for (const auto* option : (given.empty() ? &app : given.front())->get_options())
        for (const auto& name : option->get_lnames()) known.push_back(name);
    for (const auto& word : words) {
        if (!word.starts_with("--")) continue;
        const auto name = word.substr(2, word.find('=') - 2);
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        const std::string near(proxy::nearest_name(name, known));
        if (!near.empty())
            std::fprintf(stderr, "Did you mean --%s in place of --%s?\n", near.c_str(),
                         name.c_str());
    }
}

/// `hearsay help [COMMAND]`.
int run_help(const CLI::App& app, const std::string& name) {
    const auto is_meant = [&](const CLI::App* command) { return command->check_name(name); };
    const auto found =
        name.empty() ? std::vector<const CLI::App*>{} : app.get_subcommands(is_meant);
    if (!name.empty() && found.empty()) return no_command(app, name);
    // App::help() would print the help of the sub-command in use, which is this one.
    const auto text = found.empty() ? app.get_formatter()->make_help(&app, app.get_name(),
                                                                     CLI::AppFormatMode::Normal)
                                    : found.front()->help(app.get_name());
    std::fputs(text.c_str(), stdout);
    if (!text.ends_with('\n')) std::fputs("\n", stdout);
    return kOk;
}

/// Returns the exit code.
int run_command_line(int argc, char** argv) {
    CLI::App app("hearsay: HTTP caches that answer for one another", "hearsay");
    app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
        return "hearsay: " + CLI::FailureMessage::simple(failed, error);
    });
    app.require_subcommand(0, 1);  // sub-commands are optional here: the parser would report a
                                   // missing one before an unknown option
    app.set_version_flag("--version", "hearsay " HEARSAY_VERSION);
    CommandLine line;

    auto* run = app.add_subcommand("run", "Run a proxy");
    add_config_file(*run, line.config);
    auto* check = app.add_subcommand(
        "check", "Check a configuration, and what it names; exits 78 when it is not valid");
    add_config_file(*check, line.config);
    check->add_flag("--strict", line.strict, "Take warnings for errors");
    check->add_flag("--peers", line.peers,
                    "Dial each peer's link with the key, and its http port, and say what is wrong; "
                    "exits 1 when something is");
    add_init(app, line.init);
    add_demo(app, line.demo);
    add_replay(app, line);
    add_simulate(app, line.simulate);
    auto* origin = app.add_subcommand(
        "origin", "Run the built-in origin: any path, a body that depends on the URL alone");
    option(*origin, "--listen", "HOST:PORT", line.origin_listen, "Where")->capture_default_str();
    option(*origin, "--workers", "N", line.origin.workers, "Threads")
        ->check(within(1u, 64u))
        ->capture_default_str();
    auto* status = app.add_subcommand(
        "status", "Show what running nodes count: one, or several and the sum of them");
    option(*status, "nodes", "HOST:PORT...", line.nodes,
           "Admin addresses (dns:HOST:PORT is every address of a name); of all nodes, for the "
           "hit rate of the cluster");
    add_node_options(*status, "--url", line.node);
    status->footer(sharing_legend() + "\n\n" + status->get_footer());
    status->add_flag("--json", line.json, "As the node gives it");
    add_orders(app, line);
    add_disk(app, line.disk);
    auto* healthcheck = app.add_subcommand("healthcheck", "Exit 0 when a node is ready, else 1");
    add_node_options(*healthcheck, "--url", line.node);
    auto* explain = app.add_subcommand(
        "explain",
        "Tell of one URL where it is, what the summaries say, and whom a miss would ask");
    option(*explain, "url", "URL", line.explained, "A whole URL, as clients ask for it; needed");
    add_node_options(*explain, "--at", line.node);
    explain->add_flag("--json", line.json, "As the node gives it");
    auto* version = app.add_subcommand("version", "Print the version");
    auto* help = app.add_subcommand("help", "Print the help of a command");
    option(*help, "command", "COMMAND", line.help_on, "Which; without it, the list of all");

    const auto is_meant = [&](const CLI::App* command) { return command->check_name(argv[1]); };
    if (argc > 1 && argv[1][0] != '-' && app.get_subcommands(is_meant).empty())
        return no_command(app, argv[1]);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const auto code = app.exit(error) == 0 ? kOk : kUsage;
        if (dynamic_cast<const CLI::ExtrasError*>(&error))
            propose_option(app, {argv + 1, argv + argc});
        return code;
    }
    if (app.get_subcommands().empty()) {
        std::fputs("hearsay: give a command; see hearsay --help\n", stderr);
        return kUsage;
    }
    // Checked here because the parser would report the missing file before an unknown option.
    if ((*run || *check) && line.config.empty()) {
        std::fprintf(stderr, "hearsay: %s needs a FILE, its configuration; see hearsay help %s\n",
                     argv[1], argv[1]);
        return kUsage;
    }
    if (*explain && line.explained.empty()) {
        std::fputs("hearsay: explain needs a URL; see hearsay help explain\n", stderr);
        return kUsage;
    }
    if (app.got_subcommand("purge") && line.purged_urls.empty() && line.purged_tags.empty()) {
        std::fputs("hearsay: purge needs a URL or --tag; see hearsay help purge\n", stderr);
        return kUsage;
    }
    if (*run) return run_command(line.config);
    if (*help) return run_help(app, line.help_on);
    if (*check) return check_command(line.config, line.strict, line.peers);
    if (app.got_subcommand("init")) return init_command(line.init);
    if (app.got_subcommand("purge"))
        return purge_command(line.node, line.purged_urls, line.purged_tags, line.json);
    if (app.got_subcommand("reload")) return reload_command(line.node, line.json);
    if (app.got_subcommand("drain")) return drain_command(line.node);
    if (app.got_subcommand("reopen-logs")) return reopen_logs_command(line.node);
    if (app.got_subcommand("disk")) return disk_command(line.disk);
    if (app.got_subcommand("demo")) return demo_command(line.demo);
    if (app.got_subcommand("replay")) return run_replay(line);
    if (app.got_subcommand("simulate")) return simulate_command(std::move(line.simulate));
    if (*origin) return run_origin(line);
    if (*status) return run_status(line);
    if (*explain) return explain_command(line.node, line.explained, line.json);
    if (*healthcheck) return healthcheck_command(line.node);
    if (*version) std::puts("hearsay " HEARSAY_VERSION);
    return kOk;
}

/// Opens /dev/null for closed standard streams; otherwise a socket would get their numbers, and the
/// output. Standard output opens for reading, so that writes still fail.
void hold_standard_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0)  // open() takes the lowest free number, which is this one
            (void)::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

/// Flushes standard output, and reports an error if that fails.
int checked_output(int code) {
    const bool flushed = std::fflush(stdout) == 0;
    if (flushed && std::ferror(stdout) == 0) return code;
    // errno holds no cause if an earlier write failed.
    std::fprintf(stderr, "hearsay: cannot write to standard output%s%s\n", flushed ? "" : ": ",
                 flushed ? "" : std::strerror(errno));
    return code == kOk ? kFailed : code;
}

}  // namespace

int main(int argc, char** argv) {
    hold_standard_streams();
    try {
        return checked_output(run_command_line(argc, argv));
    } catch (const std::system_error& error) {  // thrown by fmt::print if an output fails
        std::fprintf(stderr, "hearsay: %s\n", error.what());
        return kFailed;
    }
}
