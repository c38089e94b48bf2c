#include "protocol/task_group.hpp"

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

#include "protocol/deadline.hpp"

namespace protocol {

struct TaskGroup::State {
    explicit State(const boost::asio::any_io_executor& executor)
        : empty(executor, boost::asio::steady_timer::time_point::max()) {}

    std::list<boost::asio::cancellation_signal> running;
    boost::asio::steady_timer empty;  // cancelled when the last task ends
    bool closed = false;
};

namespace {

void rethrow_unless_cancelled(const std::exception_ptr& exception) {
    if (!exception) return;
    try {
        std::rethrow_exception(exception);
    } catch (const boost::system::system_error& error) {
        if (error.code() != boost::asio::error::operation_aborted) throw;
    }
}

}  // namespace

TaskGroup::TaskGroup(boost::asio::any_io_executor executor)
    : state_(std::make_shared<State>(executor)) {}

bool TaskGroup::spawn(boost::asio::awaitable<void> task) {
    if (state_->closed) return false;
    auto& running = state_->running;
    const auto self = running.emplace(running.end());
    auto ended = [state = state_, self](const std::exception_ptr& exception) {
        state->running.erase(self);
        if (state->running.empty()) state->empty.cancel();
        rethrow_unless_cancelled(exception);
    };
    boost::asio::co_spawn(state_->empty.get_executor(), std::move(task),
                          boost::asio::bind_cancellation_slot(self->slot(), std::move(ended)));
    return true;
}

void TaskGroup::close() noexcept {
    state_->closed = true;
}
bool TaskGroup::closed() const noexcept {
    return state_->closed;
}
std::size_t TaskGroup::size() const noexcept {
    return state_->running.size();
}

void TaskGroup::cancel() {
    close();
    // co_spawn passes a signal on through dispatch() with a bare pointer into the signal. Emitted
    // on the event loop that runs at once; from outside it would run when the task may have ended.
    auto emit = [state = state_] {
        for (auto task = state->running.begin(); task != state->running.end();) {
            const auto current = task++;  // emitting may end the task
            current->emit(boost::asio::cancellation_type::terminal);
        }
    };
    boost::asio::dispatch(state_->empty.get_executor(), std::move(emit));
}

boost::asio::awaitable<void> TaskGroup::wait() {
    const auto state = state_;
    while (!state->running.empty()) {
        const auto [error] = co_await state->empty.async_wait(as_result);
        static_cast<void>(error);  // cancelled: look again
    }
}

}  // namespace protocol
