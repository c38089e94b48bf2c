#include "protocol/cluster.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "protocol/heartbeat.hpp"
#include "protocol/peer_finder.hpp"
#include "protocol/publisher_link.hpp"
#include "protocol/shared.hpp"
#include "protocol/subscriber_links.hpp"
#include "protocol/task_group.hpp"
#include "summary/false_hit_budget.hpp"
#include "summary/judge.hpp"

namespace protocol {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMaxFormerPeers = 1024;
/// Where nodes are found, one that has long been there may be met late, after this node's start.
constexpr std::size_t kKeptForNewcomers = 16'384;
constexpr std::size_t kMaxUnansweredShown = 16;

/// The configuration without the entry for this node itself, if it lists one. Throws
/// std::invalid_argument.
ClusterConfig checked(ClusterConfig config) {
    if (const auto bad = faults(config); !bad.empty())
        throw std::invalid_argument("cluster: " + std::string(bad.front().setting) + ' ' +
                                    bad.front().why);
    std::erase_if(config.peers, [&](const auto& peer) { return peer.node == config.node; });
    return config;
}

HashSecret choose_hash_secret(const ClusterConfig& config) {
    if (!config.keys.empty()) return hash_secret(config.keys.back());
    HashSecret secret;
    random_bytes(secret);
    return secret;
}

}  // namespace

class Cluster::Node : public std::enable_shared_from_this<Cluster::Node> {
public:
    Node(asio::io_context& control, ClusterConfig config, ClusterHooks hooks)
        : shared_(control.get_executor(), checked(std::move(config)), std::move(hooks)),
          hasher_(choose_hash_secret(shared_.config)),
          subscriptions_(shared_, {[this](const auto& node, const auto& instance,
                                          const auto& from) { return admit(node, instance, from); },
                                   [this](std::size_t peer, const Instance& instance) {
                                       heard_of(peer, instance);
                                   },
                                   [this](std::size_t peer) { left(peer); }}),
          finder_(shared_.executor, shared_.config.dns, shared_.config.timings.look_gap,
                  [this](const DnsPeers& name, std::span<const PeerPlace> places) {
                      shared_.membership.found(name, places, Clock::now());
                      follow_membership();
                  }),
          tasks_(shared_.executor),
          announce_timer_(shared_.executor) {}

    void start() {
        const auto listens = shared_.config.listen && !shared_.config.keys.empty();
        if (listens) subscriptions_.bind();
        configure();
        run(listens);
    }

    void start_in_place_of(Node& earlier) {
        const auto listens = earlier.subscriptions_.port() != 0;
        if (listens) subscriptions_.bind_in_place_of(earlier.subscriptions_);
        earlier.stop();
        shared_.self = earlier.shared_.self;
        shared_.publisher.take_over(earlier.shared_.publisher);
        former_ = earlier.former_;
        // With the peers of before first, then with those of now: so each keeps its number, and who
        // is none any more is remembered.
        shared_.membership.take_over(earlier.shared_.membership, Clock::now());
        follow_membership();
        shared_.invalidations.take_over(earlier.shared_.invalidations);
        for (std::size_t number = 0; number < known_.size(); ++number) {
            if (!known_[number].empty()) subscriptions_.take_over(earlier.subscriptions_, number);
        }
        for (auto& [contact, publication] : publications_) {
            const auto was = earlier.publications_.find(contact);
            if (was != earlier.publications_.end()) publication->take_over(*was->second);
        }
        configure();
        provided_for_ = earlier.provided_for_;
        provide_for_peers(true);
        for (auto& [contact, publication] : publications_) publication->invalidated();
        run(listens);
    }

    void set_peers(std::vector<PeerConfig> listed, std::vector<DnsPeers> names) {
        auto config = shared_.config;
        config.peers = std::move(listed);
        config.dns_peers = std::move(names);
        shared_.config = checked(std::move(config));
        configure();
        finder_.look_now();
        provide_for_peers();
    }

    void stop() {
        if (std::exchange(stopped_, true)) return;
        finder_.stop();
        subscriptions_.close();
        announce_timer_.cancel();
        wake_waiting();
        tasks_.cancel();
        shared_.hooks = {};
        shared_.plan_work = nullptr;
    }

    /// One slice at a time, each in a turn of its own, so that links and invalidations go on
    /// between them.
    void plan_work() {
        if (working_ || stopped_) return;
        if (!shared_.publisher.busy() && !shared_.neighbours.busy()) return;
        working_ = true;
        asio::post(shared_.executor, [self = weak_from_this()] {
            if (const auto node = self.lock()) node->work();
        });
    }

