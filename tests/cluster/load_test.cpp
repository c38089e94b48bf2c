#include <fcntl.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace load_test {

using namespace std::chrono_literals;

/// The limit of open files, set for a while.
class DescriptorLimit {
public:
    explicit DescriptorLimit(rlim_t most) {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit low{most, before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &low);
    }
    ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
    DescriptorLimit(const DescriptorLimit&) = delete;

private:
    rlimit before_{};
};

/// The log lines of its lifetime, as text.
class Logged {
public:
    Logged() {
        spdlog::set_default_logger(std::make_shared<spdlog::logger>(
            "", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
        spdlog::set_level(spdlog::level::warn);
    }
    ~Logged() {
        spdlog::set_level(spdlog::level::off);
        spdlog::set_default_logger(before_);
    }
    Logged(const Logged&) = delete;

    /// Once nothing runs any more that logs.
    std::size_t count(std::string_view words) const {
        const auto text = text_.str();
        std::size_t found = 0;
        for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1))
            ++found;
        return found;
    }

private:
    std::ostringstream text_;
    std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

class Load : public NodesTest {
protected:
    bool quiet(const std::string& node = "a") const {
        const auto now = status(node);
        return now.connections == 0 && now.cache.memory_bytes == 0;
    }
};

TEST_F(Load, OfIdleAndHalfSentConnectionsEndsAtTheirOwnDeadlines) {
    auto settings = config("a");
    settings.timeouts.client_head = 1s;
    settings.timeouts.keep_alive = 3s;
    settings.workers = 2;
    start(settings);
    std::vector<Client> half, idle;
    for (int i = 0; i < 150; ++i) {
        half.push_back(client());
        half.back().socket.send("GET /half HTTP/1.1\r\nHost: origin.test\r\nX-Half");
    }
    for (int i = 0; i < 300; ++i) {
        idle.push_back(client());
        if (i % 2 == 0) {
            EXPECT_EQ(idle.back().get("/one").status, 200u);
        }
    }
    EXPECT_EQ(get("a", "/other").status, 200u);
    // Beside the idle ones, which have more time.
    for (auto& each : half) {
        EXPECT_EQ(each.read().status, 408u);  // RFC 9110 §15.5.9
        EXPECT_TRUE(each.at_end());
    }
    EXPECT_EQ(get("a", "/other").status, 200u);
    for (auto& each : idle) EXPECT_EQ(each.read().head, "");  // without a word
    half.clear();
    idle.clear();
    EXPECT_TRUE(eventually([&] { return status("a").connections == 0; }));
}

TEST_F(Load, OfHeadsThatTrickleEndsToo) {  // each byte is no new deadline
    auto settings = config("a");
    settings.timeouts.client_head = 300ms;
    start(settings);
    auto slow = Socket::connect(address("a"), kProxyPort);
    slow.send("GET / HTTP/1.1\r\nX: ");
    std::string answer;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (answer.empty() && std::chrono::steady_clock::now() < end) {
        slow.send("y");
        if (slow.readable(5ms)) slow.receive(answer);
    }
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 408 ")) << answer;
}

TEST_F(Load, OfClientsThatLeaveWhereverTheyAreLeavesNothingBehind) {
    const std::string large(1 << 20, 'x');
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/small") return e.answer("Cache-Control: no-store\r\n", "small");
        e.answer("Cache-Control: no-store\r\n", large);
        e.keep = false;
    });
    auto settings = config("a");
    settings.workers = 2;
    start(settings);
    for (int round = 0; round < 60; ++round) {
        std::vector<Client> leaving;
        const auto target = "/large" + std::to_string(round);
        for (int i = 0; i < 6; ++i) leaving.push_back(client());
        leaving[0].socket.send("GET /half HTTP/1.1\r\nHo");
        leaving[1].begin("GET", target);
        leaving[2].begin("GET", target);  // follows, or fetches for itself
        ASSERT_TRUE(leaving[2].read_at_least(1));
        leaving[3].socket.send("POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\nhalf");
        leaving[4].begin("GET", target, "Cache-Control: no-store\r\n");
        ASSERT_TRUE(leaving[4].read_at_least(1));
        leaving[5].socket.send(
            "POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe");
        for (auto& each : leaving) each.socket.reset();
    }
    EXPECT_EQ(get("a", "/small").body, "small");
    EXPECT_TRUE(eventually([&] { return quiet(); })) << status("a").connections << " connections, "
                                                     << status("a").cache.memory_bytes << " bytes";
    EXPECT_EQ(status("a").cache.objects, 0u);
}

