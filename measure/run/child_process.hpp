#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace measure {

/// A child process that ends with this one: the kernel kills it when the starting thread ends. It
/// has a process group of its own, so Ctrl-C reaches only the parent, which then stops it. Movable;
/// one thread.
class ChildProcess {
public:
    /// Starts `arguments[0]` with standard output and error in `log_file`. Throws
    /// std::system_error.
    ChildProcess(const std::vector<std::string>& arguments, const std::string& log_file);
    ~ChildProcess();
    ChildProcess(ChildProcess&&) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;

    pid_t pid() const { return pid_; }
    /// Describes the end of the process ("exit code 78", "signal 9"), or returns nothing while it
    /// runs.
    std::optional<std::string> ended();
    /// Sends SIGTERM.
    void terminate();
    /// Sends SIGKILL: the process ends as by a loss of power.
    void kill();
    /// Waits for the end of the process, and kills it after a few seconds.
    void wait();

private:
    pid_t pid_;
    std::optional<std::string> ended_;
};

/// Path of the running program.
std::string own_executable();

/// An empty directory for this user only. The destructor removes it with its content.
class TemporaryDirectory {
public:
    explicit TemporaryDirectory(const std::string& prefix);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

}  // namespace measure
