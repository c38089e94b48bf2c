#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/net/deadline.hpp"

namespace protocol {

inline constexpr std::size_t kFirstDialPlaces = 8;
inline constexpr std::size_t kMinDialPlaces = 2;
inline constexpr std::size_t kMaxDialPlaces = 32;

/// How many peers a node dials at a time. Where many nodes start together each has all the others
/// to greet; all at once nobody would be through in time, and all that work be done again and
/// again. So few at a time; fewer when a hello was late, more while they are not. Who waits comes
/// in no order, so that not all nodes begin with the same one. One thread; outlives its places.
class DialPlaces {
public:
    /// Given back at its end at the latest.
    class Place {
    public:
        Place() = default;
        bool held() const;
        void give_back();
        /// When the timer, which nobody else waits for, expires.
        void give_back_at(boost::asio::steady_timer& timer);

    private:
        friend class DialPlaces;
        struct Held;
        std::shared_ptr<Held> held_;
    };

    explicit DialPlaces(boost::asio::any_io_executor executor);

    /// Waits for one; not held if the caller was cancelled.
    awaitable<Place> take();

    void hello_succeeded();
    void hello_was_late();

    std::size_t limit() const { return limit_; }
    std::size_t taken() const { return taken_; }

private:
    void give_back();
    void wake();

    boost::asio::any_io_executor executor_;
    std::size_t limit_ = kFirstDialPlaces;
    std::size_t taken_ = 0;
    std::size_t in_time_ = 0;  // hellos since the limit changed
    std::vector<boost::asio::steady_timer*> waiting_;
    std::uint64_t random_;
};

}  // namespace protocol
