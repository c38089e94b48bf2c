#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace protocol {

using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

/// So long one address has for itself before the next is tried beside it (RFC 8305 §5); less when
/// there is little time for many, so that each gets its turn.
inline constexpr std::chrono::milliseconds kDialPace{250};
inline constexpr std::chrono::milliseconds kLeastDialPace{10};
/// Sockets of one dialling. When one more address is due, the oldest attempt makes room, but not
/// before it has had this many paces: time for one lost packet to be sent again.
inline constexpr std::size_t kMaxDialsAtOnce = 4;
inline constexpr int kPacesPerDial = 5;

/// Which address of one place to try next, and when. Function of (state, event, now).
class DialPlan {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// So many addresses, best first.
    DialPlan(std::size_t addresses, Time now, Time deadline);

    struct Step {
        enum class What { start, give_up };
        What what;
        std::size_t which;  // index of the address
        bool operator==(const Step&) const = default;
    };
    /// What is to be done now; none: nothing before due(), unless an attempt fails.
    std::optional<Step> next(Time now);
    Time due() const;
    /// The attempt has failed: the next address need not wait.
    void failed(std::size_t which);
    /// Nothing is under way, and nothing is left to try.
    bool over() const { return attempts_.empty() && next_ == addresses_; }

private:
    struct Attempt {
        std::size_t which;
        Time since;
    };

    std::size_t addresses_;
    std::size_t next_ = 0;
    std::chrono::nanoseconds pace_;
    Time start_at_;
    std::vector<Attempt> attempts_;  // under way, the oldest in front
};

/// What connecting has shown about the addresses of places: what connected last is tried first,
/// what failed last. Forgotten after a while, so that the order of the name's answer counts again.
class AddressMemory {
public:
    using Time = DialPlan::Time;
    using Endpoint = Endpoints::value_type;

    static constexpr std::size_t kMaxPlaces = 1024;  // then they are all forgotten
    static constexpr std::size_t kMaxBad = 16;       // of one place
    static constexpr std::chrono::minutes kKept{10};

    /// Best first: the two families take turns (RFC 8305 §4), and then what is known counts.
    Endpoints order(const std::string& place, const Endpoints& addresses, Time now) const;
    void connected(const std::string& place, const Endpoint& address, Time now);
    void failed(const std::string& place, const Endpoint& address, Time now);

private:
    struct Place {
        std::optional<Endpoint> good;
        Endpoints bad;
        Time until;
    };
    Place& at(const std::string& place, Time now);

    std::unordered_map<std::string, Place> places_;
};

}  // namespace protocol
