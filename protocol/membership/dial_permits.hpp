#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/async/deadline.hpp"

namespace protocol {

inline constexpr std::size_t kFirstDialPermits = 8;
inline constexpr std::size_t kMinDialPermits = 2;
inline constexpr std::size_t kMaxDialPermits = 32;

/// Limits how many peers a node dials at a time. When many nodes start together, each has to greet
/// all others. If all hellos ran at once, they would exceed their deadlines and be repeated. The
/// limit falls when a hello was late, and rises while hellos are in time. Waiting callers get
/// permits in random order, so that nodes begin with different peers. One thread; outlives its
/// permits.
class DialPermits {
public:
    /// A permit of a caller, given back at its end at the latest.
    class Permit {
    public:
        Permit() = default;
        bool held() const;
        void give_back();
        /// Gives the permit back when the timer expires. The timer has no other waiter.
        void give_back_at(boost::asio::steady_timer& timer);

    private:
        friend class DialPermits;
        struct Held;
        std::shared_ptr<Held> held_;
    };

    explicit DialPermits(boost::asio::any_io_executor executor);

    /// Waits for a permit. Returns one that is not held when the caller was cancelled.
    base::awaitable<Permit> take();

    void hello_succeeded();
    void hello_was_late();

    std::size_t limit() const { return limit_; }
    std::size_t taken() const { return taken_; }

private:
    void give_back();
    void wake();

    boost::asio::any_io_executor executor_;
    std::size_t limit_ = kFirstDialPermits;
    std::size_t taken_ = 0;
    std::size_t in_time_ = 0;  // hellos since the limit changed
    std::vector<boost::asio::steady_timer*> waiting_;
    std::uint64_t random_;
};

}  // namespace protocol