TEST_F(Load, OfMoreClientsThanThereAreDescriptorsForIsRefused) {
    Logged logged;
    {
        const DescriptorLimit limit(100);  // half of them for clients
        start(config("a"));
    }
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target.starts_with("/held")) gate.wait();
        e.answer(fresh(), "x");
    });
    std::vector<Client> held;
    for (int i = 0; i < 50; ++i) {
        // One address has seven eighths of the connections at most.
        held.push_back(client("a", i < 40 ? "127.0.0.1" : "127.0.0.2"));
        held.back().begin("GET", "/held" + std::to_string(i));
    }
    ASSERT_TRUE(eventually([&] { return origin.requests() == 50; }));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(get("a", "/one").status, 0u);  // closed
    gate.open();
    for (auto& each : held) EXPECT_EQ(each.read().status, 200u);
    for (auto& each : held)  // old work goes on, upstream as well
        EXPECT_EQ(each.get("/one", "Cache-Control: no-cache\r\n").status, 200u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::too_many_connections], 5u);
    kill("a");
    EXPECT_EQ(logged.count("new ones are refused"), 1u);
}

TEST_F(Load, OfIdleConnectionsMakesRoomForNewOnesLongestFirst) {
    auto settings = config("a");
    settings.limits.connections = 4;
    settings.limits.connections_per_address = 4;
    start(settings);
    std::vector<Client> idle;
    for (int i = 0; i < 7; ++i) {
        idle.push_back(client());
        ASSERT_EQ(idle.back().get("/one").status, 200u) << i;
    }
    EXPECT_EQ(idle.back().get("/one").status, 200u);  // the newest are still there
    EXPECT_TRUE(idle.front().at_end());
    EXPECT_EQ(status("a").work.connections_made_room, 3u);
    EXPECT_EQ(status("a").work.refusals[RequestRefusal::too_many_connections], 0u);
}

TEST_F(Load, OfOneAddressLeavesOthersTheirShareWhateverItDoes) {
    auto settings = config("a");
    settings.limits.connections = 16;  // 14 for one
    start(settings);
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target.starts_with("/held")) gate.wait();
        e.answer(fresh(), "x");
    });
    std::vector<Client> busy;
    const auto ask = [&](int number) {
        busy.push_back(client("a", "127.0.0.66"));
        busy.back().begin("GET", "/held" + std::to_string(number));
    };
    for (int i = 0; i < 14; ++i) ask(i);
    ASSERT_TRUE(eventually([&] { return origin.requests() == 14; }));
    for (int i = 14; i < 20; ++i) ask(i);
    ASSERT_TRUE(eventually(
        [&] { return status("a").work.refusals[RequestRefusal::too_many_connections] == 6; }));
    EXPECT_EQ(get("a", "/one").status, 200u);
    gate.open();
    for (int i = 0; i < 14; ++i) EXPECT_EQ(busy[static_cast<std::size_t>(i)].read().status, 200u);
    // Those of the crowd wait now, and make room for others; never others for them.
    std::vector<Client> others;
    for (int i = 0; i < 8; ++i) {
        others.push_back(client("a", "127.0.0." + std::to_string(2 + i)));
        ASSERT_EQ(others.back().get("/one").status, 200u) << i;
    }
    std::vector<Client> more;
    for (int i = 0; i < 20; ++i) {
        more.push_back(client("a", "127.0.0.66"));
        ASSERT_EQ(more.back().get("/one").status, 200u) << i;
    }
    for (auto& each : others) EXPECT_EQ(each.get("/one").status, 200u);
}

