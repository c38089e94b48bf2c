#include "base/async/task_group.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <list>
#include <utility>

#include "base/async/deadline.hpp"

namespace base {

struct TaskGroup::Task {
    void cancel() {
        if (begun) signal.emit(boost::asio::cancellation_type::terminal);
    }

    boost::asio::cancellation_signal signal;
    bool begun = false;
};

/// Keeps no part of the io_context, and so may outlive it.
struct TaskGroup::State {
    explicit State(boost::asio::any_io_executor on) : executor(std::move(on)) {}

    static boost::asio::awaitable<void> to_its_end(std::shared_ptr<State> state, Task& self,
                                                   boost::asio::awaitable<void> task);

    boost::asio::any_io_executor executor;
    std::list<Task> running;
    std::list<boost::asio::steady_timer*> waiting;  // cancelled when the last task ends
    bool closed = false;
    bool cancelled = false;
};

namespace {

/// An entry in the list of waiters, during its lifetime.
class Waiting {
public:
    Waiting(std::list<boost::asio::steady_timer*>& list, boost::asio::steady_timer& timer)
        : list_(list), place_(list.insert(list.end(), &timer)) {}
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { list_.erase(place_); }

private:
    std::list<boost::asio::steady_timer*>& list_;
    std::list<boost::asio::steady_timer*>::iterator place_;
};

void rethrow_unless_cancelled(const std::exception_ptr& exception) {
    if (!exception) return;
    try {
        std::rethrow_exception(exception);
    } catch (const boost::system::system_error& error) {
        if (error.code() != boost::asio::error::operation_aborted) throw;
    }
}

}  // namespace

/// Asio lets a cancelled coroutine throw at two places outside any handler: before it has begun,
/// and at its end, where Asio waits once more. Hence a task that has yet to begin gets no signal
/// and checks for itself, and a task ends with its exception.
boost::asio::awaitable<void> TaskGroup::State::to_its_end(std::shared_ptr<State> state, Task& self,
                                                          boost::asio::awaitable<void> task) {
    self.begun = true;
    if (state->cancelled) co_return;
    std::exception_ptr exception;
    try {
        co_await std::move(task);
    } catch (...) {
        exception = std::current_exception();
    }
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    if (exception) std::rethrow_exception(exception);
}

TaskGroup::TaskGroup(boost::asio::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

void TaskGroup::Stop::operator()() {
    task_->cancel();
}

bool TaskGroup::spawn(boost::asio::awaitable<void> task, Stop& stop) {
    if (state_->closed) return false;
    auto& running = state_->running;
    const auto self = running.emplace(running.end());
    stop.task_ = &*self;
    auto ended = [state = state_, self](const std::exception_ptr& exception) {
        state->running.erase(self);
        if (state->running.empty()) {
            for (auto* const timer : state->waiting) timer->cancel();
        }
        rethrow_unless_cancelled(exception);
    };
    boost::asio::co_spawn(
        state_->executor, State::to_its_end(state_, *self, std::move(task)),
        boost::asio::bind_cancellation_slot(self->signal.slot(), std::move(ended)));
    return true;
}

void TaskGroup::close() noexcept {
    state_->closed = true;
}
std::size_t TaskGroup::size() const noexcept {
    return state_->running.size();
}

void TaskGroup::cancel() {
    close();
    // co_spawn passes a signal on through dispatch(), with a bare pointer into the signal. Emitted
    // on the event loop, the handler runs at once; emitted elsewhere, it would run after the end of
    // the task.
    auto emit = [state = state_] {
        state->cancelled = true;
        for (auto task = state->running.begin(); task != state->running.end();) {
            const auto current = task++;  // emitting may end the task
            current->cancel();
        }
    };
    boost::asio::dispatch(state_->executor, std::move(emit));
}

boost::asio::awaitable<void> TaskGroup::wait() {
    const auto state = state_;
    boost::asio::steady_timer emptied(state->executor,
                                      boost::asio::steady_timer::time_point::max());
    const Waiting waiting(state->waiting, emptied);
    while (!state->running.empty()) {
        const auto [error] = co_await emptied.async_wait(as_result);
        static_cast<void>(error);  // cancelled: look again
    }
}

}  // namespace base
