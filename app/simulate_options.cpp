#include <charconv>

#include "app/command_line.hpp"
#include "app/simulate_command.hpp"
#include "measure/study/scheme_name.hpp"
#include "proxy/config/config_values.hpp"

namespace app {
namespace {

using namespace std::chrono_literals;

constexpr const char* kSimulateFooter =
    R"(Estimates from a log, before any deployment, how much sharing would gain. Simulated proxies run hearsay's
own code for eviction, summaries and announcements in virtual time. `hearsay help replay` lists the formats of
the log. --synthetic makes a workload up, which serves comparisons but is too artificial for decisions.

--scheme selects one scheme. By default all schemes are compared: at the first --cache for each of --proxies, and
for the first of --proxies at each --cache. The first of both is also run with other announcement delays and copy
policies.

  hearsay simulate --trace access.log --proxies 4 --cache 2GiB --advise
  hearsay simulate --trace access.log --html sharing.html
  hearsay simulate --trace access.log --scheme summary --kind quotient --proxies 16 --cache 64MiB --json
  hearsay simulate --paper --trace one.log.gz --trace two.log.gz
  hearsay simulate --tiers --trace access.log --cache 20GiB --memory 512MiB
  hearsay simulate --synthetic --duration 24h --rate 100 --clients 20000 --proxies 100 --cache 64MiB --scheme summary

A time is 250ms, 10s, 2h; a size 64MiB, 1GB; a part 0.01 or 1%. All proxies have one size. A URL is one object that
stays fresh unless --fresh-for is set, so real hit ratios are lower. Schemes: none, icp, squid_digest, exact_directory, server_names,
paper_bloom, summary, consistent_hashing, single_cache.

Exit codes: 0; 1 if it was stopped (finished rows are shown) or no row could be simulated; 2 usage.)";

constexpr const char* kTime = "a time (250ms, 10s, 2h)";
constexpr const char* kSize = "a size (64MiB, 1GB)";

constexpr auto parse_milliseconds = [](const std::string& text) {
    const auto read = proxy::parse_duration(text);
    return read && *read >= 0ns
               ? std::optional(std::chrono::duration_cast<std::chrono::milliseconds>(*read))
               : std::nullopt;
};
constexpr auto parse_microseconds = [](const std::string& text) {
    const auto read = proxy::parse_duration(text);
    return read && *read >= 0ns
               ? std::optional(std::chrono::duration_cast<std::chrono::microseconds>(*read))
               : std::nullopt;
};
constexpr auto parse_bytes = [](const std::string& text) { return proxy::parse_size(text); };

std::optional<double> parse_part_above_zero(std::string_view text) {
    const auto part = measure::parse_part(text);
    return part && *part > 0 ? part : std::nullopt;
}

std::optional<double> parse_part_below_one(std::string_view text) {
    const auto part = measure::parse_part(text);
    return part && *part < 1 ? part : std::nullopt;
}

std::optional<std::size_t> parse_count(std::string_view text) {
    std::size_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return out;
}

std::optional<std::size_t> parse_proxies(std::string_view text) {
    const auto count = parse_count(text);
    return count && *count >= 1 && *count <= summary::kMaxPeers ? count : std::nullopt;
}

/// "one of a, b, c".
template <typename Values, typename Name>
std::string one_of(const Values& values, Name name_of) {
    std::string out;
    for (const auto value : values) (out += out.empty() ? "one of " : ", ").append(name_of(value));
    return out;
}

/// `10s-20s:2`: from, until, and the number of proxies cut off.
std::optional<measure::SimulatedNetwork::Partition> parse_partition(const std::string& text) {
    const auto dash = text.find('-'), colon = text.find(':');
    if (dash == std::string::npos || colon == std::string::npos || colon < dash)
        return std::nullopt;
    const auto from = parse_milliseconds(text.substr(0, dash));
    const auto until = parse_milliseconds(text.substr(dash + 1, colon - dash - 1));
    const auto proxies = parse_count(std::string_view(text).substr(colon + 1));
    if (!from || !until || !proxies || *proxies == 0) return std::nullopt;
    measure::SimulatedNetwork::Partition out;
    out.from = *from;
    out.until = *until;
    out.proxies = *proxies;
    return out;
}

/// `30s:0`: time and proxy.
std::optional<measure::SimulatedNetwork::Restart> parse_restart(const std::string& text) {
    const auto colon = text.find(':');
    if (colon == std::string::npos) return std::nullopt;
    const auto at = parse_milliseconds(text.substr(0, colon));
    const auto proxy = parse_count(std::string_view(text).substr(colon + 1));
    if (!at || !proxy) return std::nullopt;
    measure::SimulatedNetwork::Restart out;
    out.at = *at;
    out.proxy = *proxy;
    return out;
}

std::optional<proxy::FetchOnce> fetch_once_named(std::string_view text) {
    const auto& names = proxy::kFetchOnceNames;
    const auto* const found = std::find(names.begin(), names.end(), text);
    if (found == names.end()) return std::nullopt;
    return static_cast<proxy::FetchOnce>(found - names.begin());
}

void add_input(CLI::App& command, SimulationInput& input) {
    auto* trace = option(command, "--trace", "FILE", input.traces,
                         "Request log, plain or gzip; - is standard input; formats: see "
                         "`hearsay help replay`. --paper takes several");
    auto* site = option(command, "--site", "URL", input.trace.site,
                        "Prefix of URLs that are only a path, as in server logs")
                     ->capture_default_str();
    auto* limit =
        option(command, "--limit", "N", input.trace.limit, "Takes at most so many requests")
            ->check(whole_number(1));
    auto* speedup =
        option(command, "--speedup", "N", input.speedup, "The log's times, so many times faster")
            ->check(above_zero());
    option(command, "--rate", "N", input.rate,
           "Requests per second of all clients together, instead of the log's times (default "
           "for the made-up workload: 1000)")
        ->check(above_zero())
        ->excludes(speedup);
    auto* synthetic = command.add_flag("--synthetic", input.synthetic,
                                       "Uses a made-up workload instead of a log");
    for (auto* of_logs : {trace, site, limit, speedup}) synthetic->excludes(of_logs);
    measure::WorkloadOptions& workload = input.workload;
    auto* requests =
        option(command, "--requests", "N", workload.requests, "Requests of the made-up workload")
            ->check(within(1u, 100'000'000u))
            ->capture_default_str();
    parsed(
        command, "--duration", "TIME", input.duration,
        [](const std::string& text) { return proxy::parse_duration(text); }, kTime,
        "Length of the made-up workload, instead of --requests")
        ->excludes(requests);
    option(
        command, "--seed", "N", input.seed,
        "Seed of the made-up workload (default 42), of the network and of the cluster's hash (1)")
        ->check(whole_number());
    option(command, "--clients", "N", workload.clients, "Clients of the made-up workload")
        ->check(within(1u, 10'000'000u))
        ->capture_default_str();
    option(command, "--objects", "N", workload.objects, "Objects that are requested repeatedly")
        ->check(within(1u, 100'000'000u))
        ->capture_default_str();
    option(command, "--zipf", "N", workload.zipf, "Zipf exponent of their popularity")
        ->check(not_negative())
        ->capture_default_str();
    option(command, "--again", "PART", workload.again,
           "Share of requests that repeat a recent one of the client")
        ->check(within(0.0, 1.0))
        ->capture_default_str();
    option(command, "--once", "PART", workload.once,
           "Share of requests for objects that are requested once")
        ->check(within(0.0, 1.0))
        ->capture_default_str();
    for (const auto* of_workload :
         {"--requests", "--duration", "--clients", "--objects", "--zipf", "--again", "--once"})
        trace->excludes(command.get_option(of_workload));
}

void add_proxies(CLI::App& command, SimulateCommand& simulate) {
    parsed_list(command, "--proxies", "N,N...", simulate.study.proxies, parse_proxies,
                "a number from 1 to " + std::to_string(summary::kMaxPeers),
                "Number of proxies (default 16, 4, 64, 256 and 1000, limited by the clients)");
    parsed_list(command, "--cache", "SIZE,SIZE...", simulate.study.caches,
                measure::parse_cache_size, "a size (64MiB) or a part (10%)",
                "Memory of each proxy; or a part of the log's distinct bytes for all together "
                "(default 10%, 1%, 5%, 20%)");
    auto& base = simulate.study.base;
    parsed(command, "--scheme", "NAME", simulate.only, measure::scheme_named,
           one_of(measure::kSchemes, [](measure::Scheme each) { return name(each); }),
           "Simulates only this scheme: none, icp, summary, ...; see below");
    parsed(command, "--kind", "KIND", simulate.kind, summary::kind_named,
           one_of(summary::kKinds, summary::name),
           "Kind of hearsay's summaries: counting_bloom, quotient, cuckoo");
    parsed(command, "--copy", "POLICY", base.copy, measure::copy_named,
           one_of(proxy::kCopyPolicies, [](proxy::CopyPolicy each) { return to_string(each); }),
           "When a peer's copy is stored: while_room (the default), always, second_use, "
           "never");
    parsed(
        command, "--fetch-once", "WHEN", base.fetch_once, fetch_once_named, "auto, always or never",
        "When a miss asks first which proxy fetches the same: auto, always, never (the default)");
    parsed(command, "--replacement", "NAME", base.replacement, measure::replacement_named,
           one_of(measure::kReplacements, [](measure::Replacement each) { return name(each); }),
           "Eviction order: s3_fifo (the default), by_value (cache.favour requests), sieve, "
           "w_tiny_lfu, gdsf, lru");
    parsed(command, "--changed", "PART", simulate.changed, parse_part_above_zero,
           "a part above 0 (1%, 0.01)",
           "Announces after this part of the objects has changed (default 0.1%; 1% for the schemes "
           "of the paper)");
    parsed(command, "--announce-delay", "TIME", base.announce_delay, parse_milliseconds, kTime,
           "Announces at the latest this long after the first change (default 1s)");
    parsed(command, "--false-hits", "PART", base.false_hit_budget, parse_part_above_zero,
           "a part above 0 (0.4%, 0.004)",
           "False hits per local miss, over all peers (default 0.4%)");
    option(command, "--load", "N", simulate.load,
           "Bits per object of --scheme paper_bloom (default 16; the paper's: 8, 16, 32)")
        ->check(within(measure::kLeastLoadFactor, measure::kMostLoadFactor));
    parsed(command, "--object-max", "SIZE", base.object_max, parse_bytes, kSize,
           "Largest object that is stored");
    parsed(command, "--unknown-size", "SIZE", base.unknown_bytes, parse_bytes, kSize,
           "Size of objects whose size is missing from the log (default 8KiB)");
    command.add_flag("--unit-objects", base.unit_objects,
                     "Each object weighs one byte: --cache 10KB holds ten thousand");
    auto* fresh_for = parsed(command, "--fresh-for", "TIME", base.fresh_for, parse_milliseconds,
                             kTime, "Freshness of the origin's answers (default: for ever)");
    parsed(command, "--changes", "PART", base.changes, measure::parse_part, "a part (10%, 0.1)",
           "Share of stale objects that have changed at the origin (default 0)")
        ->needs(fresh_for);
    parsed(command, "--warm-up", "PART", base.warm_up, parse_part_below_one,
           "a part below 1 (10%, 0.1)",
           "Requests at the beginning that are left out of the counts");
}

void add_network(CLI::App& command, measure::SimulatedNetwork& network) {
    parsed(command, "--delay", "TIME", network.delay, parse_microseconds, kTime,
           "One-way delay between proxies (default 250us)");
    parsed(command, "--jitter", "TIME", network.jitter, parse_microseconds, kTime,
           "Random addition to that delay, at most");
    parsed(command, "--origin-delay", "TIME", network.origin, parse_milliseconds, kTime,
           "Time of an answer of the origin (default 100ms)");
    parsed(command, "--loss", "PART", network.dropped, parse_part_below_one,
           "a part below 1 (1%, 0.01)", "Share of announcements that are lost");
    parsed_list(command, "--partition", "FROM-UNTIL:N", network.partitions, parse_partition,
                "of the form 10s-20s:2", "Cuts the first N proxies off from the others");
    parsed_list(command, "--restart", "AT:PROXY", network.restarts, parse_restart,
                "of the form 30s:0", "Restarts this proxy (0 is the first) with an empty cache");
}

void add_tiers(CLI::App& command, SimulateCommand& simulate) {
    auto* tiers = command.add_flag(
        "--tiers", simulate.tiers,
        "Simulates one proxy with a disk of each --cache (default 1%, 5%, 10%): compares eviction "
        "orders and admission");
    parsed(command, "--memory", "SIZE", simulate.memory, measure::parse_cache_size,
           "a size (64MiB) or a part (10%)",
           "Memory before the disk; a part refers to the disk (default 5%)")
        ->needs(tiers);
    for (const auto* of_several :
         {"--proxies",   "--scheme",         "--kind",       "--copy",      "--replacement",
          "--changed",   "--announce-delay", "--false-hits", "--load",      "--delay",
          "--jitter",    "--origin-delay",   "--loss",       "--partition", "--restart",
          "--fresh-for", "--changes",        "--paper",      "--advise",    "--html",
          "--tables",    "--fetch-once"})
        tiers->excludes(command.get_option(of_several));
}

}  // namespace

