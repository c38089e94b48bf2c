// `hearsay top` without a terminal, and the real program on a pseudo terminal.
#include "app/top_command.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "app/exit_codes.hpp"
#include "tests/app/run_program.hpp"
#include "tests/app/top_answers.hpp"
#include "tests/measure/captured.hpp"
#include "tests/measure/scripted_server.hpp"

namespace app {
namespace top_command_test {

using namespace std::chrono_literals;
using measure::captured;
using measure::nobody;
using measure::Reply;
using measure::ScriptedServer;
using measure::Seen;
using testing::HasSubstr;
using testing::Not;

std::string answer(const std::string& body, const char* status = "200 OK") {
    return std::string("HTTP/1.1 ") + status +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
}

Reply node_a(const Seen& seen) {
    const auto target = seen.target();
    if (target == "/api/v1/nodes") return {answer(kTopNodes)};
    if (target.starts_with("/api/v1/history")) return {answer(kTopHistory)};
    if (target == "/api/v1/top") return {answer("token\n", "401 Unauthorized")};
    return {answer("no\n", "404 Not Found")};
}

TEST(Top, PrintsOnePlainPictureWithoutATerminal) {
    const ScriptedServer server(node_a);
    const auto ended = captured([&] { return top_command({server.address().text(), {}}); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("2 of 3 nodes ready"));
    EXPECT_THAT(ended.out, HasSubstr("the node shows URLs with its token alone"));
    EXPECT_THAT(ended.out, Not(HasSubstr("\x1b")));
}

TEST(Top, SaysWhyThereIsNoPicture) {
    const auto silent = captured([] { return top_command({nobody().text(), {}}); });
    EXPECT_EQ(silent.code, kFailed);
    EXPECT_THAT(silent.error, HasSubstr("no node answers at http://"));
    const ScriptedServer locked(
        [](const Seen&) { return Reply{answer("Not you.\n", "401 Unauthorized")}; });
    const auto refused = captured([&] { return top_command({locked.address().text(), {}}); });
    EXPECT_EQ(refused.code, kFailed);
    EXPECT_THAT(refused.error, HasSubstr("status 401: Not you. (set HEARSAY_ADMIN_TOKEN)"));
    const ScriptedServer other([](const Seen&) { return Reply{answer("{}")}; });
    EXPECT_THAT(captured([&] {
                    return top_command({other.address().text(), {}});
                }).error,
                HasSubstr("not the list of nodes"));
    EXPECT_EQ(captured([] { return top_command({"no address at all", {}}); }).code, kUsage);
}

/// The program on a pseudo terminal of 24 lines.
class OnATerminal : public testing::Test {
protected:
    void run(const std::string& at, unsigned short columns = 120, bool colors = true) {
        winsize size{24, columns, 0, 0};
        const auto program = test::program();
        const std::vector<const char*> words{program.c_str(), "top", "--at", at.c_str(), nullptr};
        const auto environment =
            colors ? std::vector<const char*>{"TERM=xterm", nullptr}
                   : std::vector<const char*>{"TERM=xterm", "NO_COLOR=1", nullptr};
        int shell = -1;
        ASSERT_EQ(::openpty(&terminal_, &shell, nullptr, nullptr, &size), 0);
        ASSERT_EQ(::tcgetattr(terminal_, &before_), 0);
        child_ = ::fork();
        ASSERT_GE(child_, 0);
        if (child_ == 0) {
            ::login_tty(shell);
            ::execve(program.c_str(), const_cast<char* const*>(words.data()),
                     const_cast<char* const*>(environment.data()));
            ::_exit(127);
        }
        held_ = shell;  // keeps the terminal, and its modes, beyond the program
    }
    /// Reads until the screen has got this text, for ten seconds at most.
    bool shows(const std::string& text) {
        const auto deadline = std::chrono::steady_clock::now() + 10s;
        while (written_.find(text, looked_) == std::string::npos) {
            if (std::chrono::steady_clock::now() > deadline || !read_some()) return false;
        }
        looked_ = written_.find(text, looked_) + text.size();
        return true;
    }
    void type(const char* keys) {
        EXPECT_GT(::write(terminal_, keys, std::char_traits<char>::length(keys)), 0);
    }
    void resize(unsigned short columns) {
        const winsize size{24, columns, 0, 0};
        EXPECT_EQ(::ioctl(terminal_, TIOCSWINSZ, &size), 0);
    }
    /// Waits for the end of the program. Returns its exit code, or -1 after a signal.
    int end() {
        const auto back = shows("\x1b[?25h\x1b[?1049l");
        EXPECT_TRUE(back) << "cursor and screen are given back";
        int status = 0;
        while (::waitpid(child_, &status, WNOHANG) == 0) read_some();
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    bool is_as_before() const {
        termios now{};
        return ::tcgetattr(terminal_, &now) == 0 && now.c_lflag == before_.c_lflag;
    }
    ~OnATerminal() override {
        if (child_ > 0) {
            ::kill(child_, SIGKILL);
            ::waitpid(child_, nullptr, 0);
        }
        for (const int fd : {terminal_, held_})
            if (fd >= 0) ::close(fd);
    }

    pid_t child_ = -1;
    std::string written_;

private:
    bool read_some() {
        pollfd one{terminal_, POLLIN, 0};
        if (::poll(&one, 1, 100) <= 0) return true;
        char bytes[4096];
        const auto size = ::read(terminal_, bytes, sizeof bytes);
        if (size <= 0) return false;
        written_.append(bytes, static_cast<std::size_t>(size));
        return true;
    }

    int terminal_ = -1, held_ = -1;
    std::size_t looked_ = 0;
    termios before_{};
};

TEST_F(OnATerminal, TopEndsWithQAndGivesTheTerminalBack) {
    const ScriptedServer server(node_a);
    run(server.address().text());
    ASSERT_TRUE(shows("\x1b[?1049h\x1b[?25l")) << written_;
    ASSERT_TRUE(shows("2 of 3 nodes ready"));
    EXPECT_TRUE(shows("\x1b[31mdown"));
    EXPECT_FALSE(is_as_before()) << "keys come one by one";
    type("x");
    type("q");
    EXPECT_EQ(end(), kOk);
    EXPECT_TRUE(is_as_before());
}

TEST_F(OnATerminal, TopGivesTheTerminalBackAfterASignal) {
    const ScriptedServer server(node_a);
    for (const int signal : {SIGTERM, SIGHUP, SIGINT}) {
        run(server.address().text());
        ASSERT_TRUE(shows("2 of 3 nodes ready"));
        ::kill(child_, signal);
        EXPECT_EQ(end(), kOk) << signal;
        EXPECT_TRUE(is_as_before()) << signal;
    }
}

TEST_F(OnATerminal, TopFollowsTheSizeOfTheWindow) {
    const ScriptedServer server(node_a);
    run(server.address().text(), 60);
    ASSERT_TRUE(shows("2 of 3 nodes ready"));
    EXPECT_THAT(written_, Not(HasSubstr("objects"))) << "the column has no room";
    resize(140);
    EXPECT_TRUE(shows("\x1b[2J"));
    EXPECT_TRUE(shows("objects"));
    type("q");
    EXPECT_EQ(end(), kOk);
}

TEST_F(OnATerminal, TopHasNoColorsWithNoColor) {
    const ScriptedServer server(node_a);
    run(server.address().text(), 120, false);
    ASSERT_TRUE(shows("most requested URLs"));
    type("q");
    EXPECT_EQ(end(), kOk);
    EXPECT_THAT(written_, Not(HasSubstr("\x1b[31m")));
}

TEST_F(OnATerminal, TopSaysThatTheNodeIsSilentAndGoesOn) {
    std::atomic<bool> is_silent{false};
    const ScriptedServer server([&](const Seen& seen) {
        return is_silent ? Reply{answer("busy\n", "503 Service Unavailable"), true} : node_a(seen);
    });
    run(server.address().text());
    ASSERT_TRUE(shows("2 of 3 nodes ready"));
    is_silent = true;
    EXPECT_TRUE(shows("NO ANSWER since ")) << written_;
    is_silent = false;
    EXPECT_TRUE(shows("2 of 3 nodes ready")) << "the lines move up again";
    type("q");
    EXPECT_EQ(end(), kOk);
}

}  // namespace top_command_test
}  // namespace app
