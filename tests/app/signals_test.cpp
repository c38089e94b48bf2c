// The real program and its signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "measure/run/child_process.hpp"
#include "measure/run/http_get.hpp"
#include "tests/app/run_program.hpp"

namespace app {
namespace signals_test {

using namespace std::chrono_literals;
using measure::ChildProcess;
using measure::http_get;
using measure::HttpAnswer;
using measure::TemporaryDirectory;
using testing::HasSubstr;
using testing::Not;

class Signals : public testing::Test {
protected:
    /// A configuration of two lines that matter, and its node.
    void write(const std::string& origin_host, const std::string& more = "") const {
        std::ofstream(file_) << R"({"node": "n", "listen": ")" + host_ + R"(:3128",
            "admin": {"listen": ")" +
                                    host_ + R"(:9128"},
            "log": {"access": ")" + directory_.path() +
                                    R"(/access.log"},
            "origins": [{"host": ")" +
                                    origin_host + R"(", "url": "http://127.0.0.1:1"}])" + more +
                                    "}";
    }
    ChildProcess run() const {
        ChildProcess child({test::program(), "run", "--config", file_}, directory_.path() + "/log");
        EXPECT_TRUE(eventually([&] { return admin("/readyz").status == 200; })) << log();
        return child;
    }
    HttpAnswer admin(const std::string& target) const { return get(9128, target); }
    HttpAnswer get(std::uint16_t port, const std::string& target) const {
        const auto answer = http_get({host_, port}, target, 5s);
        return answer ? *answer : HttpAnswer{};
    }
    std::string log() const { return text_of("log"); }
    std::string text_of(const std::string& name) const {
        return test::content(directory_.path() + '/' + name);
    }
    static bool eventually(const std::function<bool()>& holds) {
        const auto end = std::chrono::steady_clock::now() + 20s;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > end) return false;
            std::this_thread::sleep_for(2ms);
        }
        return true;
    }
    bool says(const std::string& text) const {
        return eventually([&] { return log().find(text) != std::string::npos; });
    }

    const std::string host_ = "127.63." + std::to_string(::getpid() >> 8 & 255) + '.' +
                              std::to_string(1 + (::getpid() & 127));
    const TemporaryDirectory directory_{"hearsay-test-"};
    const std::string file_ = directory_.path() + "/hearsay.json";
};

TEST_F(Signals, StandardStreamsThatAreClosedAreNoSockets) {
    write("a.test");
    ChildProcess node(
        {"/bin/sh", "-c", "exec \"$0\" run --config \"$1\" <&- >&- 2>&-", test::program(), file_},
        directory_.path() + "/log");
    ASSERT_TRUE(eventually([&] { return admin("/readyz").status == 200; }));
    for (const auto* fd : {"0", "1", "2"})
        EXPECT_EQ(
            std::filesystem::read_symlink("/proc/" + std::to_string(node.pid()) + "/fd/" + fd),
            "/dev/null");
}

TEST_F(Signals, HangUpReloadsTheConfiguration) {
    write("old.test");
    auto node = run();
    ::kill(node.pid(), SIGUSR1);  // harmless at any time
    write("new.test", R"(, "limits": {"head": "32KiB"})");
    ::kill(node.pid(), SIGHUP);
    ASSERT_TRUE(says("HUP: configuration reloaded, changed: $.origins, $.limits.head")) << log();
    EXPECT_THAT(admin("/api/v1/config").body, HasSubstr("new.test"));

    write("newer.test", R"(, "listn": 1, "cache": {"memory": "many"})");
    ::kill(node.pid(), SIGHUP);
    ASSERT_TRUE(says("HUP: configuration not reloaded: $.listn: ")) << log();
    ASSERT_TRUE(says("HUP: configuration not reloaded: $.cache.memory: ")) << log();
    EXPECT_THAT(admin("/api/v1/config").body, HasSubstr("new.test"));

    write("new.test", R"(, "workers": 2)");
    ::kill(node.pid(), SIGHUP);
    ASSERT_TRUE(says("HUP: configuration not reloaded: $.workers: changing it needs a restart"))
        << log();
    EXPECT_THAT(admin("/metrics").body,
                HasSubstr("hearsay_config_reloads_total{result=\"refused\"} 2\n"));
    node.terminate();
    node.wait();
    EXPECT_EQ(node.ended(), "exit code 0");
}

