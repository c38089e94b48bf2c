#pragma once

#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/error.hpp"
#include "protocol/links/cluster_status.hpp"
#include "protocol/links/link.hpp"
#include "protocol/links/link_security.hpp"
#include "protocol/links/peering_services.hpp"
#include "protocol/links/publisher_end.hpp"
#include "protocol/links/redial.hpp"
#include "protocol/membership/membership.hpp"

namespace protocol {

/// Dials one place, and keeps a link to the node there over all its connections. It dials at the
/// times that Redial gives, lets a PublisherEnd run, and dials again when that ends. One thread,
/// that of the executor of PeeringServices.
class PeerDialer final : private PublisherEnd::Owner {
public:
    /// Decides about the node at a place.
    class Owner {
    public:
        /// A node has answered at the place. Returns its peer number, or an error if the link is
        /// unwanted.
        virtual base::Result<std::size_t> met(Membership::ContactId at, const std::string& node,
                                              const Instance& instance) = 0;
        /// This node itself has answered there.
        virtual void met_self(Membership::ContactId at) = 0;
        /// The link has come up, or has ended.
        virtual void reached(Membership::ContactId at, bool is_up) = 0;

    protected:
        ~Owner() = default;
    };

    /// `node`: the expected node; empty: any. `peer`: its number, if it has one yet. `owner`
    /// outlives run().
    PeerDialer(PeeringServices& peering, Owner& owner, Membership::ContactId contact,
               PeerPlace place, std::string node, std::optional<std::size_t> peer);

    /// Runs until cancelled or retired, and keeps `self` alive. After the goodbye it makes a link
    /// only while newer invalidations are unconfirmed.
    base::awaitable<void> run(std::shared_ptr<PeerDialer> self);

    /// Gives up this place. run() ends soon, and calls the owner no more.
    void retire();
    /// Whether the place is dialled while the link is down.
    void set_dialled(bool dialled);
    /// The expected node from now on; empty: any.
    void expect(const std::string& node) { node_ = node; }
    /// The peer at this place; empty: an unknown node, or a peer reached at another place. Called
    /// while the link is down.
    void set_peer(std::optional<std::size_t> peer) { kept_.peer = peer; }
    std::optional<std::size_t> peer() const { return kept_.peer; }

    /// Sends new invalidations, or judges the peer as absent.
    void invalidated();
    void say_goodbye();
    bool up() const { return end_ && end_->up(); }
    /// Time when the link came up; empty while it is down.
    std::optional<base::Clock::time_point> up_since() const {
        return up() ? std::optional(end_->up_since()) : std::nullopt;
    }
    /// Connected, and during the hello.
    bool greeting() const { return end_ && !end_->up(); }

    /// The peer is alive in this instance: dials at once, and gives up a link to an earlier
    /// instance.
    void heard_of(const Instance& instance);

    /// Ends a link to any other instance of the peer than this one.
    void give_up_other_instance(const Instance& instance);

    /// Adds the counters of this side.
    void add_to(ClusterStatus::Peer& status) const;
    const LastEnd& last_end() const { return last_end_; }

private:
    // PublisherEnd::Owner
    base::Result<std::size_t> met(const std::string& node, const Instance& instance) override;
    void met_self() override;
    void up_now() override;
    void confirmed() override;

    base::awaitable<boost::system::error_code> dial_and_publish();
    base::awaitable<base::Result<boost::asio::ip::tcp::socket>> connect(
        DialPermits::Permit& permit);
    base::awaitable<boost::system::error_code> publish(Link& link, DialPermits::Permit& permit);
    /// `where`: the peer's address, or else the place.
    void note_end(const boost::system::error_code& error, bool was_up, std::string_view where);
    LinkLog::Expectation expectation(const boost::system::error_code& error) const;
    LinkCounters counters() const { return end_ ? end_->counters() : kept_.counters; }
    void judge_absence();
    bool pending() const;
    bool retired() const { return owner_ == nullptr; }

    PeeringServices& peering_;
    Owner* owner_;  // null: the place is given up
    Membership::ContactId contact_;
    PeerPlace place_;
    std::string node_;  // expected
    std::string name_;  // "link to b", for logs
    Redial redial_;
    DialSecurity security_;
    boost::asio::steady_timer pause_;
    bool was_silent_ = false;  // during the whole last hello
    bool given_up_ = false;    // another instance takes the peer

    PublisherEnd::SessionState kept_;
    // The present connection, if there is one.
    std::optional<PublisherEnd> end_;
    DialPermits::Permit* dial_permit_ = nullptr;  // during the hello
    LastEnd last_end_;
};

}  // namespace protocol
