#include "measure/demo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <thread>

#include "measure/commands.hpp"
#include "measure/measurement.hpp"
#include "measure/run/child_process.hpp"
#include "protocol/plain_message.hpp"

namespace measure {
namespace {

using namespace std::chrono_literals;
using Ports = std::array<std::uint16_t, 3>;  // proxy, link, admin

constexpr const char* kHost = "127.0.0.1";
constexpr std::array<const char*, 3> kNames{"a", "b", "c"};
constexpr std::array<Ports, 3> kUsualPorts{
    {{3128, 3129, 9128}, {3138, 3139, 9138}, {3148, 3149, 9148}}};
constexpr std::uint16_t kUsualOriginPort = 8000;
constexpr auto kStartWithin = 20s;
constexpr int kLogLinesShown = 8;

/// Notes INT, TERM and HUP for as long as it lives, and keeps hold of them while the replay handles
/// them too and lets go. The second one ends the program at once: the kernel ends the proxies,
/// `scratch` is removed here.
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

struct Member {
    const char* name = "";
    Ports ports{};
    std::string config, log;
    std::unique_ptr<ChildProcess> process;

    HostPort address(std::size_t which) const { return {kHost, ports[which]}; }
};

bool is_free(boost::asio::io_context& context, std::uint16_t port) {
    using tcp = boost::asio::ip::tcp;
    boost::system::error_code error;
    tcp::acceptor probe(context, tcp::v4());
    probe.set_option(tcp::acceptor::reuse_address(true), error);
    probe.bind({boost::asio::ip::make_address(kHost), port}, error);
    return !error;
}

/// The ports of the documentation if all of them are free, else any that are.
void choose_ports(std::vector<Member>& members, std::uint16_t& origin_port) {
    using tcp = boost::asio::ip::tcp;
    boost::asio::io_context context(1);
    bool usual = is_free(context, kUsualOriginPort);
    for (const auto& ports : kUsualPorts) {
        for (const auto port : ports) usual = usual && is_free(context, port);
    }
    if (usual) {
        origin_port = kUsualOriginPort;
        for (std::size_t i = 0; i < members.size(); ++i) members[i].ports = kUsualPorts[i];
        return;
    }
    origin_port = 0;
    std::vector<tcp::acceptor> held;  // all at once, so that no port comes twice
    for (auto& member : members) {
        for (auto& port : member.ports) {
            held.emplace_back(context, tcp::endpoint(boost::asio::ip::make_address(kHost), 0));
            port = held.back().local_endpoint().port();
        }
    }
}

std::string random_key() {
    std::random_device random;
    std::string key;
    for (int i = 0; i < 8; ++i) key += fmt::format("{:08x}", random());
    return key;
}

nlohmann::ordered_json config_of(const Member& self, const std::vector<Member>& all,
                                 std::uint16_t origin_port, const std::string& key) {
    auto peers = nlohmann::ordered_json::array();
    for (const auto& other : all) {
        if (&other == &self) continue;
        peers.push_back({{"node", other.name},
                         {"http", other.address(0).text()},
                         {"link", other.address(1).text()}});
    }
    return {
        {"node", self.name},
        {"listen", self.address(0).text()},
        {"admin", {{"listen", self.address(2).text()}}},
        {"origins", {{{"host", "*"}, {"url", fmt::format("http://{}:{}", kHost, origin_port)}}}},
        {"cache", {{"memory", "512MiB"}}},
        {"cluster", {{"key", key}, {"listen", self.address(1).text()}, {"peers", peers}}},
        {"timeouts", {{"drain_grace", 0}}}};  // no load balancer here has to see that it ends
}

std::string last_lines(const std::string& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) {
        lines.push_back("  " + line);
        if (lines.size() > kLogLinesShown) lines.erase(lines.begin());
    }
    return fmt::format("{}", fmt::join(lines, "\n"));
}

void start(Member& member) {
    member.process = std::make_unique<ChildProcess>(
        std::vector<std::string>{own_executable(), "run", "--config", member.config}, member.log);
}

/// Throws when the cluster does not come up.
void wait_for_cluster(std::vector<Member>& members, const Interrupts& interrupts,
                      Progress& progress) {
    std::vector<HostPort> admins;
    for (const auto& member : members) admins.push_back(member.address(2));
    const auto abort = [&]() -> std::string {
        if (interrupts.any()) return "interrupted";
        for (auto& member : members) {
            const auto end = member.process->ended();
            if (end)
                return fmt::format("proxy {} ended at once ({}):\n{}", member.name, *end,
                                   last_lines(member.log));
        }
        return {};
    };
    const auto missing = wait_until_in_sync(admins, kStartWithin, progress, abort);
    if (!missing.empty()) throw std::runtime_error("the cluster did not come up: " + missing);
    if (interrupts.any()) throw std::runtime_error("interrupted");
}

void print_invitation(const std::vector<Member>& members, std::uint16_t origin_port) {
    fmt::print("\nThe cluster stays up until Ctrl-C. Its origin (port {}) answers any URL.\n\n",
               origin_port);
    fmt::print("{:<7} {:<24} {:<42} {}\n", "proxy", "as http_proxy", "counters", "process");
    for (const auto& m : members) {
        fmt::print("{:<7} {:<24} {:<42} {}\n", m.name, "http://" + m.address(0).text(),
                   fmt::format("http://{}/api/v1/status", m.address(2).text()), m.process->pid());
    }
    const auto first = members[0].address(0).text(), second = members[1].address(0).text();
    const auto curl = "curl -so /dev/null -D- -x";
    fmt::print(
        "\nTry, and read Cache-Status:\n"
        "  {0} {1} http://any.example/page  # fetched from the origin\n"
        "  {0} {1} http://any.example/page  # a hit in {3}\n"
        "  {0} {2} http://any.example/page  # a second later: {4} has it from {3}\n"
        "  {5} status --url http://{6}\n"
        "  curl -s http://{6}/metrics | grep ^hearsay_\n"
        "  kill -9 {7}  # then ask {3} for anything: nobody notices\n",
        curl, first, second, members[0].name, members[1].name, own_executable(),
        members[0].address(2).text(), members[2].process->pid());
    std::fflush(stdout);
}

void stay_until_interrupted(std::vector<Member>& members, const Interrupts& interrupts) {
    std::vector<bool> told(members.size());
    while (!interrupts.any()) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            const auto end = members[i].process->ended();
            if (!end || told[i]) continue;
            told[i] = true;
            fmt::print(stderr, "proxy {} ended ({}); bring it back with\n  {} run --config {}\n",
                       members[i].name, *end, own_executable(), members[i].config);
        }
        std::this_thread::sleep_for(100ms);
    }
}

