#include "base/net/dialer.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/async/deadline.hpp"

namespace base {
namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using error_code = boost::system::error_code;

/// The attempts of one dialling. Their handlers share it with the coroutine, as they may run after
/// it has ended.
struct Race : std::enable_shared_from_this<Race> {
    Race(asio::any_io_executor on, Endpoints to, Clock::time_point now, Clock::time_point deadline)
        : executor(std::move(on)),
          addresses(std::move(to)),
          plan(addresses.size(), now, deadline),
          sockets(addresses.size()),
          wake(executor) {}

    asio::any_io_executor executor;
    const Endpoints addresses;  // best first
    DialPlan plan;
    std::vector<std::optional<tcp::socket>> sockets;  // of the attempts in flight
    std::optional<std::size_t> winner;
    std::vector<std::size_t> losers;  // failed by themselves
    error_code error;
    asio::steady_timer wake;

    void take(DialPlan::Step step) {
        if (step.what == DialPlan::Step::What::give_up) {
            sockets[step.which].reset();
            losers.push_back(step.which);
            return;
        }
        auto& socket = sockets[step.which].emplace(executor);
        socket.async_connect(addresses[step.which],
                             [self = shared_from_this(), which = step.which](error_code why) {
                                 self->ended(which, why);
                             });
    }

    void ended(std::size_t which, error_code why) {
        if (winner || !sockets[which]) return;  // the attempt was closed
        if (!why) {
            winner = which;
        } else {
            sockets[which].reset();
            plan.failed(which);
            if (error != asio::error::no_descriptors) error = why;
            if (why != asio::error::no_descriptors) losers.push_back(which);
        }
        wake.cancel();
    }

    /// Closes attempts that are still unanswered; their handlers find nothing.
    void close() {
        for (auto& socket : sockets) socket.reset();
    }
};

/// Ends all attempts at any end of the coroutine.
class Closer {
public:
    explicit Closer(Race& race) : race_(race) {}
    Closer(const Closer&) = delete;
    Closer& operator=(const Closer&) = delete;
    ~Closer() { race_.close(); }

private:
    Race& race_;
};

}  // namespace

awaitable<Result<tcp::socket>> Dialer::connect(std::string place, Endpoints addresses,
                                               Time deadline) {
    auto now = Clock::now();
    const auto race =
        std::make_shared<Race>(executor_, memory_.order(place, addresses, now), now, deadline);
    const Closer closer(*race);
    const auto has_choice = race->addresses.size() > 1;
    const auto note_losers = [&] {
        if (!has_choice) return;
        for (const auto which : race->losers)
            memory_.failed(place, race->addresses[which], Clock::now());
    };
    while (!race->winner) {
        now = Clock::now();
        if (now >= deadline) {
            for (std::size_t i = 0; i < race->sockets.size(); ++i)
                if (race->sockets[i]) race->losers.push_back(i);
            note_losers();
            co_return make_error_code(Error::connect_timeout);
        }
        while (const auto step = race->plan.next(now)) race->take(*step);
        if (race->plan.over()) {
            note_losers();
            co_return race->error;
        }
        race->wake.expires_at(std::min(deadline, race->plan.due()));
        co_await race->wake.async_wait(as_result);
        const auto state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none)
            co_return asio::error::make_error_code(asio::error::operation_aborted);
    }
    note_losers();
    if (has_choice) memory_.connected(place, race->addresses[*race->winner], Clock::now());
    co_return std::move(*race->sockets[*race->winner]);
}

void Dialer::distrust(const std::string& place, const AddressMemory::Endpoint& address) {
    memory_.failed(place, address, Clock::now());
}

}  // namespace base
