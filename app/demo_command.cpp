#include "app/demo_command.hpp"

#include <fmt/format.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/command_line.hpp"
#include "app/page_file.hpp"
#include "app/version.hpp"
#include "base/text/plain_message.hpp"
#include "measure/demo_cluster.hpp"
#include "measure/demo_verdict.hpp"
#include "measure/measurement.hpp"
#include "measure/report/report_html.hpp"
#include "proxy/config/config_values.hpp"

namespace app {
namespace {

using namespace std::chrono_literals;

/// Options of `hearsay demo`.
struct DemoCommand {
    measure::TraceOptions trace;  ///< an empty path selects the made-up workload
    measure::WorkloadOptions workload;
    double rate = 2000;                       ///< requests per second
    std::optional<std::uint64_t> disk_bytes;  ///< of each proxy; with disks all proxies are killed
                                              ///< after half of the workload
    bool stay = false, json = false;
    std::string html;     ///< page to write; empty: none
    std::string written;  ///< the command line, for the page
};

/// Notes INT, TERM and HUP while it lives, also while the replay handles them. A second signal ends
/// the program at once: the kernel ends the proxies, and this class removes `scratch`.
class Interrupts {
public:
    explicit Interrupts(std::string scratch)
        : scratch_(std::move(scratch)), signals_(context_, SIGINT, SIGTERM, SIGHUP) {
        wait();
        thread_ = std::thread([this] { context_.run(); });
    }
    ~Interrupts() {
        context_.stop();
        thread_.join();
    }
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

    bool any() const { return noted_; }

private:
    void wait() {
        signals_.async_wait([this](boost::system::error_code error, int) {
            if (error) return;
            if (noted_.exchange(true)) {
                std::error_code ignored;
                std::filesystem::remove_all(scratch_, ignored);
                std::_Exit(kFailed);
            }
            wait();
        });
    }

    std::string scratch_;
    std::atomic<bool> noted_{false};
    boost::asio::io_context context_{1};
    boost::asio::signal_set signals_;
    std::thread thread_;
};

void print_invitation(std::FILE* to, const measure::DemoCluster& cluster, std::uint16_t origin_port,
                      bool has_disk) {
    const auto& members = cluster.members();
    fmt::print(to, "\nThe cluster stays up until Ctrl-C. Its origin (port {}) answers any URL.\n\n",
               origin_port);
    fmt::print(to, "{:<7} {:<24} {:<42} {}\n", "proxy", "as http_proxy", "counters", "process");
    for (const auto& m : members) {
        fmt::print(to, "{:<7} {:<24} {:<42} {}\n", m.name, "http://" + m.proxy.text(),
                   fmt::format("http://{}/api/v1/status", m.admin.text()), m.process->pid());
    }
    const auto curl = "curl -so /dev/null -D- -x";
    fmt::print(to,
               "\nTry, and read Cache-Status:\n"
               "  {0} {1} http://any.example/page  # fetched from the origin\n"
               "  {0} {1} http://any.example/page  # a hit in {3}\n"
               "  {0} {2} http://any.example/page  # a second later: {4} has it from {3}\n"
               "  {5} status --url http://{6}\n"
               "  curl -s http://{6}/metrics | grep ^hearsay_\n"
               "  kill -9 {7}  # then ask {3} for any URL: it still answers\n",
               curl, members[0].proxy.text(), members[1].proxy.text(), members[0].name,
               members[1].name, measure::own_executable(), members[0].admin.text(),
               members[2].process->pid());
    if (has_disk)
        fmt::print(to, "  {0} run --config {1}  # restarts {2} with the content of its disk\n",
                   measure::own_executable(), members[2].config, members[2].name);
    std::fflush(to);
}

void stay_until_interrupted(const measure::DemoCluster& cluster, const Interrupts& interrupts) {
    std::vector<bool> reported(cluster.members().size());
    while (!interrupts.any()) {
        for (std::size_t i = 0; i < reported.size(); ++i) {
            const auto& member = cluster.members()[i];
            const auto end = member.process->ended();
            if (!end || reported[i]) continue;
            reported[i] = true;
            fmt::print(stderr, "proxy {} ended ({}); bring it back with\n  {} run --config {}\n",
                       member.name, *end, measure::own_executable(), member.config);
        }
        std::this_thread::sleep_for(100ms);
    }
}

measure::ProcessorTimes times_now() {
    std::ifstream stat("/proc/stat");
    return measure::processor_times(stat);
}

std::string load_since(const measure::ProcessorTimes& begin) {
    double average = 0;
    return ::getloadavg(&average, 1) == 1 ? measure::loaded_words(begin, times_now(), average) : "";
}

/// One run of the demo, from the first process to the last line.
class Demo {
public:
    /// `begin`: the times of the processors before it.
    Demo(const DemoCommand& command, const measure::ProcessorTimes& begin)
        : command_(command),
          begin_(begin),
          page_(command.html),
          trace_(is_synthetic() ? measure::make_workload(command.workload)
                                : measure::load_trace(command.trace)),
          cluster_(directory_.path(), command.disk_bytes),
          origin_(listening_at(cluster_.origin_port())),
          interrupts_(directory_.path()) {}

