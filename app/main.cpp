#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "app/admin_commands.hpp"
#include "app/ca_command.hpp"
#include "app/command_line.hpp"
#include "app/commands.hpp"
#include "app/demo_command.hpp"
#include "app/disk_command.hpp"
#include "app/init_command.hpp"
#include "app/page_file.hpp"
#include "app/simulate_options.hpp"
#include "app/status_text.hpp"
#include "app/top_command.hpp"
#include "app/version.hpp"
#include "measure/run/node_addresses.hpp"
#include "proxy/blocked_signals.hpp"
#include "proxy/config/config_values.hpp"

namespace {

using namespace app;

/// The options of the command line, one member for each sub-command.
struct CommandLine {
    proxy::BlockedSignals* blocked = nullptr;  // set for `run`
    std::string config;
    bool json = false, strict = false, peers = false;
    NodeChoice node;
    PurgeNames purged;
    InitCommand init;
    CaCommand ca;
    std::vector<std::string> nodes;
    std::string explained;
    std::string since = "24h";
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

constexpr const char* kReplayFooter = R"(Formats of --trace; the first lines decide which one it is:
  JSON           hearsay's own access log (log.format json); lines of peers' requests are skipped
  Squid          its native access.log, also hearsay's log.format squid
  Common,        of any server, also hearsay's log.format combined; URLs that are only a path
  Combined       follow --site, or the virtual host where each line begins with it
  tab-separated  milliseconds since 1970, number of the client, method, absolute URL, status, bytes
                 (0 or - if unknown); further columns are ignored; # begins a comment

The requests of one client go to one proxy, in order, one at a time. The built-in origin (`hearsay
origin`, --origin-listen) gives bodies of the sizes in the log. Another origin answers in its own
way, and its bytes are counted as they arrive. The caches should be empty and free of other clients;
otherwise the report warns, as far as it notices. The environment variable HEARSAY_ADMIN_TOKEN
holds the token of every --admin.

  hearsay replay --trace access.log --proxy http://10.0.0.1:3128 --admin http://10.0.0.1:9128

Exit codes: 0; 1 if it was stopped, a body was wrong or every request failed; 2 usage.)";

constexpr const char* kHtmlHelp = "Also writes a page with charts to this file";

void add_config_file(CLI::App& command, std::string& file) {
    auto* named = option(command, "--config", "FILE", file, "The same file, as an option");
    option(command, "file", "FILE", file, "The configuration (JSON); required")->excludes(named);
}

void add_node_options(CLI::App& command, const char* name, NodeChoice& node) {
    auto* url = option(command, name, "ADDRESS", node.url,
                       "Admin address of the node (default 127.0.0.1:9128)");
    option(command, "--config", "FILE", node.config,
           "Takes the admin address and token from this configuration")
        ->excludes(url);
    command.footer(
        "The environment variable HEARSAY_ADMIN_TOKEN holds the token of the admin port.");
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
           "Prefix of URLs that are only a path, as in server logs")
        ->capture_default_str();
    command.add_flag("--all", replay.trace.all,
                     "Sends every method and status; the default is cacheable GETs");
    option(command, "--limit", "N", replay.trace.limit, "Sends at most so many requests")
        ->check(within(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()));
    command
        .add_flag("--synthetic", replay.synthetic,
                  "Uses a made-up workload (Zipf, locality) instead of a log")
        ->excludes("--trace");
    add_workload_options(command, replay.workload);
    exclude_workload(command);
}

