#include "measure/run/child_process.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

namespace measure {
namespace child_process_test {

using namespace std::chrono_literals;

struct Shell {
    TemporaryDirectory directory{"hearsay-test-"};
    std::string log = directory.path() + "/log";

    ChildProcess run(const std::string& script) { return {{"/bin/sh", "-c", script}, log}; }
    std::string output() const {
        std::ifstream in(log);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    /// Waits until the script has said something.
    void await_output() const {
        const auto give_up = std::chrono::steady_clock::now() + 10s;
        while (output().empty() && std::chrono::steady_clock::now() < give_up) {
            std::this_thread::sleep_for(1ms);
        }
        ASSERT_FALSE(output().empty());
    }
};

bool is_alive(pid_t pid) {
    return ::kill(pid, 0) == 0;
}

TEST(ChildProcess, TellsHowItEnded) {
    Shell shell;
    auto child = shell.run("exit 7");
    child.wait();
    EXPECT_EQ(child.ended(), "exit code 7");
    auto killed = shell.run("kill -9 $$");
    killed.wait();
    EXPECT_EQ(killed.ended(), "signal 9");
}

TEST(ChildProcess, WritesBothOutputsToTheLog) {
    Shell shell;
    shell.run("echo one; echo two >&2").wait();
    EXPECT_EQ(shell.output(), "one\ntwo\n");
}

TEST(ChildProcess, RunsUntilItIsTerminated) {
    Shell shell;
    auto child = shell.run("echo up; exec sleep 100");
    shell.await_output();
    EXPECT_EQ(child.ended(), std::nullopt);
    child.terminate();
    child.wait();
    EXPECT_EQ(child.ended(), "signal 15");
}

TEST(ChildProcess, EndsWithItsObject) {
    Shell shell;
    pid_t pid = 0;
    {
        auto child = shell.run("echo up; exec sleep 100");
        shell.await_output();
        pid = child.pid();
        EXPECT_TRUE(is_alive(pid));
        const auto moved = std::move(child);
        EXPECT_TRUE(is_alive(moved.pid()));
    }
    EXPECT_FALSE(is_alive(pid));
}

TEST(ChildProcess, DoesNotOutliveAParentThatIsKilled) {
    Shell shell;
    const pid_t parent = ::fork();
    if (parent == 0) {
        try {
            const auto child = shell.run("echo $$; exec sleep 100");
            shell.await_output();
            ::raise(SIGKILL);
        } catch (...) {
        }
        ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(parent, &status, 0), parent);
    ASSERT_TRUE(WIFSIGNALED(status));
    const pid_t orphan = std::stoi(shell.output());
    const auto give_up = std::chrono::steady_clock::now() + 10s;
    const auto gone = [&] {  // a process that init has yet to collect counts as gone
        std::ifstream stat("/proc/" + std::to_string(orphan) + "/stat");
        std::string id, name, state;
        stat >> id >> name >> state;
        return state.empty() || state == "Z";
    };
    while (!gone() && std::chrono::steady_clock::now() < give_up) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(gone());
}

TEST(ChildProcess, HasAProcessGroupOfItsOwn) {  // so that Ctrl-C reaches only the parent
    Shell shell;
    auto child = shell.run("echo up; exec sleep 100");
    shell.await_output();
    EXPECT_EQ(::getpgid(child.pid()), child.pid());
}

TEST(ChildProcess, EndsAtOnceWhenThereIsNoSuchProgram) {
    Shell shell;
    ChildProcess child({"/nonexistent/program"}, shell.log);
    child.wait();
    EXPECT_EQ(child.ended(), "exit code 127");
}

TEST(ChildProcess, NeedsALogItCanWrite) {
    EXPECT_THROW(ChildProcess({"/bin/true"}, "/nonexistent/log"), std::system_error);
}

TEST(TemporaryDirectory, IsPrivateAndVanishes) {
    std::string path;
    {
        const TemporaryDirectory directory("hearsay-test-");
        path = directory.path();
        struct stat info {};
        ASSERT_EQ(::stat(path.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 0777, 0700u);
        std::ofstream(path + "/file") << "something";
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(OwnExecutable, IsThisProgram) {
    EXPECT_EQ(std::filesystem::path(own_executable()).filename(), "measure_test");
}

}  // namespace child_process_test
}  // namespace measure