    int run() {
        progress_.say(fmt::format("starting an origin and {} proxies on {}",
                                  cluster_.members().size(), cluster_.members()[0].proxy.host));
        cluster_.configure(origin_.port());
        start();
        if (command_.disk_bytes) {
            const std::size_t middle = trace_.requests.size() / 2;
            measure_part({0, middle}, "until all proxies were killed");
            if (!reports_.back().stopped) {
                restart();
                measure_part({middle, trace_.requests.size()}, "after they were started again");
            }
        } else {
            measure_part({}, {});
        }
        if (command_.json) print_json();
        std::fflush(stdout);
        if (page_.is_wanted()) page_.write(measure::report_html(reports_, facts()));
        const auto trouble = judge();
        if (command_.stay && !reports_.back().stopped) {
            print_invitation(command_.json ? stderr : stdout, cluster_, origin_.port(),
                             command_.disk_bytes.has_value());
            stay_until_interrupted(cluster_, interrupts_);
        }
        cluster_.terminate();
        return trouble.empty() ? kOk : kFailed;
    }

private:
    bool is_synthetic() const { return command_.trace.path.empty(); }
    static measure::OriginOptions listening_at(std::uint16_t port) {
        measure::OriginOptions options;
        options.listen = {"127.0.0.1", port};
        return options;
    }

    void start() {
        cluster_.start();
        cluster_.wait_until_in_step([this] { return interrupts_.any(); }, progress_);
    }

    /// Kills all proxies, so memory is lost and writes in progress are cut off; then starts them
    /// again.
    void restart() {
        cluster_.kill();
        const auto from = std::chrono::steady_clock::now();
        start();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
        progress_.say(fmt::format(
            "killed all proxies (kill -9) and started them again: in step {:.1f} s later",
            took.count()));
    }

    void measure_part(measure::TracePart part, const std::string& which) {
        measure::MeasureOptions options;
        options.replay.proxies = cluster_.proxies();
        options.replay.part = part;
        options.replay.rate = command_.rate;
        options.replay.stop_on_signal = true;
        options.replay.verify = measure::Verify::all;
        options.admins = cluster_.admins();
        options.origin = &origin_;
        auto& report = reports_.emplace_back(measure::measure(trace_, options, progress_));
        if (!which.empty()) report.title += ", " + which;
        if (is_synthetic())
            report.note = "SYNTHETIC: shows that the cluster works; a real log shows the gain";
        if (command_.json) return;
        fmt::print("{}{}", reports_.size() > 1 ? "\n" : "",
                   measure::report_text(report, measure::output_may_be_coloured()));
        std::fflush(stdout);
    }

    measure::PageFacts facts() const {
        measure::PageFacts facts{command_.written, version_text(), {}};
        if (is_synthetic()) facts.seed = command_.workload.seed;
        return facts;
    }

