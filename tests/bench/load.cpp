// What a node does under thousands of connections that do nothing, clients that read slowly and
// clients that leave: starts a node and the built-in origin, prints how long new requests take
// meanwhile and what the node holds before, during and after. Ends with 1 when a bound does not
// hold.
//
//   load <hearsay>      needs about 13,000 file descriptors

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cluster/client.hpp"

namespace {

using namespace std::chrono_literals;
using namespace proxy::test;
using Clock = std::chrono::steady_clock;

constexpr const char* kAddress = "127.77.0.1";
// Bodies that are read slowly or left come from an origin of their own, so that a miss waits for
// the node alone.
constexpr const char *kOrigin = "127.77.0.2:8000", *kBulkOrigin = "127.77.0.2:8001";
// With Authorization the answers are not stored: they pass through windows of their own.
constexpr const char* kSmall = "Hearsay-Bytes: 5\r\nHearsay-Max-Age: 1000\r\n";
constexpr const char* kMiddle = "Hearsay-Bytes: 1048576\r\nAuthorization: Basic eDp4\r\n";
constexpr const char* kLarge = "Hearsay-Bytes: 33554432\r\nAuthorization: Basic eDp4\r\n";
constexpr std::uint16_t kProxy = 3128, kAdmin = 9128;
constexpr int kIdle = 5000, kHalfSent = 1000, kSlow = 8, kAborting = 500, kRounds = 4;
constexpr auto kClientHead = 12s, kKeepAlive = 25s;
constexpr int kOtherMachine = 10;  // niceness of what would not run beside the node
constexpr double kLatencyBoundMs = 100;

double ms_since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// New requests, each over a connection of its own: every other one a hit, else a miss.
class Probe {
public:
    Probe() : thread_([this] { run(); }) {}
    ~Probe() {
        stop_ = true;
        thread_.join();
    }
    /// Prints the events since the last call; the time that 99 in 100 took at most, of the slower
    /// kind.
    double report(const char* when) {
        std::array<std::vector<double>, 2> times;
        std::size_t failed = 0;
        {
            const std::lock_guard lock(mutex_);
            times.swap(times_);
            failed = std::exchange(failed_, 0);
        }
        auto worst = 0.0;
        for (const auto hit : {true, false}) {
            auto& seen = times[hit];
            std::sort(seen.begin(), seen.end());
            const auto at = [&](double part) {
                return seen.empty() ? 0.0
                                    : seen[static_cast<std::size_t>(
                                          part * static_cast<double>(seen.size() - 1))];
            };
            std::printf("%-34s %5zu %s, p50 %6.2f ms, p99 %6.2f ms, max %6.2f ms\n", when,
                        seen.size(), hit ? "hits  " : "misses", at(0.5), at(0.99), at(1));
            worst = std::max(worst, at(0.99));
        }
        if (failed > 0) std::printf("%-34s %5zu failed\n", when, failed);
        std::fflush(stdout);
        total_failed += failed;
        return worst;
    }
    std::size_t total_failed = 0;

private:
    void run() {
        for (int i = 0; !stop_; ++i) {
            const auto begin = Clock::now();
            const auto hit = i % 2 == 0;
            auto good = false;
            try {
                Client client(kAddress, kProxy);
                const auto target = hit ? "/hit" : "/miss" + std::to_string(i);
                good = client.get(target, kSmall).body.size() == 5;
            } catch (const std::exception&) {
            }
            const auto took = ms_since(begin);
            {
                const std::lock_guard lock(mutex_);
                if (good)
                    times_[hit].push_back(took);
                else
                    ++failed_;
            }
            std::this_thread::sleep_for(5ms);
        }
    }