    void withdraw() {
        leaving_ = true;
        for (auto& [contact, publication] : publications_) publication->say_goodbye();
    }

    void stored(summary::KeyHash entry) {
        shared_.publisher.stored(entry, Clock::now());
        plan_announcement();
    }
    void removed(summary::KeyHash entry) {
        shared_.publisher.removed(entry, Clock::now());
        plan_announcement();
    }

    std::uint64_t invalidate(const Invalidation& what) {
        const auto number = shared_.invalidations.add(what.keys, what.tags);
        for (auto& [contact, publication] : publications_) publication->invalidated();
        shared_.show_view();
        return number;
    }

    std::vector<Confirmation> confirmations(std::uint64_t number) const {
        std::vector<Confirmation> result;
        for (std::size_t i = 0; i < known_.size(); ++i) {
            if (known_[i].empty()) continue;
            result.push_back({known_[i], shared_.invalidations.confirmed(i) >= number, up(i)});
        }
        return result;
    }

    std::uint64_t last_invalidation() const { return shared_.invalidations.last(); }

    bool confirmed(std::uint64_t number, Whom by) const {
        for (std::size_t i = 0; i < known_.size(); ++i) {
            if (known_[i].empty()) continue;
            const bool asked = by == Whom::all || up(i);
            if (asked && shared_.invalidations.confirmed(i) < number) return false;
        }
        return true;
    }

    bool withdrawn() const {
        return std::none_of(publications_.begin(), publications_.end(),
                            [](const auto& entry) { return entry.second->up(); });
    }

    /// Looks at `holds` again whenever a peer has confirmed something or a link to one has ended.
    static awaitable<void> wait_for(std::shared_ptr<Node> self, Clock::time_point deadline,
                                    std::function<bool()> holds) {
        asio::steady_timer timer(self->shared_.executor);
        const auto leave = [&](const void*) { std::erase(self->waiting_, &timer); };
        const std::unique_ptr<const void, decltype(leave)> at_end(&timer, leave);
        self->waiting_.push_back(&timer);
        while (!self->stopped_ && !holds() && Clock::now() < deadline) {
            timer.expires_at(deadline);
            co_await timer.async_wait(as_result);
        }
    }

    ClusterStatus status() const;
    std::uint16_t link_port() const { return subscriptions_.port(); }
    const summary::KeyHasher& hasher() const { return hasher_; }

private:
    using Contact = Membership::ContactId;

    void run(bool listens) {
        running_ = true;
        shared_.plan_work = [this] { plan_work(); };
        plan_work();  // what was taken over may go on
        if (listens) tasks_.spawn(subscriptions_.listen(tasks_, shared_from_this()));
        shared_.show_view();
        for (auto& [contact, publication] : publications_) {
            tasks_.spawn(publish(shared_from_this(), publication));
        }
        tasks_.spawn(tend(shared_from_this()));
    }

    void configure() {
        shared_.invalidations.keep_for_newcomers(
            shared_.config.dns_peers.empty() ? 0 : kKeptForNewcomers);
        shared_.membership.configure(shared_.config.peers, shared_.config.dns_peers, Clock::now());
        follow_membership();
        finder_.look_for(shared_.config.dns_peers);
    }

    void tell_who_finds_no_room() {
        const auto& now = shared_.membership.unplaced();
        if (now == unplaced_) return;
        for (const auto& node : now) {
            if (std::find(unplaced_.begin(), unplaced_.end(), node) != unplaced_.end()) continue;
            spdlog::warn(
                "node {}: peer {} is listed, but there is no room for it beside those that were "
                "found (cluster.max_peers is {})",
                shared_.config.node, node, shared_.config.max_peers);
        }
        unplaced_ = now;
    }

    /// Makes everything as the membership has it: peers that have come or gone, places to be
    /// dialled or to be left alone.
    void follow_membership() {
        if (stopped_) return;
        tell_who_finds_no_room();
        if (std::exchange(followed_, shared_.membership.changes()) == shared_.membership.changes())
            return;
        const auto& peers = shared_.membership.peers();
        if (known_.size() < peers.size()) known_.resize(peers.size());
        for (std::size_t number = 0; number < peers.size(); ++number) {
            const auto& peer = peers[number];
            if (known_[number] != peer.node) {
                if (!known_[number].empty()) remove_peer(number);
                known_[number] = peer.node;
                if (!peer.node.empty()) add_peer(number);
            }
            if (!peer.node.empty()) shared_.neighbours.place(number, peer.place.http());
        }
        shared_.beat_interval =
            beat_interval(shared_.config.timings.heartbeat, shared_.membership.size());
        const auto& contacts = shared_.membership.contacts();
        std::erase_if(publications_, [&](const auto& entry) {
            if (contacts.contains(entry.first)) return false;
            retire(*entry.second);
            return true;
        });
        for (const auto& [id, contact] : contacts) {
            auto& publication = publications_[id];
            if (!publication) {
                publication = make_publication(id, contact);
                if (leaving_) publication->say_goodbye();
                if (running_) tasks_.spawn(publish(shared_from_this(), publication));
            }
            const bool is_its_place = contact.peer && peers[*contact.peer].contact == id;
            if (!publication->up())
                publication->set_peer(is_its_place ? contact.peer : std::nullopt);
            publication->expect(contact.node);
            publication->set_dialled(contact.dialled);
        }
        if (running_) shared_.show_view_soon();
    }