void add_pace(CLI::App& command, measure::ReplayOptions& replay) {
    auto* rate = option(command, "--rate", "N", replay.rate,
                        "Requests per second (default: as fast as the proxies answer)")
                     ->check(above_zero());
    option(command, "--speedup", "N", replay.speedup, "Keeps the log's times, so many times faster")
        ->check(above_zero())
        ->excludes(rate);
    option(command, "--concurrency", "N", replay.concurrency,
           "Requests in progress: at each proxy with --rate or --speedup, otherwise in all")
        ->check(within(1u, 10'000u))
        ->capture_default_str();
}

void add_replay(CLI::App& app, CommandLine& line) {
    auto& command = *app.add_subcommand(
        "replay", "Sends a request log to proxies and prints a table of the results");
    command.footer(kReplayFooter);
    ReplayCommand& replay = line.replay;
    option(command, "--proxy", "URL", replay.proxies,
           "Proxy, http://HOST:PORT, once for each; or dns:HOST:PORT for every address of a name")
        ->required();
    option(command, "--admin", "URL", replay.admins,
           "Admin addresses in the same order (dns: too); they complete the table");
    add_source(command, replay);
    add_pace(command, replay.replay);
    option(command, "--origin-listen", "HOST:PORT", replay.origin_listen,
           "Runs the built-in origin here during the replay");
    option(command, "--origin-workers", "N", replay.origin_workers,
           "Threads of the built-in origin")
        ->check(within(1u, 64u))
        ->capture_default_str();
    command.add_flag("--failover", replay.replay.failover,
                     "Tries the next proxy after a connection fails or breaks");
    command.add_flag("--reverse", line.reverse,
                     "Sends `GET /path` with Host (reverse proxies) instead of `GET http://...`");
    auto* verify = command.add_flag("--verify", line.verify,
                                    "Checks that every body is the built-in origin's. That is the "
                                    "default with --origin-listen; "
                                    "otherwise answers that name this origin are checked");
    command.add_flag("--no-verify", line.no_verify, "Accepts any body")->excludes(verify);
    option(command, "--max-age", "N", line.max_age,
           "Seconds of freshness that the built-in origin gives (default: a day)")
        ->check(within(std::int64_t{0}, std::int64_t{2'147'483'647}));
    option(command, "--delay", "N", replay.replay.delay_ms,
           "Milliseconds that the built-in origin waits before each answer")
        ->check(within(std::uint64_t{0}, std::uint64_t{600'000}));
    option(command, "--timeout", "N", line.timeout_seconds,
           "Longest wait for one answer, in seconds")
        ->check(above_zero())
        ->capture_default_str();
    option(command, "--wait", "N", replay.wait_seconds,
           "Longest wait for all --admin to be ready and in step, in seconds")
        ->check(not_negative())
        ->capture_default_str();
    option(command, "--html", "FILE", replay.html, kHtmlHelp);
    command.add_flag("--json", replay.json, "Prints the report as JSON");
    command.add_flag("--quiet", replay.quiet, "Hides the progress");
}

std::optional<std::uint64_t> parse_disk_size(const std::string& text) {
    const auto size = proxy::parse_size(text);
    return size && *size >= proxy::kMinDiskBytes && *size <= proxy::kMaxDiskBytes ? size
                                                                                  : std::nullopt;
}

void add_demo(CLI::App& app, DemoCommand& demo) {
    auto& command = *app.add_subcommand(
        "demo",
        "Starts an origin and three proxies here, replays a made-up workload and prints the table");
    option(command, "--trace", "FILE", demo.trace.path, "Replays this request log instead");
    option(command, "--site", "URL", demo.trace.site, "Prefix of URLs that are only a path")
        ->capture_default_str();
    add_workload_options(command, demo.workload);
    exclude_workload(command);
    option(command, "--rate", "N", demo.rate, "Requests per second")
        ->check(above_zero())
        ->capture_default_str();
    parsed(
        command, "--disk", "SIZE", demo.disk_bytes, parse_disk_size,
        "the size of a disk, as 1GiB, from 256MiB on",
        "Gives each proxy a disk. After half of the workload all proxies are killed (kill -9) and "
        "started again with the content of their disks");
    command.add_flag("--stay", demo.stay, "Keeps the cluster up afterwards, until Ctrl-C");
    option(command, "--html", "FILE", demo.html, kHtmlHelp);
    command.add_flag("--json", demo.json, "Prints the report as JSON");
}

constexpr const char* kDiskFooter =
    R"(Each PATH is a directory of cache.disk of a stopped node, or one file (*.segment) of any node. The
command only reads. It counts responses that were purged by URL, because only the node knows that
they are invalid.

  hearsay disk /var/cache/hearsay --check

Exit codes: 0; 1 if a PATH is unreadable, if --check finds damage, or if no PATH has the --url; 2
usage.)";

void add_disk(CLI::App& app, DiskCommand& disk) {
    auto& command = *app.add_subcommand("disk", "Shows the content of a stopped cache's disk");
    command.footer(kDiskFooter);
    option(command, "path", "PATH...", disk.places,
           "Directories of cache.disk, or single segment files")
        ->required();
    option(command, "--url", "URL", disk.url,
           "Lists all variants of this URL: place, time of storage, end of freshness");
    command.add_flag("--check", disk.check, "Reads all records and verifies every checksum");
    command.add_flag("--json", disk.json, "Prints JSON");
    command.add_flag("--quiet", disk.quiet, "Hides the progress");
}

/// The commands that give orders to a running node.
void add_orders(CLI::App& app, CommandLine& line) {
    auto& purge = *app.add_subcommand(
        "purge", "Invalidates stored responses by URL, tag, rule or prefix, in the whole cluster");
    option(purge, "urls", "URL...", line.purged.urls, "Complete URLs, as clients request them");
    option(purge, "--tag", "TAG", line.purged.tags,
           "Tag of the responses (Surrogate-Key); any number of times");
    option(purge, "--rule", "NAME", line.purged.rules,
           "All responses that the rule of this name stored; any number of times");
    option(purge, "--prefix", "URL/", line.purged.prefixes,
           "All URLs that begin with this one, which ends with a slash; any number of times");
    purge.add_flag("--soft", line.purged.soft,
                   "Makes the responses of the asked node stale in place of removing them");
    add_node_options(purge, "--at", line.node);
    purge.add_flag("--json", line.json, "Prints the node's answer unchanged");
    purge.footer(
        purge.get_footer() +
        "\n\n  hearsay purge http://www.example.org/page --tag news\n\nExit codes: 0 after "
        "every linked node has confirmed; a node without a link drops the responses when its link "
        "is up again, and until then goes on serving its own copies. 1 if a linked node has yet to "
        "confirm, or the asked node is silent; 2 "
        "usage; 78 bad configuration.");
    auto& reload = *app.add_subcommand(
        "reload",
        "Makes a running node read its configuration again; exits 1 if it refuses the file");
    add_node_options(reload, "--at", line.node);
    reload.add_flag("--json", line.json, "Prints the node's answer unchanged");
    auto& drain = *app.add_subcommand("drain", "Makes a running node finish its requests and end");
    add_node_options(drain, "--at", line.node);
    auto& reopen = *app.add_subcommand(
        "reopen-logs", "Makes a running node reopen its access log after a rotation");
    add_node_options(reopen, "--at", line.node);
}

constexpr const char* kInitFooter =
    R"(Each NODE is [NAME=]HOST[:PORT], the address for its requests; the default port is 3128. Its links use the
next port, and its admin port is on its own loopback. Default names are a, b, ... Existing files stay.

  hearsay init 10.0.0.1 10.0.0.2 10.0.0.3 --out cluster --cache 2GiB

Exit codes: 0; 1 if a file exists or cannot be written; 2 usage.)";

void add_init(CLI::App& app, InitCommand& init) {
    auto& command = *app.add_subcommand(
        "init", "Writes matching configurations for the nodes of a cluster, and a cluster key");
    command.footer(kInitFooter);
    option(command, "nodes", "NODE...", init.nodes, "Two or more")->required();
    option(command, "--out", "FOLDER", init.folder, "Folder of the files; created if it is missing")
        ->capture_default_str();
    option(command, "--cache", "SIZE", init.memory, "Memory of each cache")->capture_default_str();
    option(command, "--origin", "URL", init.origin,
           "Makes reverse proxies for this server; the default is forward proxies");
}

constexpr const char* kCaFooter =
    R"(The CA is for forward.intercept. It writes ca.pem, which clients have to trust, and ca-key.pem, which
only the node may read. X.509 name constraints permit the hosts and all names below them, and no
address, so a stolen key can pose as no other site. *.crates.io and .crates.io mean crates.io here,
because TLS libraries disagree about the leading dot.

  hearsay ca create --host pypi.org --host files.pythonhosted.org --host .crates.io /etc/hearsay/ca

Exit codes: 0; 1 if a file exists already or cannot be written; 2 usage.)";

void add_ca(CLI::App& app, CaCommand& ca) {
    constexpr unsigned kMaxDays = 36'500;
    auto& command = *app.add_subcommand(
        "ca", "Makes a CA that can sign for the hosts of forward.intercept alone");
    command.footer(kCaFooter);
    option(command, "action", "create", ca.action, "Makes a new CA")
        ->required()
        ->check(CLI::IsMember({"create"}).description(""));
    option(command, "folder", "DIR", ca.folder, "Folder of the two files; created if missing");
    option(command, "--host", "HOST", ca.hosts, "Host with all names below it; any number of times")
        ->allow_extra_args(false);
    option(command, "--days", "N", ca.days, "Days until it expires")
        ->capture_default_str()
        ->check(within(1u, kMaxDays));
    option(command, "--name", "TEXT", ca.name, "Its name in the lists of clients")
        ->capture_default_str();
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

/// The nodes of a command for several.
std::vector<NodeChoice> choices_of(const CommandLine& line) {
    std::vector<NodeChoice> choices;
    for (const auto& url : line.nodes) choices.push_back({url, {}});
    if (!line.node.url.empty() || !line.node.config.empty() || choices.empty())
        choices.push_back(line.node);
    return choices;
}

int run_status(const CommandLine& line) {
    return status_command(choices_of(line), line.json);
}

int run_report(const CommandLine& line) {
    return report_command(choices_of(line), line.since, line.json);
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

/// Proposes the option that was probably meant, after the error about an unknown one or about a log
/// without `--trace`.
void propose_option(const CLI::App& app, const std::vector<std::string>& words) {
    std::vector<std::string> known;
    const auto is_meant = [&](const CLI::App* command) { return command->check_name(words[0]); };
    const auto given = app.get_subcommands(is_meant);
    for (const auto* option : (given.empty() ? &app : given.front())->get_options())
        for (const auto& name : option->get_lnames()) known.push_back(name);
    if (!given.empty() && given.front()->get_option_no_throw("--trace") != nullptr)
        for (const auto& word : given.front()->remaining())
            if (!word.starts_with("-"))
                std::fprintf(stderr, "A request log is given as --trace %s\n", word.c_str());
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

void add_run_and_check(CLI::App& app, CommandLine& line) {
    auto& run = *app.add_subcommand("run", "Runs a node");
    add_config_file(run, line.config);
    auto& check = *app.add_subcommand(
        "check", "Checks a configuration and the files and names in it; exits 78 if it is invalid");
    add_config_file(check, line.config);
    check.add_flag("--strict", line.strict, "Treats warnings as errors");
    check.add_flag("--peers", line.peers,
                   "Tries each peer's link with the key, and its http port, and reports the "
                   "faults; exits 1 if there are any");
}

void add_origin(CLI::App& app, CommandLine& line) {
    auto& command = *app.add_subcommand(
        "origin", "Runs the built-in origin, which answers any path with a body made from the URL");
    option(command, "--listen", "HOST:PORT", line.origin_listen, "Address")->capture_default_str();
    option(command, "--workers", "N", line.origin.workers, "Threads")
        ->check(within(1u, 64u))
        ->capture_default_str();
}

void add_status(CLI::App& app, CommandLine& line) {
    auto& command = *app.add_subcommand(
        "status", "Shows the counters of running nodes: one, or several and their sum");
    option(command, "nodes", "HOST:PORT...", line.nodes,
           "Admin addresses (dns:HOST:PORT for every address of a name); name all nodes for the "
           "hit rate of the cluster");
    add_node_options(command, "--at,--url", line.node);
    command.footer(sharing_legend() + "\n\n" + command.get_footer());
    command.add_flag("--json", line.json, "Prints the nodes' answers unchanged");
}

void add_top(CLI::App& app, CommandLine& line) {
    auto& command = *app.add_subcommand(
        "top", "Shows all nodes of a cluster as one of them knows it, anew each second; q ends it");
    add_node_options(command, "--at", line.node);
    command.footer(command.get_footer() +
                   "\n\nWithout a terminal it prints one picture and ends. Exit codes: 0; 1 if the "
                   "node does not answer\nat first; 2 usage; 78 bad configuration.");
}

void add_report(CLI::App& app, CommandLine& line) {
    auto& command = *app.add_subcommand(
        "report", "Shows what running nodes spared the origins lately: one node, or several");
    option(command, "nodes", "HOST:PORT...", line.nodes,
           "Admin addresses (dns:HOST:PORT for every address of a name)");
    option(command, "--since", "TIME", line.since, "The last 15m, 24h, ..., up to 7d")
        ->capture_default_str();
    add_node_options(command, "--at", line.node);
    command.add_flag("--json", line.json, "Prints JSON");
}

void add_healthcheck_and_explain(CLI::App& app, CommandLine& line) {
    auto& healthcheck =
        *app.add_subcommand("healthcheck", "Exits 0 if a node is ready, otherwise 1");
    add_node_options(healthcheck, "--at,--url", line.node);
    auto& explain = *app.add_subcommand("explain",
                                        "Shows which nodes store a URL, which summaries claim it, "
                                        "and which peers a miss would ask");
    option(explain, "url", "URL", line.explained,
           "A complete URL, as clients request it; required");
    add_node_options(explain, "--at", line.node);
    explain.add_flag("--json", line.json, "Prints the node's answer unchanged");
}

/// Adds all sub-commands, in the order of the help.
void add_commands(CLI::App& app, CommandLine& line) {
    add_run_and_check(app, line);
    add_init(app, line.init);
    add_ca(app, line.ca);
    add_demo(app, line.demo);
    add_replay(app, line);
    add_simulate(app, line.simulate);
    add_origin(app, line);
    add_status(app, line);
    add_top(app, line);
    add_report(app, line);
    add_orders(app, line);
    add_disk(app, line.disk);
    add_healthcheck_and_explain(app, line);
    app.add_subcommand("version",
                       "Prints the version, with type, compiler and commit of the build");
    auto& help = *app.add_subcommand("help", "Prints the help of a command");
    option(help, "command", "COMMAND", line.help_on,
           "The command; the default is the list of all commands");
}

/// Reports a missing argument. The commands check it themselves, because the parser would report it
/// before an unknown option.
int needs(const char* command, const char* what) {
    std::fprintf(stderr, "hearsay: %s needs %s; see hearsay help %s\n", command, what, command);
    return kUsage;
}

int run_node(CommandLine& line) {
    if (line.config.empty()) return needs("run", "a FILE, its configuration");
    return run_command(line.config, *line.blocked);
}

int run_check(CommandLine& line) {
    if (line.config.empty()) return needs("check", "a FILE, its configuration");
    return check_command(line.config, line.strict, line.peers);
}

int run_purge(CommandLine& line) {
    const auto& names = line.purged;
    if (names.urls.empty() && names.tags.empty() && names.rules.empty() && names.prefixes.empty())
        return needs("purge", "a URL, --tag, --rule or --prefix");
    return purge_command(line.node, names, line.json);
}

int run_explain(CommandLine& line) {
    if (line.explained.empty()) return needs("explain", "a URL");
    return explain_command(line.node, line.explained, line.json);
}

int print_version(CommandLine&) {
    std::printf("hearsay %s\n", version_text().c_str());
    return kOk;
}

/// The sub-commands of add_commands() except `help`. Each function returns the exit code.
struct Command {
    const char* name;
    int (*run)(CommandLine& line);
};
constexpr Command kCommands[] = {
    {"run", run_node},
    {"check", run_check},
    {"init", [](CommandLine& line) { return init_command(line.init); }},
    {"ca", [](CommandLine& line) { return ca_command(line.ca); }},
    {"demo", [](CommandLine& line) { return demo_command(line.demo); }},
    {"replay", run_replay},
    {"simulate", [](CommandLine& line) { return simulate_command(std::move(line.simulate)); }},
    {"origin", run_origin},
    {"status", [](CommandLine& line) { return run_status(line); }},
    {"top", [](CommandLine& line) { return top_command(line.node); }},
    {"report", [](CommandLine& line) { return run_report(line); }},
    {"purge", run_purge},
    {"reload", [](CommandLine& line) { return reload_command(line.node, line.json); }},
    {"drain", [](CommandLine& line) { return drain_command(line.node); }},
    {"reopen-logs", [](CommandLine& line) { return reopen_logs_command(line.node); }},
    {"disk", [](CommandLine& line) { return disk_command(line.disk); }},
    {"healthcheck", [](CommandLine& line) { return healthcheck_command(line.node); }},
    {"explain", run_explain},
    {"version", print_version},
};

/// Returns the exit code. `blocked` is set for the command `run`.
int run_command_line(int argc, char** argv, proxy::BlockedSignals* blocked) {
    CLI::App app("hearsay: HTTP caches that share their content", "hearsay");
    app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
        return "hearsay: " + CLI::FailureMessage::simple(failed, error);
    });
    app.require_subcommand(0, 1);  // sub-commands are optional here: the parser would report a
                                   // missing one before an unknown option
    app.set_version_flag("--version", [] { return "hearsay " + version_text(); });
    CommandLine line;
    line.blocked = blocked;
    line.replay.written = line.demo.written = line.simulate.written = shell_text(argc, argv);
    add_commands(app, line);

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
    if (app.got_subcommand("help")) return run_help(app, line.help_on);
    for (const auto& command : kCommands)
        if (app.got_subcommand(command.name)) return command.run(line);
    std::fputs("hearsay: give a command; see hearsay --help\n", stderr);
    return kUsage;
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
    // First of all, as a HUP before the node's handlers would end the process.
    std::optional<proxy::BlockedSignals> blocked;
    if (argc > 1 && argv[1] == std::string_view("run")) blocked.emplace();
    hold_standard_streams();
    try {
        return checked_output(run_command_line(argc, argv, blocked ? &*blocked : nullptr));
    } catch (const std::system_error& error) {  // thrown by fmt::print if an output fails
        std::fprintf(stderr, "hearsay: %s\n", error.what());
        return kFailed;
    }
}