    void print_json() const {
        if (reports_.size() == 1) return fmt::print("{}", measure::report_json(reports_[0]));
        fmt::print("{{\"before\": {}, \"after\": {}}}\n", measure::report_json(reports_[0]),
                   measure::report_json(reports_[1]));
    }

    /// Prints the verdict. Returns the reason of a failure, or an empty string.
    std::string judge() {
        for (const auto& member : cluster_.members()) {
            if (const auto end = member.process->ended())
                fmt::print(stderr, "proxy {} ended by itself ({}):\n{}\n", member.name, *end,
                           measure::last_lines_of(member));
        }
        std::string trouble;
        for (const auto& report : reports_) {
            if (trouble.empty()) trouble = demo_verdict(report, is_synthetic());
        }
        if (reports_.size() > 1) {
            const measure::TracePart part{trace_.requests.size() / 2};
            const auto empty =
                measure::ideal_of(trace_, cluster_.members().size(), 0, part, {}, true);
            fmt::print(stderr, "demo: {}\n",
                       over_the_restart(reports_[0], reports_[1], empty.total.shared_hits));
        }
        const auto small = is_synthetic() ? too_small_for_the_goal(reports_.back()) : std::string();
        const auto stopped = reports_.back().stopped;
        const auto loaded = trouble.empty() || stopped ? std::string() : load_since(begin_);
        fmt::print(stderr, "demo: {}{}{}{}{}\n", trouble.empty() ? "passed" : "FAILED: " + trouble,
                   small.empty() ? "" : "; ", small, loaded.empty() ? "" : "; ", loaded);
        return trouble;
    }

    const DemoCommand& command_;
    const measure::ProcessorTimes& begin_;
    PageFile page_;
    measure::Progress progress_;
    const measure::Trace trace_;
    const measure::TemporaryDirectory directory_{"hearsay-demo-"};
    measure::DemoCluster cluster_;
    const measure::Origin origin_;
    const Interrupts interrupts_;
    std::vector<measure::Report> reports_;
};

std::optional<std::uint64_t> parse_disk_size(const std::string& text) {
    const auto size = proxy::parse_size(text);
    return size && *size >= proxy::kMinDiskBytes && *size <= proxy::kMaxDiskBytes ? size
                                                                                  : std::nullopt;
}

int demo_command(const DemoCommand& command) {
    // If the reader of the output has gone (`| head`), writing fails and the command cleans up.
    std::signal(SIGPIPE, SIG_IGN);
    const auto begin = times_now();
    try {
        return Demo(command, begin).run();
    } catch (const std::exception& error) {
        const auto loaded = load_since(begin);
        fmt::print(stderr, "hearsay demo: {}{}{}\n", base::plain_message(error),
                   loaded.empty() ? "" : "; ", loaded);
        return kFailed;
    }
}

}  // namespace

Command add_demo(CLI::App& app, const std::string& written) {
    auto& command = *app.add_subcommand(
        "demo",
        "Starts an origin and three proxies here, replays a made-up workload and prints the table");
    const auto demo = std::make_shared<DemoCommand>();
    demo->written = written;
    option(command, "--trace", "FILE", demo->trace.path, "Replays this request log instead");
    option(command, "--site", "URL", demo->trace.site, "Prefix of URLs that are only a path")
        ->capture_default_str();
    add_workload_options(command, demo->workload);
    option(command, "--rate", "N", demo->rate, "Requests per second")
        ->check(above_zero())
        ->capture_default_str();
    parsed(
        command, "--disk", "SIZE", demo->disk_bytes, parse_disk_size,
        "the size of a disk, as 1GiB, from 256MiB on",
        "Gives each proxy a disk. After half of the workload all proxies are killed (kill -9) and "
        "started again with the content of their disks");
    command.add_flag("--stay", demo->stay, "Keeps the cluster up afterwards, until Ctrl-C");
    option(command, "--html", "FILE", demo->html, kHtmlHelp);
    command.add_flag("--json", demo->json, "Prints the report as JSON");
    return {&command, [demo] { return demo_command(*demo); }};
}

}  // namespace app