    std::shared_ptr<PublisherLink> make_publication(Contact id, const Membership::Contact& from) {
        return std::make_shared<PublisherLink>(
            shared_, id, from.place, from.node, from.peer,
            PublisherLink::Hooks{[this, id](const std::string& node, const Instance& instance) {
                                     return met(id, node, instance);
                                 },
                                 [this, id] {
                                     shared_.membership.met_self(id, Clock::now());
                                     follow_membership();
                                 },
                                 [this, id](bool up) { reached(id, up); },
                                 [this] { wake_waiting(); }});
    }

    void retire(PublisherLink& publication) {
        // A peer that is reached elsewhere now keeps what was counted on the way to it.
        const auto peer = publication.peer();
        const bool stays = peer && !known_[*peer].empty() &&
                           known_[*peer] == shared_.membership.peers()[*peer].node;
        publication.report(stays ? earlier_ways_[*peer] : gone_);
        publication.retire();
    }

    void add_peer(std::size_t number) {
        const auto& node = known_[number];
        shared_.neighbours.add_peer(number, node);
        shared_.pulse(number) = {};
        subscriptions_.add_peer(number);
        shared_.invalidations.add_peer(number);
        // Who comes back is to drop what was invalidated meanwhile.
        if (const auto was = former_.extract(node); !was.empty())
            shared_.invalidations.came_back(number, was.mapped());
        if (running_) shared_.log.joined(node);
    }

    void remove_peer(std::size_t number) {
        const auto& node = known_[number];
        subscriptions_.report(number, gone_);
        if (const auto ways = earlier_ways_.extract(number); !ways.empty())
            add(gone_, ways.mapped());
        ++peers_gone_;
        former_[node] = shared_.invalidations.confirmed(number);
        while (former_.size() > kMaxFormerPeers) {
            // Who comes back unknown is told all, or to drop everything.
            former_.erase(std::min_element(
                former_.begin(), former_.end(),
                [](const auto& one, const auto& other) { return one.second < other.second; }));
        }
        subscriptions_.remove_peer(number);
        shared_.neighbours.remove_peer(number);
        shared_.invalidations.remove_peer(number);
        wake_waiting();  // for its confirmation
        if (running_) shared_.log.left(node);
    }

    PublisherLink* publication_to(std::size_t number) const {
        const auto& contact = shared_.membership.peers()[number].contact;
        if (!contact) return nullptr;
        const auto found = publications_.find(*contact);
        return found == publications_.end() ? nullptr : found->second.get();
    }

    bool up(std::size_t number) const {
        const auto* publication = publication_to(number);
        return publication != nullptr && publication->up();
    }

    Result<std::size_t> met(Contact id, const std::string& node, const Instance& instance) {
        using Meeting = Membership::Meeting;
        if (stopped_) return make_error_code(Error::no_peer_any_more);
        const auto met = shared_.membership.met(id, node, instance, Clock::now());
        follow_membership();
        switch (met.meeting) {
            case Meeting::peer:
                return met.number;
            case Meeting::elsewhere:
                return make_error_code(Error::reached_elsewhere);
            case Meeting::duplicate:
                return make_error_code(Error::duplicate_id);
            case Meeting::full:
                return make_error_code(Error::too_many_peers);
            case Meeting::forgotten:
                break;
        }
        return make_error_code(Error::no_peer_any_more);
    }

    void reached(Contact id, bool is_up) {
        if (stopped_) return;
        if (is_up) return shared_.membership.up(id);
        shared_.membership.down(id, Clock::now());
        finder_.look_now();
        follow_membership();
    }