    std::atomic<bool> stop_ = false;
    std::mutex mutex_;
    std::array<std::vector<double>, 2> times_;  // misses, hits
    std::size_t failed_ = 0;
    std::thread thread_;
};

struct Held {
    double rss_mb = 0;
    long descriptors = 0;
    std::uint64_t connections = 0, memory_bytes = 0;
};

std::uint64_t number_after(const std::string& text, const std::string& name) {
    const auto at = text.find('"' + name + "\":");
    return at == std::string::npos
               ? 0
               : std::strtoull(text.c_str() + at + name.size() + 3, nullptr, 10);
}

/// A program that this one started, which ends with it.
class Process {
public:
    explicit Process(std::vector<const char*> words, int niceness = 0) {
        words.push_back(nullptr);
        pid_ = ::fork();
        if (pid_ == 0) {
            ::setpriority(PRIO_PROCESS, 0, niceness);
            ::execv(words.front(), const_cast<char**>(words.data()));
            ::_exit(127);
        }
    }
    ~Process() {
        if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    pid_t id() const { return pid_; }
    /// TERM, and how it ended.
    int end() {
        ::kill(pid_, SIGTERM);
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    pid_t pid_ = -1;
};

class RunningNode {
public:
    explicit RunningNode(const char* program) {
        std::ofstream(file_) << R"({"node": "load", "listen": ")" << kAddress << ':' << kProxy
                             << R"(", "admin": {"listen": ")" << kAddress << ':' << kAdmin
                             << R"("}, "workers": 2, "cache": {"memory": "256MiB"},)"
                             << R"("origins": [{"host": "bulk.test", "url": "http://)"
                             << kBulkOrigin << R"("}, {"host": "*", "url": "http://)" << kOrigin
                             << R"("}], "timeouts": {"client_head": ")" << kClientHead.count()
                             << R"(s", "keep_alive": ")" << kKeepAlive.count() << R"(s"}})";
        process_.emplace(std::vector<const char*>{program, "run", "--config", file_.c_str()});
    }
    ~RunningNode() {
        process_.reset();
        std::filesystem::remove(file_);
    }
    RunningNode(const RunningNode&) = delete;

    bool wait_until_ready() const {
        for (const auto begin = Clock::now(); ms_since(begin) < 10'000;) {
            try {
                if (Client(kAddress, kAdmin).get("/readyz").status == 200) return true;
            } catch (const std::exception&) {
            }
            std::this_thread::sleep_for(20ms);
        }
        return false;
    }
    Held held() const {
        Held result;
        std::ifstream status("/proc/" + std::to_string(process_->id()) + "/status");
        for (std::string line; std::getline(status, line);)
            if (line.starts_with("VmRSS:")) result.rss_mb = std::atof(line.c_str() + 6) / 1024;
        for ([[maybe_unused]] const auto& entry :
             std::filesystem::directory_iterator("/proc/" + std::to_string(process_->id()) + "/fd"))
            ++result.descriptors;
        const auto json = Client(kAddress, kAdmin).get("/api/v1/status").body;
        result.connections = number_after(json, "open");
        result.memory_bytes = number_after(json, "memory_bytes");
        return result;
    }
    void print(const char* when) const {
        const auto now = held();
        std::printf("%-34s RSS %.1f MB, %ld descriptors, %llu connections, cache %.1f MB\n", when,
                    now.rss_mb, now.descriptors, static_cast<unsigned long long>(now.connections),
                    static_cast<double>(now.memory_bytes) / 1e6);
        std::fflush(stdout);
    }
    int end() { return process_->end(); }

private:
    const std::filesystem::path file_ = std::filesystem::temp_directory_path() /
                                        ("hearsay-load-" + std::to_string(::getpid()) + ".json");
    std::optional<Process> process_;
};

bool bound(bool holds, const char* what) {
    std::printf("%s: %s\n", holds ? "holds" : "BROKEN", what);
    return holds;
}

/// Seconds until each has been closed by the node, at least and at most.
bool closed_between(std::vector<Client>& clients, Clock::time_point opened,
                    std::chrono::seconds deadline, const char* what) {
    auto closed = 0;
    for (auto& each : clients) {
        std::string rest;
        while (each.socket.receive(rest)) {
        }
        if (!each.socket.readable(0ms)) continue;  // nothing came for too long
        ++closed;
    }
    const auto took = ms_since(opened) / 1000;
    std::printf("%-34s %d of %zu closed after %.1f s (deadline %lld s)\n", what, closed,
                clients.size(), took, static_cast<long long>(deadline.count()));
    return closed == static_cast<int>(clients.size()) &&
           took < static_cast<double>(deadline.count()) + 10;
}

