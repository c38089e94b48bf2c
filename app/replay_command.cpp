#include "app/replay_command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <limits>

#include "app/command_line.hpp"
#include "app/fail.hpp"
#include "app/origin_command.hpp"
#include "app/page_file.hpp"
#include "app/version.hpp"
#include "measure/measurement.hpp"
#include "measure/report/report_html.hpp"
#include "measure/run/node_addresses.hpp"
#include "proxy/config/config.hpp"

namespace app {
namespace {

constexpr const char* kReplayFooter = R"(Formats of --trace; the first lines decide which one it is:
  JSON           hearsay's own access log (log.format json); lines of peers' requests are skipped
  Squid          its native access.log, also hearsay's log.format squid
  Common,        of any server, also hearsay's log.format combined; URLs that are only a path
  Combined       follow --site, or the virtual host where each line begins with it
  tab-separated  milliseconds since 1970, number of the client, method, absolute URL, status, bytes
                 (0 or - if unknown); further columns are ignored; # begins a comment
  list of URLs   one http: URL per line; # begins a comment; to fill caches ahead, see --rate

The requests of one client go to one proxy, in order, one at a time. The built-in origin (`hearsay
origin`, --origin-listen) gives bodies of the sizes in the log. Another origin answers in its own
way, and its bytes are counted as they arrive. The caches should be empty and free of other clients;
otherwise the report warns, as far as it notices. The environment variable HEARSAY_ADMIN_TOKEN
holds the token of every --admin.

  hearsay replay --trace access.log --proxy http://10.0.0.1:3128 --admin http://10.0.0.1:9128

Exit codes: 0; 1 if it was stopped, a body was wrong or every request failed; 2 usage.)";

/// Advice for a replay whose answers were wrong.
std::string hint(const measure::Report& report, const ReplayCommand& command) {
    std::uint64_t wrong = 0, bad = 0, refused = 0, unreached = 0, answered = 0;
    for (const auto& row : report.rows) {
        const auto count = [&](measure::RequestFailure failure) {
            return row.seen.failures[static_cast<std::size_t>(failure)];
        };
        wrong += count(measure::RequestFailure::wrong_body);
        bad += count(measure::RequestFailure::bad_status);
        refused += count(measure::RequestFailure::refused);
        unreached += count(measure::RequestFailure::connect);
        answered += row.seen.answered();
    }
    if (unreached > answered)
        return "the proxies take no connection: is --proxy their address, and do they run?";
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

std::chrono::milliseconds milliseconds_of(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

}  // namespace

Command add_replay(CLI::App& app, const std::string& written) {
    struct Options {
        ReplayCommand replay;
        double timeout_seconds = 30;
    };
    auto& command = *app.add_subcommand(
        "replay", "Sends a request log to proxies and prints a table of the results");
    const auto options = std::make_shared<Options>();
    auto& replay = options->replay;
    replay.written = written;
    command.footer(kReplayFooter);
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
    command.add_flag_callback(
        "--reverse", [&replay] { replay.replay.form = measure::RequestForm::origin; },
        "Sends `GET /path` with Host (reverse proxies) instead of `GET http://...`");
    auto* verify = command.add_flag_callback(
        "--verify", [&replay] { replay.replay.verify = measure::Verify::all; },
        "Checks that every body is the built-in origin's. That is the default with "
        "--origin-listen; otherwise answers that name this origin are checked");
    auto* no_verify = command.add_flag_callback(
        "--no-verify", [&replay] { replay.replay.verify = measure::Verify::none; },
        "Accepts any body");
    no_verify->excludes(verify);
    option(command, "--max-age", "N", replay.replay.max_age,
           "Seconds of freshness that the built-in origin gives (default: a day)")
        ->check(within(std::int64_t{0}, std::int64_t{2'147'483'647}));
    option(command, "--delay", "N", replay.replay.delay_ms,
           "Milliseconds that the built-in origin waits before each answer")
        ->check(within(std::uint64_t{0}, std::uint64_t{600'000}));
    option(command, "--timeout", "N", options->timeout_seconds,
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
    return {&command, [options, verify, no_verify] {
                auto& given = options->replay;
                if (given.trace.path.empty() && !given.synthetic)
                    return fail(kUsage, "replay needs --trace FILE or --synthetic");
                if (!given.origin_listen.empty() && verify->empty() && no_verify->empty())
                    given.replay.verify = measure::Verify::all;
                given.replay.timeout = milliseconds_of(options->timeout_seconds);
                return replay_command(std::move(given));
            }};
}

int replay_command(ReplayCommand command) {
    return reported([&] {
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
        options.wait = milliseconds_of(command.wait_seconds);
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
    });
}

}  // namespace app