    std::optional<std::size_t> admit(const std::string& node, const Instance& instance,
                                     const asio::ip::address& from) {
        if (stopped_) return std::nullopt;
        auto& membership = shared_.membership;
        const bool is_new = !membership.number_of(node);
        const auto number = membership.came(node, instance, from.to_string(), Clock::now());
        follow_membership();
        if (is_new) finder_.look_now();  // where it is, more surely than from its connection
        return number;
    }

    void heard_of(std::size_t number, const Instance& instance) {
        shared_.membership.heard(number);
        if (auto* publication = publication_to(number)) publication->heard_of(instance);
    }

    void left(std::size_t number) {
        shared_.membership.unheard(number, Clock::now());
        finder_.look_now();
    }

    static awaitable<void> publish(std::shared_ptr<Node> self,
                                   std::shared_ptr<PublisherLink> publication) {
        co_await publication->run();
        static_cast<void>(self);
    }

    void wake_waiting() {
        for (auto* timer : waiting_) timer->cancel();
    }

    /// Now and then: offers check-hashes that fall due while nothing changes, and forgets who is
    /// gone.
    static awaitable<void> tend(std::shared_ptr<Node> self) {
        auto& shared = self->shared_;
        asio::steady_timer timer(shared.executor);
        for (;;) {
            timer.expires_after(shared.config.timings.heartbeat);
            const auto [error] = co_await timer.async_wait(as_result);
            if (error) co_return;
            shared.membership.tidy(Clock::now());
            self->follow_membership();
            self->provide_for_peers();
            self->plan_work();
            self->plan_announcement();
            const auto due = shared.publisher.check(Clock::now());
            if (!due) continue;
            for (auto& [contact, publication] : self->publications_) publication->offer(*due);
        }
    }

    /// The more peers there are, the fewer false hits each may cost.
    void provide_for_peers(bool anew = false) {
        const auto& config = shared_.config;
        const bool open = !config.dns_peers.empty();
        const auto peers = peers_provided_for(
            open, open ? shared_.membership.size() : config.peers.size(), provided_for_);
        if (std::exchange(provided_for_, peers) == peers && !anew) return;
        shared_.publisher.set_error(summary::error_per_summary(config.false_hit_budget, peers));
        plan_work();
    }

    void work() {
        working_ = false;
        if (stopped_) return;
        try {
            const bool made_image = shared_.publisher.makes_image();
            const auto news = shared_.publisher.work();
            const bool image_is_there = made_image && !shared_.publisher.makes_image();
            for (auto& [contact, publication] : publications_) {
                if (news) publication->offer(*news);
                if (image_is_there) publication->wake();
            }
            shared_.neighbours.work();
        } catch (const std::bad_alloc&) {
            return out_of_memory("work on summaries");
        }
        shared_.show_view();
        plan_work();
    }

    /// Whoever missed something by it sees a gap, and asks for a snapshot.
    void out_of_memory(std::string_view what) {
        shared_.log.ended(what, make_error_code(Error::out_of_memory),
                          "goes on at the next heartbeat", Clock::now());
    }

    /// What arrives in one turn of the event loop goes out together.
    void plan_announcement() {
        if (posted_ || stopped_) return;
        const auto due = shared_.publisher.announce_due();
        if (!due) return;
        if (*due <= Clock::now()) {
            posted_ = true;
            asio::post(shared_.executor, [self = weak_from_this()] {
                if (const auto node = self.lock()) node->announce();
            });
        } else if (!std::exchange(timer_runs_, true)) {
            announce_timer_.expires_at(*due);
            announce_timer_.async_wait([self = weak_from_this()](const auto& error) {
                const auto node = self.lock();
                if (!node) return;
                node->timer_runs_ = false;
                if (!error) node->plan_announcement();
            });
        }
    }

    void announce() {
        posted_ = false;
        if (stopped_) return;
        try {
            const auto announcement = shared_.publisher.announce(Clock::now());
            if (announcement)
                for (auto& [contact, publication] : publications_)
                    publication->offer(*announcement);
        } catch (const std::bad_alloc&) {
            return out_of_memory("announcement of changes");
        }
        plan_work();
        plan_announcement();
    }

    Shared shared_;
    summary::KeyHasher hasher_;
    std::vector<std::string> known_;     // peers that everything else knows of, by number
    std::vector<std::string> unplaced_;  // listed ones without room that the log was told of
    std::map<Contact, std::shared_ptr<PublisherLink>> publications_;
    SubscriberLinks subscriptions_;
    PeerFinder finder_;
    std::map<std::string, std::uint64_t> former_;  // what those have confirmed that were peers once
    ClusterStatus::Peer gone_;                     // what those counted
    std::map<std::size_t, ClusterStatus::Peer> earlier_ways_;  // to peers, where they are no more
    std::uint64_t peers_gone_ = 0;
    std::uint64_t followed_ = 0;    // changes of the membership
    std::size_t provided_for_ = 0;  // peers, by the size of the summary
    TaskGroup tasks_;
    asio::steady_timer announce_timer_;
    std::vector<asio::steady_timer*> waiting_;  // in wait_for()
    bool timer_runs_ = false;
    bool posted_ = false;
    bool working_ = false;  // a slice is posted
    bool running_ = false;
    bool leaving_ = false;
    bool stopped_ = false;
};

