// The real program and its signals.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "measure/child_process.hpp"
#include "measure/http_get.hpp"

namespace measure {
namespace {

using namespace std::chrono_literals;
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
        const auto program = std::filesystem::path(own_executable()).parent_path() / "hearsay";
        ChildProcess child({program.string(), "run", "--config", file_},
                           directory_.path() + "/log");
        EXPECT_TRUE(eventually([&] { return admin("/readyz").status == 200; })) << log();
        return child;
    }
    HttpAnswer admin(const std::string& target) const { return get("9128", target); }
    HttpAnswer get(const std::string& port, const std::string& target) const {
        const auto answer = http_get({host_, port}, target, 5s);
        return answer ? *answer : HttpAnswer{};
    }
    std::string log() const { return text_of("log"); }
    std::string text_of(const std::string& name) const {
        std::ifstream in(directory_.path() + '/' + name);
        return {std::istreambuf_iterator<char>(in), {}};
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

TEST_F(Signals, User1OpensTheAccessLogAnew) {
    write("*");
    auto node = run();
    get("3128", "/one");
    ASSERT_TRUE(eventually([&] { return !text_of("access.log").empty(); }));
    std::filesystem::rename(directory_.path() + "/access.log", directory_.path() + "/access.log.1");
    ::kill(node.pid(), SIGUSR1);
    EXPECT_TRUE(
        eventually([&] { return std::filesystem::exists(directory_.path() + "/access.log"); }));
    get("3128", "/two");
    ASSERT_TRUE(eventually([&] { return !text_of("access.log").empty(); }));
    EXPECT_THAT(text_of("access.log"), HasSubstr("/two"));
    EXPECT_THAT(text_of("access.log.1"), Not(HasSubstr("/two")));
}

}  // namespace
}  // namespace measure