TEST_F(Load, OnMemoryThatIsAllInUseIsPassedOnWithoutBeingStored) {
    constexpr std::size_t kBytes = 30 << 20;  // more than the kernel takes for a slow reader
    const std::string large(kBytes, 'x');
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), large); });
    Logged logged;
    start(config("a"));  // 64 MiB
    std::vector<Client> slow;
    for (int i = 0; i < 2; ++i) {
        slow.push_back(client());
        slow.back().begin("GET", "/" + std::to_string(i));
        ASSERT_TRUE(slow.back().read_at_least(1));
        ASSERT_TRUE(eventually([&] { return status("a").cache.objects == i + 1u; }));
    }
    // Both stay in memory as long as they are read.
    for (int i = 0; i < 3; ++i) {
        const auto answer = get("a", "/new" + std::to_string(i));
        EXPECT_TRUE(answer.complete);
        EXPECT_EQ(answer.body.size(), kBytes);
    }
    EXPECT_LE(status("a").cache.memory_bytes, 64u << 20);
    EXPECT_GE(status("a").work.verdicts[StorageVerdict::no_room], 3u);
    for (auto& each : slow) {
        const auto answer = each.read();
        EXPECT_TRUE(answer.complete);
        EXPECT_EQ(answer.body.size(), kBytes);
    }
    slow.clear();
    EXPECT_EQ(status("a").cache.objects, 2u);
    ASSERT_TRUE(eventually([&] {
        EXPECT_EQ(get("a", "/new").body.size(), kBytes);
        return contains(get("a", "/new").cache_status(), "hit");
    }));
    kill("a");
    EXPECT_EQ(logged.count("is full"), 1u);
}