int run_demo(const DemoCommand& command) {
    Progress progress;
    const bool synthetic = command.trace.path.empty();
    const Trace trace = synthetic ? make_workload(command.workload) : load_trace(command.trace);

    std::vector<Member> members(kNames.size());
    for (std::size_t i = 0; i < members.size(); ++i) members[i].name = kNames[i];
    OriginOptions origin_options;
    std::uint16_t origin_port = 0;
    choose_ports(members, origin_port);
    origin_options.listen = {kHost, origin_port};
    const Origin origin(origin_options);

    const TemporaryDirectory directory("hearsay-demo-");
    const Interrupts interrupts(directory.path());
    const std::string key = random_key();
    MeasureOptions options;
    for (auto& member : members) {
        member.config = fmt::format("{}/{}.json", directory.path(), member.name);
        member.log = fmt::format("{}/{}.log", directory.path(), member.name);
        std::ofstream(member.config)
            << config_of(member, members, origin.port(), key).dump(2) << '\n';
        options.replay.proxies.push_back(member.address(0));
        options.admins.push_back(member.address(2));
    }
    progress.say(fmt::format("starting an origin and {} proxies on {}", members.size(), kHost));
    for (auto& member : members) start(member);
    wait_for_cluster(members, interrupts, progress);

    options.replay.rate = command.rate;
    options.replay.stop_on_signal = true;
    options.replay.verify = Verify::all;
    options.origin = &origin;
    Report report = measure(trace, options, progress);
    report.note =
        synthetic ? "SYNTHETIC: shows that the cluster works, not what a real one would gain" : "";
    fmt::print("{}",
               command.json ? report_json(report) : report_text(report, output_may_be_coloured()));
    std::fflush(stdout);
    for (auto& member : members) {
        if (const auto end = member.process->ended()) {
            fmt::print(stderr, "proxy {} ended by itself ({}):\n{}\n", member.name, *end,
                       last_lines(member.log));
        }
    }
    const auto trouble = demo_verdict(report, synthetic);
    fmt::print(stderr, "demo: {}\n", trouble.empty() ? "passed" : "FAILED: " + trouble);
    if (const auto why = too_small_for_the_goal(report); synthetic && !why.empty())
        fmt::print(stderr, "demo: {}\n", why);
    if (command.stay && !report.stopped) {
        print_invitation(members, origin.port());
        stay_until_interrupted(members, interrupts);
    }
    for (auto& member : members)
        member.process->terminate();  // all at once, then each is waited for
    return trouble.empty() ? kOk : kFailed;
}

}  // namespace

std::string demo_verdict(const Report& report, bool synthetic) {
    if (report.stopped) return "stopped before its end";
    const Figures all = totals_of(report);
    if (all.errors > 0) return fmt::format("{} requests failed", all.errors);
    if (!books_of(report).balanced()) return "the books do not balance";
    if (synthetic && too_small_for_the_goal(report).empty() && found_of_ideal(report) < kDemoGoal) {
        return fmt::format("{:.4f} of the ideal hits were found, the goal is {}",
                           found_of_ideal(report), kDemoGoal);
    }
    return {};
}

std::string too_small_for_the_goal(const Report& report) {
    const auto hits = report.ideal.total.shared_hits;
    if (hits >= kDemoLeastHits || report.stopped) return {};
    return fmt::format(
        "too few requests to judge what was found: the ideal has {} hits, {} are needed "
        "(--requests {} has more)",
        grouped(hits), grouped(kDemoLeastHits), WorkloadOptions{}.requests);
}

int demo_command(const DemoCommand& command) {
    // Whoever read the output is gone (`| head`): the end comes by an error, and cleans up.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return run_demo(command);
    } catch (const std::exception& error) {
        fmt::print(stderr, "hearsay demo: {}\n", protocol::plain_message(error));
        return kFailed;
    }
}

}  // namespace measure
