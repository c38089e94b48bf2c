#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/async/deadline.hpp"
#include "base/net/dns_question.hpp"
#include "protocol/membership/membership.hpp"

namespace protocol {

/// The time of the next look-up, in units of Timings::look_gap (1 s), the least time between two
/// look-ups. It is the TTL within these bounds, kLookUnknown without a TTL (SRV, /etc/hosts), and
/// at once when a link breaks.
inline constexpr int kLookSoonest = 2;
inline constexpr int kLookUnknown = 5;
inline constexpr int kLookLatest = 30;

/// Looks up the names of peers periodically. Silence or trouble of the servers leaves the found
/// places unchanged. A name that does not exist, or that has no address, has no peers. One thread,
/// that of the executor.
class PeerFinder {
public:
    using Found = std::function<void(const DnsPeers& name, std::span<const PeerPlace> places)>;

    /// `found` is called after each answer, and may call anything but the destructor. Trouble with
    /// a name is logged at its start and at its end.
    PeerFinder(boost::asio::any_io_executor executor, base::DnsSettings dns,
               std::chrono::nanoseconds gap, Found found);
    ~PeerFinder() { stop(); }
    PeerFinder(const PeerFinder&) = delete;
    PeerFinder& operator=(const PeerFinder&) = delete;

    /// Replaces the names; new names are looked up at once.
    void look_for(const std::vector<DnsPeers>& names);
    void look_now();
    void stop();

    struct Report {
        std::string name;
        std::size_t places = 0;          // in the last good answer, which may be empty
        bool answered = false;           // the last look-up; false before the first
        std::string trouble;             // its reason
        std::chrono::nanoseconds age{};  // since the last answer
    };
    std::vector<Report> report() const;

private:
    struct Name {
        DnsPeers peers;
        base::Clock::time_point due, asked{}, answered{};
        std::unique_ptr<base::NameQuestion> links, https;  // look-ups in flight
        base::NameAnswer link_answer, http_answer;         // of the finished look-ups
        bool good = false, ever = false;
        bool again = false;  // an event came during the look-up
        std::string trouble = "not asked yet", logged;
        std::size_t places = 0;
    };

    void turn();
    void ask(Name& name);
    void finish(Name& name);
    static void log(Name& name);
    std::vector<PeerPlace> places_of(const Name& name) const;
    void wait();

    boost::asio::any_io_executor executor_;
    base::DnsSettings dns_;
    std::chrono::nanoseconds gap_;
    Found found_;
    boost::asio::steady_timer timer_;
    std::list<Name> names_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace protocol