Command add_simulate(CLI::App& app, const std::string& written) {
    auto& command =
        *app.add_subcommand("simulate", "Estimates from a request log how much sharing would gain");
    const auto options = std::make_shared<SimulateCommand>();
    auto& simulate = *options;
    simulate.output.written = written;
    command.footer(kSimulateFooter);
    simulate.input.workload.requests = 300'000;
    simulate.input.workload.clients = 2'000;
    simulate.input.workload.objects = 100'000;
    add_input(command, simulate.input);
    add_proxies(command, simulate);
    add_network(command, simulate.study.base.network);
    command.add_flag(
        "--paper", simulate.paper,
        "Prints the tables of the Summary Cache paper for each --trace, beside the published ones");
    command.add_flag("--advise", simulate.advise,
                     "Recommends settings in plain words, and states the savings");
    command.add_flag("--tables", simulate.output.tables, "Adds the tables to --advise");
    option(command, "--html", "FILE", simulate.output.html, kHtmlHelp);
    add_tiers(command, simulate);
    command.add_flag("--json", simulate.output.json, "Prints all results as JSON");
    option(command, "--jobs", "N", simulate.jobs,
           "Simulations at a time (default: one for each processor)")
        ->check(within(1u, 256u));
    command.add_flag("--quiet", simulate.output.quiet, "Hides the progress");
    return {&command, [options] { return simulate_command(std::move(*options)); }};
}

}  // namespace app