TEST_F(Load, OfSlowReadersDoesNotEmptyTheCache) {
    constexpr std::size_t kBytes = 12 << 20;
    const std::string large(kBytes, 'x'), small(100'000, 'y');
    const auto scripted = origin.set(
        [&](Exchange& e) { e.answer(fresh(), contains(e.target, "small") ? small : large); });
    start(config("a"));  // 64 MiB
    constexpr int kSmall = 40;
    auto user = client();
    for (int i = 0; i < kSmall; ++i) user.get("/small" + std::to_string(i));
    std::vector<Client> slow;
    for (int i = 0; i < 8; ++i) {
        slow.push_back(client());
        slow.back().begin("GET", "/" + std::to_string(i));
        ASSERT_TRUE(slow.back().read_at_least(1));
        const auto quick = user.get("/" + std::to_string(i));
        ASSERT_EQ(quick.body.size(), kBytes);
    }
    const auto asked = origin.requests();
    for (int i = 0; i < kSmall; ++i)
        ASSERT_EQ(user.get("/small" + std::to_string(i)).body.size(), small.size());
    EXPECT_LE(origin.requests() - asked, 0u) << "small ones were pushed out";
    for (auto& each : slow) EXPECT_EQ(each.read().body.size(), kBytes);
}

TEST_F(Load, OfSlowReadersOfBlocksDoesNotEmptyTheCacheEither) {
    constexpr std::size_t kBytes = 12 << 20;
    const File large{std::string(kBytes, 'x')}, small{std::string(100'000, 'y')};
    const auto scripted =
        origin.set([&](Exchange& e) { (contains(e.target, "small") ? small : large).answer(e); });
    auto settings = config("a");  // 64 MiB
    settings.cache.block = kBytes;
    settings.cache.slice_from = 1 << 20;
    start(settings);
    constexpr int kSmall = 30;
    auto user = client();
    for (int i = 0; i < kSmall; ++i) user.get("/small" + std::to_string(i));
    std::vector<Client> slow;
    for (int i = 0; i < 5; ++i) {
        ASSERT_EQ(user.get("/" + std::to_string(i)).body.size(), kBytes);
        slow.push_back(client());
        slow.back().begin("GET", "/" + std::to_string(i), "Cache-Control: only-if-cached\r\n");
        ASSERT_TRUE(slow.back().read_at_least(1));
    }
    user.get("/new");  // for which there is no room
    const auto asked = origin.requests();
    for (int i = 0; i < kSmall; ++i)
        ASSERT_EQ(user.get("/small" + std::to_string(i)).body.size(), small.content.size());
    EXPECT_EQ(origin.requests(), asked) << "small ones were pushed out";
    for (auto& each : slow) EXPECT_EQ(each.read().body.size(), kBytes);
}

TEST_F(Load, OfSlowReadersOfWhatIsNotStoredTakesNoMoreThanAllWindowsTogether) {
    constexpr std::size_t kBytes = 16 << 20;  // more than the kernel takes for a slow reader
    const std::string large(kBytes, 'x');
    const auto scripted = origin.set([&](Exchange& e) {
        const auto stored = contains(e.target, "stored");
        e.answer(stored ? fresh() : "Cache-Control: no-store\r\n", large);
    });
    auto settings = config("a");
    settings.cache.memory = 49 << 20;  // for three
    settings.limits.body_windows = 1 << 20;
    start(settings);
    for (const auto* target : {"/stored1", "/stored2", "/stored3"}) get("a", target);
    std::vector<Client> slow;
    for (int i = 0; i < 12; ++i) {
        slow.push_back(client());
        slow.back().begin("GET", "/" + std::to_string(i));
    }
    for (auto& each : slow) ASSERT_TRUE(each.read_at_least(1));
    std::uint64_t most = 0;
    ASSERT_TRUE(eventually([&] {
        const auto now = status("a").window_bytes;
        most = std::max(most, now);
        return now > 256 * 1024;
    }));
    for (auto& each : slow) {
        EXPECT_EQ(each.read().body.size(), kBytes);
        most = std::max(most, status("a").window_bytes);
    }
    EXPECT_LE(most, 1u << 20);
    EXPECT_EQ(status("a").cache.evictions, 0u);
    EXPECT_EQ(status("a").cache.objects, 3u);
    EXPECT_TRUE(eventually([&] { return status("a").window_bytes == 0; }));
}

TEST_F(Load, OfAClientThatTakesLessThanItShouldEnds) {
    const std::string large(30 << 20, 'x');
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), large); });
    auto settings = config("a");
    settings.limits.client_rate_min = 1 << 20;
    settings.timeouts.body_idle = 200ms;
    start(settings);
    {
        auto slow = client();
        slow.begin("GET", "/one");
        std::string got;
        // A thousand bytes now and then: not that nothing moves, but too little. The bytes in the
        // kernel's buffers can still be read after the end.
        while (slow.socket.receive(got, 1000) && got.size() < large.size())
            std::this_thread::sleep_for(1ms);
        EXPECT_LT(got.size(), large.size());
    }
    settings.limits.client_rate_min = 0;
    settings.timeouts.body_idle = 10s;
    start(settings);
    EXPECT_TRUE(get("a", "/one").complete);
}

TEST_F(Load, OfFetchesThatAllHaveLeftEndsWhateverTheOriginDoes) {
    std::atomic<int> ended = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        e.keep = false;
        // Nearly done, to judge by its length, or by the bytes that have come.
        e.send(
            "HTTP/1.1 200 OK\r\n" +
            fresh(e.target == "/sized" ? "Content-Length: 100000\r\n" : "Connection: close\r\n") +
            "\r\n");
        for (int i = 0; e.target != "/stalls" || i < 20; ++i) {
            if (e.socket.readable(50ms)) break;  // closed
            e.send("x");
        }
        std::string rest;
        while (e.socket.receive(rest)) {
        }
        ++ended;
    });
    start(config("a"));
    for (const auto* target : {"/sized", "/unsized", "/stalls"}) {
        auto leaving = client();
        leaving.begin("GET", target);
        ASSERT_TRUE(leaving.read_at_least(1));
        leaving.socket.reset();
    }
    EXPECT_TRUE(eventually([&] { return ended == 3; })) << "no client, yet all are held open";
    EXPECT_TRUE(eventually([&] { return quiet(); }));
    EXPECT_EQ(status("a").work.verdicts[StorageVerdict::aborted], 3u);
}