ClusterStatus Cluster::Node::status() const {
    ClusterStatus status;
    status.gone = gone_;
    status.peers_gone = peers_gone_;
    const auto count = [&](const LinkCounters& more) {
        add<LinkCounters>(status, more, kLinkCounters);
    };
    count(gone_);
    const auto& log = shared_.invalidations;
    for (std::size_t i = 0; i < known_.size(); ++i) {
        if (known_[i].empty()) continue;
        auto& peer = status.peers.emplace_back();
        peer.node = known_[i];
        if (const auto ways = earlier_ways_.find(i); ways != earlier_ways_.end())
            add(peer, ways->second);
        if (const auto* publication = publication_to(i)) publication->report(peer);
        subscriptions_.report(i, peer);
        peer.invalidations_sent = log.sent(i);
        peer.invalidations_confirmed = log.confirmed(i);
        peer.invalidations_pending = log.pending(i);
        count(peer);
    }
    for (const auto& [id, contact] : shared_.membership.contacts()) {
        const auto& publication = *publications_.at(id);
        if (!contact.peer || publication_to(*contact.peer) != &publication) {
            ClusterStatus::Peer
                no_more;  // what went there when somebody was, or before anybody was
            publication.report(no_more);
            count(no_more);
        }
        if (contact.peer || !contact.dialled || status.unanswered.size() >= kMaxUnansweredShown)
            continue;
        const auto& error = publication.last_error();
        status.unanswered.push_back(contact.place.link().text() +
                                    (error.empty() ? "" : " (" + error + ')'));
    }
    status.unplaced = shared_.membership.unplaced();
    status.names = finder_.report();
    status.refusals = shared_.log.counts();
    const auto& own = shared_.publisher.own();
    status.own.epoch = own.epoch();
    status.own.generation = own.generation();
    status.own.objects = own.objects();
    const auto summary = describe(own.descriptor());
    status.own.kind = summary.kind;
    status.own.bits = summary.bits;
    status.own.hashes = summary.hashes;
    status.own.fill = own.fill();
    status.own.expected_false_hit = own.expected_false_hit();
    return status;
}

Cluster::Cluster(asio::io_context& control, ClusterConfig config, ClusterHooks hooks)
    : node_(std::make_shared<Node>(control, std::move(config), std::move(hooks))) {}

Cluster::~Cluster() {
    stop();
}

void Cluster::start() {
    node_->start();
}
void Cluster::start_in_place_of(Cluster& earlier) {
    node_->start_in_place_of(*earlier.node_);
}
void Cluster::set_peers(std::vector<PeerConfig> listed, std::vector<DnsPeers> names) {
    node_->set_peers(std::move(listed), std::move(names));
}
std::uint16_t Cluster::link_port() const {
    return node_->link_port();
}
summary::KeyHasher Cluster::key_hasher() const {
    return node_->hasher();
}
void Cluster::stored(summary::KeyHash entry) {
    node_->stored(entry);
}
void Cluster::removed(summary::KeyHash entry) {
    node_->removed(entry);
}
std::uint64_t Cluster::invalidate(const Invalidation& what) {
    return node_->invalidate(what);
}
std::uint64_t Cluster::last_invalidation() const {
    return node_->last_invalidation();
}
std::vector<Cluster::Confirmation> Cluster::confirmations(std::uint64_t number) const {
    return node_->confirmations(number);
}
awaitable<void> Cluster::wait_confirmed(std::uint64_t number, Clock::time_point deadline,
                                        Whom whom) {
    return Node::wait_for(node_, deadline,
                          [&node = *node_, number, whom] { return node.confirmed(number, whom); });
}
void Cluster::withdraw() {
    node_->withdraw();
}
awaitable<void> Cluster::wait_withdrawn(Clock::time_point deadline) {
    return Node::wait_for(node_, deadline, [&node = *node_] { return node.withdrawn(); });
}
void Cluster::stop() {
    node_->stop();
}
ClusterStatus Cluster::status() const {
    return node_->status();
}

}  // namespace protocol
