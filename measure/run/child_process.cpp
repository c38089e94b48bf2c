#include "measure/run/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

namespace measure {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 5s;
constexpr auto kChildPoll = 20ms;

/// Runs in the child between fork and exec, and calls only functions that are safe there.
[[noreturn]] void become(char* const* arguments, int log, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);  // the parent ended before the line above
    ::setpgid(0, 0);
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execv(arguments[0], arguments);
    ::_exit(127);
}

std::string describe(int status) {
    if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
    return "exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::string& log_file) {
    std::vector<char*> raw;
    for (const auto& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    const int log = ::open(log_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0) throw std::system_error(errno, std::generic_category(), log_file);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    const int error = errno;
    if (pid_ == 0) become(raw.data(), log, parent);
    ::close(log);
    if (pid_ < 0) throw std::system_error(error, std::generic_category(), "fork");
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), ended_(std::move(other.ended_)) {}

ChildProcess::~ChildProcess() {
    if (pid_ < 0) return;
    terminate();
    wait();
}

std::optional<std::string> ChildProcess::ended() {
    int status = 0;
    if (!ended_ && ::waitpid(pid_, &status, WNOHANG) == pid_) ended_ = describe(status);
    return ended_;
}

void ChildProcess::terminate() {
    if (!ended()) ::kill(pid_, SIGTERM);
}

void ChildProcess::kill() {
    if (!ended()) ::kill(pid_, SIGKILL);
}

void ChildProcess::wait() {
    const auto give_up = std::chrono::steady_clock::now() + kPatience;
    while (!ended()) {
        if (std::chrono::steady_clock::now() >= give_up) ::kill(pid_, SIGKILL);
        std::this_thread::sleep_for(kChildPoll);
    }
}

std::string own_executable() {
    return std::filesystem::read_symlink("/proc/self/exe").string();
}

TemporaryDirectory::TemporaryDirectory(const std::string& prefix) {
    std::error_code error;
    const auto parent = std::filesystem::temp_directory_path(error);
    if (error) throw std::system_error(error, "no directory for temporary files (TMPDIR)");
    path_ = (parent / (prefix + "XXXXXX")).string();
    if (!::mkdtemp(path_.data())) throw std::system_error(errno, std::generic_category(), path_);
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace measure
