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

#include "protocol/membership/membership.hpp"
#include "protocol/net/deadline.hpp"
#include "protocol/net/dns_question.hpp"

namespace protocol {

/// A name is looked up again when its TTL is over, but not sooner and not later than this; where no
/// TTL is known (SRV, /etc/hosts) after kLookUnknown; when a link breaks at once. In units of the
/// least time between two look-ups (Timings::look_gap), a second.
inline constexpr int kLookSoonest = 2;
inline constexpr int kLookUnknown = 5;
inline constexpr int kLookLatest = 30;

/// Looks up, again and again, the names behind which there are peers. That no server answers, or
/// that it is in trouble, changes nothing of what was found; that there is no such name, or that it
/// has no address, means that there is nobody. One thread, that of the executor.
class PeerFinder {
public:
    using Found = std::function<void(const DnsPeers& name, std::span<const PeerPlace> places)>;

    /// `found`: after each answer; it may call anything but the destructor. What is wrong with a
    /// name is logged when it begins, and when it is over.
    PeerFinder(boost::asio::any_io_executor executor, DnsSettings dns, std::chrono::nanoseconds gap,
               Found found);
    ~PeerFinder() { stop(); }
    PeerFinder(const PeerFinder&) = delete;
    PeerFinder& operator=(const PeerFinder&) = delete;

    /// From now on these; new ones are looked up at once.
    void look_for(const std::vector<DnsPeers>& names);
    void look_now();
    void stop();

    struct Report {
        std::string name;
        std::size_t places = 0;          // of the last answer that told of any, or of none
        bool answered = false;           // the last question; false too before the first
        std::string trouble;             // why not
        std::chrono::nanoseconds age{};  // since the last answer
    };
    std::vector<Report> report() const;

private:
    struct Name {
        DnsPeers peers;
        Clock::time_point due, asked{}, answered{};
        std::unique_ptr<NameQuestion> links, https;  // under way
        NameAnswer link_answer, http_answer;         // of those that are over
        bool good = false, ever = false;
        bool again = false;  // something has happened since it was asked
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
    DnsSettings dns_;
    std::chrono::nanoseconds gap_;
    Found found_;
    boost::asio::steady_timer timer_;
    std::list<Name> names_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace protocol
