#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace base {

using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

/// The time before the next address is tried beside the last (RFC 8305 §5). It is shorter when many
/// addresses share little time, so that each gets its turn.
inline constexpr std::chrono::milliseconds kDialPace{250};
inline constexpr std::chrono::milliseconds kLeastDialPace{10};
/// Limit of sockets in one dialling. When another address is due, the oldest attempt makes room
/// after this many paces, the time to resend one lost packet.
inline constexpr std::size_t kMaxDialsAtOnce = 4;
inline constexpr int kPacesPerDial = 5;

/// Decides which address of one place to try next, and when. Function of (state, event, now).
class DialPlan {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// `addresses`: their number, best first.
    DialPlan(std::size_t addresses, Time now, Time deadline);

    struct Step {
        enum class What { start, give_up };
        What what;
        std::size_t which;  // index of the address
        bool operator==(const Step&) const = default;
    };
    /// Returns the next step; nullopt: wait until due() or failed().
    std::optional<Step> next(Time now);
    Time due() const;
    /// The attempt has failed, so the next address starts at once.
    void failed(std::size_t which);
    /// Every attempt has ended, and every address was tried.
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
    std::vector<Attempt> attempts_;  // in flight, the oldest first
};

/// Experience with the addresses of places. The address that connected last is tried first, those
/// that failed last. It fades after a while, so that the order of the name's answer counts again.
class AddressMemory {
public:
    using Time = DialPlan::Time;
    using Endpoint = Endpoints::value_type;

    static constexpr std::size_t kMaxPlaces = 1024;  // beyond it all are forgotten
    static constexpr std::size_t kMaxBad = 16;       // of one place
    static constexpr std::chrono::minutes kKept{10};

    /// Best first: the two address families alternate (RFC 8305 §4), then experience counts.
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

}  // namespace base
