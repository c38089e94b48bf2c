#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "protocol/links/cluster_status.hpp"
#include "protocol/links/link.hpp"
#include "protocol/links/link_context.hpp"
#include "protocol/links/publisher_end.hpp"
#include "protocol/links/redial.hpp"
#include "protocol/membership/membership.hpp"

namespace protocol {

/// Our link to whoever is at one place, over all its connections: dials when Redial says so, lets
/// PublisherEnd speak, and dials again when that ends. Must outlive run().
class PublisherLink final : private PublisherEnd::Owner {
public:
    struct Hooks {
        /// The place has answered. Which peer that is, or why there is to be no link.
        std::function<Result<std::size_t>(const std::string& node, const Instance& instance)> met;
        /// This node itself answers there.
        std::function<void()> met_self;
        /// The link is up, or no more.
        std::function<void(bool up)> changed;
        /// The peer has confirmed an invalidation, or it cannot as its link is gone.
        std::function<void()> confirmed;
    };

    /// `node`: whom we expect there; empty: whoever it is. `peer`: its number, if it has one yet.
    PublisherLink(LinkContext& context, std::uint64_t contact, PeerPlace place, std::string node,
                  std::optional<std::size_t> peer, Hooks hooks);

    /// Goes on until cancelled or retired. After the goodbye there is a link only while something
    /// that was invalidated since is not confirmed.
    awaitable<void> run();

    /// There is nothing more to be said to this place; run() ends soon, and calls no hook any more.
    void retire();
    /// Whether the place is to be dialled when there is no link.
    void set_dialled(bool dialled);
    /// Whom we expect there from now on; empty: whoever it is.
    void expect(const std::string& node) { node_ = node; }
    /// It is this peer that is reached here; nothing: nobody known, or a peer that is reached
    /// elsewhere. Not while up().
    void set_peer(std::optional<std::size_t> peer);
    std::optional<std::size_t> peer() const { return peer_; }

    void offer(const Announcement& announcement);
    void offer(const CheckHash& check);
    /// Something was added to the invalidations.
    void invalidated();
    /// There may be something to send.
    void wake();
    void say_goodbye();
    bool up() const { return end_ && end_->up(); }
    /// Since when; nothing while it is not.
    std::optional<Clock::time_point> up_since() const {
        return up() ? std::optional(up_since_) : std::nullopt;
    }
    /// Connected, and not through the hello.
    bool greeting() const { return end_ && !end_->up(); }

    /// The peer has proved to be alive, in this run of its. Dials at once instead of waiting;
    /// gives up a link to an earlier run.
    void heard_of(const Instance& instance);

    /// That run is the peer now: a link to another one ends.
    void give_up_other_run(const Instance& instance);

    /// Adds our side's numbers.
    void report(ClusterStatus::Peer& status) const;
    const LastEnd& last_end() const { return last_end_; }

private:
    // PublisherEnd::Owner
    Result<std::size_t> met(const std::string& node, const Instance& instance) override;
    void met_self() override;
    void up_now() override;
    void confirmed() override;

    awaitable<boost::system::error_code> dial_and_publish();
    awaitable<Result<boost::asio::ip::tcp::socket>> connect(DialPlaces::Place& place);
    awaitable<boost::system::error_code> publish(Link& link, DialPlaces::Place& place);
    void note_end(const boost::system::error_code& error, bool was_up);
    LinkLog::Expectation expectation(const boost::system::error_code& error) const;
    LinkCounters counters() const { return end_ ? end_->counters() : kept_.counters; }
    void judge_absence();
    bool pending() const;

    LinkContext& context_;
    std::uint64_t contact_;
    PeerPlace place_;
    std::string node_;  // expected
    std::optional<std::size_t> peer_;
    Hooks hooks_;
    std::string name_;  // "link to b", for logs
    Redial redial_;
    boost::asio::steady_timer pause_;
    bool retired_ = false;
    bool given_up_ = false;

    PublisherEnd::Kept kept_;
    // The present connection, if there is one.
    std::optional<PublisherEnd> end_;
    DialPlaces::Place* dial_place_ = nullptr;  // until the hello is over
    std::string remote_;
    Clock::time_point up_since_{};
    LastEnd last_end_;
};

}  // namespace protocol