TEST_F(Signals, HangUpChangesTheFormatOfTheErrorLog) {
    write("a.test");
    auto text = text_of("hearsay.json");
    const std::string section = "\"log\": {";
    text.insert(text.find(section) + section.size(), "\"error_format\": \"json\", ");
    std::ofstream(file_) << text;
    auto node = run();
    ASSERT_TRUE(says(R"(Z","level":"info","text":"node n: proxy at )")) << log();
    EXPECT_THAT(log(), testing::StartsWith(R"({"ts":"20)"));
    write("a.test");
    ::kill(node.pid(), SIGHUP);
    ASSERT_TRUE(says("[info] HUP: configuration reloaded, changed: $.log.error_format")) << log();
}

TEST_F(Signals, User1OpensTheAccessLogAnew) {
    write("*");
    auto node = run();
    get(3128, "/one");
    ASSERT_TRUE(eventually([&] { return !text_of("access.log").empty(); }));
    std::filesystem::rename(directory_.path() + "/access.log", directory_.path() + "/access.log.1");
    ::kill(node.pid(), SIGUSR1);
    EXPECT_TRUE(
        eventually([&] { return std::filesystem::exists(directory_.path() + "/access.log"); }));
    get(3128, "/two");
    ASSERT_TRUE(eventually([&] { return !text_of("access.log").empty(); }));
    EXPECT_THAT(text_of("access.log"), HasSubstr("/two"));
    EXPECT_THAT(text_of("access.log.1"), Not(HasSubstr("/two")));
}

/// A service manager's end of sd_notify(3). Programs that are started while it lives speak to it.
class NotifySocket {
public:
    explicit NotifySocket(const std::string& path)
        : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
        const timeval patience{20, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
    }
    ~NotifySocket() {
        ::unsetenv("NOTIFY_SOCKET");
        ::unsetenv("WATCHDOG_USEC");
        ::close(fd_);
    }
    NotifySocket(const NotifySocket&) = delete;

    /// The next message; empty when none comes.
    std::string next() const {
        char text[4096];
        const auto size = ::recv(fd_, text, sizeof text, 0);
        return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
    }
    /// The next that is no watchdog's.
    std::string news() const {
        auto message = next();
        while (message == "WATCHDOG=1") message = next();
        return message;
    }
    /// Reads and drops all messages; senders wait while the queue is full.
    void clear() const {
        char ignored;
        while (::recv(fd_, &ignored, 1, MSG_DONTWAIT) >= 0) {
        }
    }

private:
    int fd_;
};

TEST_F(Signals, AServiceManagerIsToldWhatTheNodeDoes) {
    const NotifySocket manager(directory_.path() + "/notify");
    write("old.test");
    auto node = run();
    EXPECT_EQ(manager.next(), "READY=1\nSTATUS=Serving at " + host_ + ":3128");

    write("new.test");
    ::kill(node.pid(), SIGHUP);
    EXPECT_THAT(manager.next(), testing::MatchesRegex("RELOADING=1\nMONOTONIC_USEC=[0-9]+"));
    EXPECT_EQ(manager.next(), "READY=1\nSTATUS=Serving at " + host_ + ":3128");
    write("newer.test", R"(, "listn": 1)");
    ::kill(node.pid(), SIGHUP);
    EXPECT_THAT(manager.next(), HasSubstr("RELOADING=1"));
    EXPECT_THAT(manager.next(),
                testing::StartsWith("READY=1\nSTATUS=Serving at " + host_ +
                                    ":3128; the last reload was refused: $.listn: "));

    node.terminate();
    EXPECT_EQ(manager.next(),
              "STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000\n"
              "STATUS=Draining, 0 connections are open");
    node.wait();
    EXPECT_EQ(node.ended(), "exit code 0");
}

TEST_F(Signals, AServiceManagerThatWatchesHearsThatTheNodeIsAlive) {
    const NotifySocket manager(directory_.path() + "/notify");
    ::setenv("WATCHDOG_USEC", "30000", 1);  // for every process: WATCHDOG_PID is not set
    write("*");
    auto node = run();
    EXPECT_THAT(manager.next(), HasSubstr("READY=1"));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(manager.next(), "WATCHDOG=1");
    node.terminate();
    EXPECT_THAT(manager.news(), HasSubstr("STOPPING=1"));
    EXPECT_TRUE(eventually([&] {
        manager.clear();
        return node.ended().has_value();
    }));
    EXPECT_EQ(node.ended(), "exit code 0");
}

}  // namespace signals_test
}  // namespace app
