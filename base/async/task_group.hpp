#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <utility>

namespace base {

/// Coroutines whose end the owner waits for. The group stops in two steps: close() takes no new
/// tasks and lets the old ones finish; cancel() cancels the running ones. One io_context thread
/// only. The group may be destroyed while tasks run (they go on unwatched), and after its
/// io_context.
class TaskGroup {
    struct Task;

public:
    /// Cancels one task. For the task or its members; useless after the task's end.
    class Stop {
    public:
        /// Acts in the event loop. A task that has yet to begin is left alone.
        void operator()();

    private:
        friend class TaskGroup;
        Task* task_ = nullptr;
    };

    explicit TaskGroup(boost::asio::any_io_executor executor);
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Starts `task` on the executor. Returns false after close(), and drops the task. A task may
    /// end by operation_aborted; any other exception is a bug and leaves io_context::run().
    bool spawn(boost::asio::awaitable<void> task) {
        Stop unused;
        return spawn(std::move(task), unused);
    }
    /// `stop` is set before the task can begin.
    bool spawn(boost::asio::awaitable<void> task, Stop& stop);

    void close() noexcept;
    /// Implies close(). Takes effect in the event loop: at once when called from it.
    void cancel();
    std::size_t size() const noexcept;

    /// Returns when all tasks have ended. Several waiters are allowed.
    boost::asio::awaitable<void> wait();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace base