/// The tests that need a process of their own. Each test runs in a copy of this program, so that
/// neither descriptors nor signals are shared.
class ProcessDeathTest : public NodesTest {
protected:
    ProcessDeathTest() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        // The child ends in the middle of everything, its origin's threads too.
        ::setenv("TSAN_OPTIONS", "report_thread_leaks=0", 1);
    }

    [[noreturn]] static void end(bool good, const char* what) {
        if (!good) std::fprintf(stderr, "failed: %s\n", what);
        ::_exit(good ? 0 : 1);
    }
    static void need(bool good, const char* what) {
        if (!good) end(false, what);
    }

    void run_out_of_descriptors() {
        Logged logged;
        auto settings = config("a");
        // Each fetch needs a descriptor.
        const auto scripted = origin.set([](Exchange& e) {
            e.answer(fresh("Connection: close\r\n"), "body of " + e.target);
            e.keep = false;
        });
        start(settings);
        auto held = client();
        need(held.get("/stored").status == 200, "the first answer");
        std::vector<int> waiting;  // clients that need no further descriptor
        for (int i = 0; i < 4; ++i) waiting.push_back(::socket(AF_INET, SOCK_STREAM, 0));
        auto later = ::open("/dev/null", O_RDONLY);
        std::vector<int> all;
        {
            const DescriptorLimit limit(static_cast<rlim_t>(later) + 8);
            for (int fd = 0; (fd = ::open("/dev/null", O_RDONLY)) >= 0;) all.push_back(fd);
            for (const auto fd : waiting) {
                need(connect_socket(fd, address("a"), kProxyPort), "a connection");
                char byte = 0;
                need(::recv(fd, &byte, 1, 0) <= 0, "new work is refused");
            }
            need(held.get("/stored").status == 200, "a hit for an old client");
            need(held.get("/new").status == 503, "503 for what needs another descriptor");
            need(held.get("/stored").status == 200, "and its connection is kept");
            for (const auto fd : all) ::close(fd);
            need(get("a", "/stored").status == 200, "new work is taken again");
            need(held.get("/new").status == 200, "from the origin too");
        }
        need(status("a").work.refusals[RequestRefusal::too_many_connections] == 4, "the count");
        kill("a");
        end(logged.count("no file descriptor") == 1, "it is logged once");
    }

    /// A node that is told to end while a request is at the origin.
    void end_by_signals(int signals) {
        Gate answer;
        std::atomic<bool> good = true;
        const auto scripted = origin.set([&](Exchange& e) {
            answer.wait();
            e.answer(fresh(), "late");
        });
        std::thread user([&] {
            const auto there = eventually([&] {
                try {
                    client();
                    return true;
                } catch (const std::exception&) {
                    return false;
                }
            });
            auto waiting = client();
            waiting.begin("GET", "/one");
            good = there && answer.wait_for(1);
            ::kill(::getpid(), SIGTERM);
            good = good && eventually([&] {
                       try {
                           client();
                           return false;
                       } catch (const std::exception&) {
                           return true;  // nobody is accepted any more
                       }
                   });
            if (signals == 1) {
                answer.open();
                const auto whole = waiting.read();
                good = good && whole.body == "late" && whole.field("Connection") == "close";
            } else {
                ::kill(::getpid(), SIGTERM);
                good = good && waiting.read().status == 0;
                answer.open();
            }
        });
        auto settings = config("a");
        settings.timeouts.drain = 60s;
        LoadResult loaded;
        loaded.config.emplace(settings);
        loaded.files = load_files(*loaded.config).files;
        BlockedSignals held;
        const auto code = run_node(std::move(loaded), {}, held);
        user.join();
        need(good, "what the user saw");
        end(code == 0, "the exit code");
    }
};

TEST_F(ProcessDeathTest, ANodeWithoutDescriptorsRefusesNewWorkAndRecovers) {
    EXPECT_EXIT(run_out_of_descriptors(), ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessDeathTest, FinishesWhatRunsAfterTerm) {
    EXPECT_EXIT(end_by_signals(1), ::testing::ExitedWithCode(0), "");
}

TEST_F(ProcessDeathTest, EndsNowAfterASecondTerm) {
    EXPECT_EXIT(end_by_signals(2), ::testing::ExitedWithCode(0), "");
}

}  // namespace load_test
}  // namespace proxy::test
