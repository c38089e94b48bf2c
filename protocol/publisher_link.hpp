#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "protocol/backoff.hpp"
#include "protocol/cluster_status.hpp"
#include "protocol/link.hpp"
#include "protocol/outbox.hpp"
#include "protocol/shared.hpp"

namespace protocol {

/// Our link to one peer, over all its connections: dials, says hello, publishes, and dials again
/// when that ends. Must outlive run().
class PublisherLink {
public:
    /// `on_confirmed`: the peer has confirmed an invalidation, or it cannot as its link is gone.
    PublisherLink(Shared& shared, std::size_t peer, std::function<void()> on_confirmed);

    /// Before run(): the run of the peer that `earlier` knew is not a new one.
    void take_over(const PublisherLink& earlier) { instance_ = earlier.instance_; }

    /// Goes on until cancelled. After the goodbye there is a link only while something that was
    /// invalidated since is not confirmed.
    awaitable<void> run();

    void offer(const Announcement& announcement);
    void offer(const CheckHash& check);
    /// Something was added to the invalidations.
    void invalidated();
    /// There may be something to send.
    void wake() {
        if (link_ != nullptr) link_->wake();
    }
    void say_goodbye();
    bool up() const { return outbox_.has_value(); }

    /// The peer has proved to be alive, in this run of its. Dials at once instead of waiting;
    /// gives up a link to an earlier run.
    void heard_of(const Instance& instance);

    /// Adds our side's numbers.
    void report(ClusterStatus::Peer& status) const;
    std::uint64_t announcement_bytes() const;

private:
    class End;

    awaitable<boost::system::error_code> dial_and_publish();
    awaitable<Result<boost::asio::ip::tcp::socket>> connect();
    awaitable<Result<Instance>> say_hello(Link& link);
    awaitable<boost::system::error_code> publish(Link& link);
    void note_end(const boost::system::error_code& error);
    Outbox::Counters counters() const;
    Result<void> confirmed(std::uint64_t last);
    void judge_standing();

    Shared& shared_;
    std::size_t peer_;
    std::function<void()> on_confirmed_;
    std::string name_;  // "link to b", for logs
    Backoff backoff_;
    boost::asio::steady_timer pause_;
    bool dial_at_once_ = false;
    bool leaving_ = false;

    // The present connection, if there is one.
    Link* link_ = nullptr;
    std::optional<Outbox> outbox_;    // once the hello is over
    Instance instance_{};             // of the peer, once it is known
    std::uint64_t behind_until_ = 0;  // it must confirm this before its copies count
    std::string remote_;

    Traffic traffic_;
    Outbox::Counters earlier_;  // of connections that have ended
    std::uint64_t connects_ = 0;
    std::string last_error_;
};

}  // namespace protocol
