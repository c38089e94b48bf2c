#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <utility>

namespace protocol {

/// The coroutines that somebody has started and must see the end of. Stops in two steps:
/// `close()` takes no new ones and lets the old ones finish; `cancel()` cancels what still runs.
/// One io_context thread only. May be destroyed with coroutines running (they go on, unwatched),
/// and after its io_context.
class TaskGroup {
    struct Task;

public:
    /// Cancels one task. For the task itself to hold, or what it owns: of no use after its end.
    class Stop {
    public:
        /// In the event loop. Nothing happens before the task has begun.
        void operator()();

    private:
        friend class TaskGroup;
        Task* task_ = nullptr;
    };

    explicit TaskGroup(boost::asio::any_io_executor executor);
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Starts `task` on the executor. False, and the task is dropped unstarted, after
    /// close(). A task that ends by operation_aborted ended normally; any other exception is a bug
    /// and leaves io_context::run().
    bool spawn(boost::asio::awaitable<void> task) {
        Stop unused;
        return spawn(std::move(task), unused);
    }
    /// `stop` is set before the task can begin.
    bool spawn(boost::asio::awaitable<void> task, Stop& stop);

    void close() noexcept;
    bool closed() const noexcept;
    /// Implies close(). Takes effect in the event loop: at once when called from it.
    void cancel();
    std::size_t size() const noexcept;

    /// Returns when no task runs. One waiter or several.
    boost::asio::awaitable<void> wait();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace protocol