int run(const char* program) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);

    Process origin({program, "origin", "--listen", kOrigin}),
        bulk({program, "origin", "--listen", kBulkOrigin}, kOtherMachine);
    RunningNode node(program);
    if (!node.wait_until_ready()) return bound(false, "the node starts"), 1;
    Client(kAddress, kProxy).get("/hit", kSmall);
    const auto before = node.held();
    node.print("before");
    double worst = 0;
    auto good = true;
    Probe probe;
    std::this_thread::sleep_for(3s);
    probe.report("alone");

    ::setpriority(PRIO_PROCESS, 0, kOtherMachine);  // of this thread alone
    const auto opened = Clock::now();
    std::vector<Client> half, idle, slow;
    for (int i = 0; i < kIdle; ++i) {
        idle.emplace_back(kAddress, kProxy);
        if (i % 2 == 0) idle.back().get("/hit", kSmall);
        if (i % 5 == 0) {
            half.emplace_back(kAddress, kProxy);
            half.back().socket.send("GET /half HTTP/1.1\r\nHost: origin.test\r\nX-Ha");
        }
    }
    worst = std::max(worst, probe.report("while 6,000 connections open"));
    std::this_thread::sleep_for(3s);
    worst = std::max(worst, probe.report("beside them"));
    node.print("beside them");
    const auto beside = node.held();
    good &= bound(beside.connections >= kIdle + kHalfSent, "all of them are open");

    for (int i = 0; i < kSlow; ++i) {
        slow.emplace_back(kAddress, kProxy);
        slow.back().begin("GET", "http://bulk.test/large", kLarge);
    }
    const auto read_slowly = [&](std::chrono::milliseconds how_long) {
        for (const auto begin = Clock::now(); ms_since(begin) < how_long.count();) {
            for (auto& each : slow) {
                std::string piece;
                each.socket.receive(piece, 16 * 1024);
            }
            std::this_thread::sleep_for(50ms);
        }
    };
    read_slowly(3s);
    worst = std::max(worst, probe.report("and 8 slow readers of 32 MiB"));
    node.print("and 8 slow readers of 32 MiB");
    good &= bound(node.held().memory_bytes < before.memory_bytes + kSlow * (1 << 20),
                  "a slow reader's body takes less than 1 MiB of the cache's memory");

    for (int round = 0; round < kRounds; ++round) {
        std::vector<Client> leaving;
        for (int i = 0; i < kAborting; ++i) {
            leaving.emplace_back(kAddress, kProxy);
            if (i % 4 == 0)
                leaving.back().socket.send("GET /half HTTP/1.1\r\nHo");
            else
                leaving.back().begin("GET", "http://bulk.test/middle" + std::to_string(i % 50),
                                     kMiddle);
        }
        for (int i = 1; i < kAborting; i += 4)
            leaving[static_cast<std::size_t>(i)].read_at_least(1);
        for (auto& each : leaving) each.socket.reset();
        read_slowly(200ms);
    }
    worst = std::max(worst, probe.report("and 2,000 clients that leave"));
    node.print("and 2,000 clients that leave");

    good &= closed_between(half, opened, kClientHead, "half-sent ones");
    for (auto& each : slow) each.socket.reset();
    good &= closed_between(idle, opened, kKeepAlive, "idle ones");
    worst = std::max(worst, probe.report("while they end"));
    half.clear();
    idle.clear();
    slow.clear();
    Held after;
    for (const auto begin = Clock::now(); ms_since(begin) < 40'000;) {
        after = node.held();
        if (after.connections <= 1 && after.descriptors <= before.descriptors + 20 &&
            after.rss_mb < before.rss_mb + 40)
            break;
        std::this_thread::sleep_for(500ms);
    }
    node.print("after");
    probe.report("after");
    good &= bound(worst < kLatencyBoundMs, "99 in 100 new requests take less than 100 ms");
    good &= bound(probe.total_failed == 0, "no request failed");
    good &= bound(after.connections <= 1, "connections are back where they were");
    good &= bound(after.descriptors <= before.descriptors + 20, "so are descriptors");
    good &= bound(after.memory_bytes < before.memory_bytes + (16 << 20),
                  "and memory, but for the small bodies stored meanwhile");
    good &= bound(after.rss_mb < before.rss_mb + 40, "which the system has back");
    const auto code = node.end();
    good &= bound(code == 0, "TERM ends the node with 0");
    return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s <hearsay>\n", argv[0]);
        return 2;
    }
    return run(argv[1]);
}
