#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace measure {

/// A program started by this one, which does not outlive it: the kernel kills it when the starting
/// thread ends in whatever way. It gets a process group of its own, so that Ctrl-C reaches only the
/// parent, which then stops it. Movable; one thread.
class ChildProcess {
public:
    /// Starts `arguments[0]` with its standard output and error going to `log_file`. Throws
    /// std::system_error.
    ChildProcess(const std::vector<std::string>& arguments, const std::string& log_file);
    ~ChildProcess();
    ChildProcess(ChildProcess&&) noexcept;
    ChildProcess& operator=(ChildProcess&&) = delete;

    pid_t pid() const { return pid_; }
    /// How it ended ("exit code 78", "signal 9"), or nothing while it runs.
    std::optional<std::string> ended();
    /// Asks it to end.
    void terminate();
    /// Ends it as a loss of power would, without a word (SIGKILL).
    void kill();
    /// Waits for its end; kills it after a few seconds.
    void wait();

private:
    pid_t pid_;
    std::optional<std::string> ended_;
};

/// The program that is running.
std::string own_executable();

/// An empty directory only for this user, removed with everything in it at the end.
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
