#include "protocol/cluster.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "protocol/publisher_link.hpp"
#include "protocol/shared.hpp"
#include "protocol/subscriber_links.hpp"
#include "protocol/task_group.hpp"

namespace protocol {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMaxFormerPeers = 256;

void require(bool holds, const std::string& otherwise) {
    if (!holds) throw std::invalid_argument("cluster: " + otherwise);
}

void check_timings(const Timings& timings) {
    const auto zero = std::chrono::nanoseconds(0);
    require(timings.heartbeat > zero && timings.connect > zero && timings.hello > zero &&
                timings.check_hash > zero && timings.reconnect_min > zero &&
                timings.reconnect_max >= timings.reconnect_min,
            "every interval must be longer than nothing");
    require(timings.gone_after > 2 * timings.heartbeat,
            "a peer must not be gone before two heartbeats are missed");
}

/// The configuration without the entry for this node itself, if it lists one. Throws
/// std::invalid_argument.
ClusterConfig checked(ClusterConfig config) {
    std::erase_if(config.peers, [&](const auto& peer) { return peer.node == config.node; });
    require(!config.node.empty() && config.node.size() <= kMaxNodeIdBytes,
            "a node id has 1 to " + std::to_string(kMaxNodeIdBytes) + " bytes");
    require(config.peers.size() <= kMaxPeers, "at most " + std::to_string(kMaxPeers) + " peers");
    require(config.keys.size() <= kMaxClusterKeys, "at most two keys");
    require(config.peers.empty() || !config.keys.empty(), "peers need a key");
    for (const auto& key : config.keys) {
        require(key.size() >= kMinClusterKeyBytes,
                "a key has at least " + std::to_string(kMinClusterKeyBytes) + " bytes");
    }
    std::set<std::string> nodes;
    for (const auto& peer : config.peers) {
        require(!peer.node.empty() && peer.node.size() <= kMaxNodeIdBytes, "bad peer node id");
        require(nodes.insert(peer.node).second, "two peers are called " + peer.node);
    }
    check_timings(config.timings);
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
          subscriptions_(shared_,
                         [this](std::size_t peer, const Instance& instance) {
                             publications_[peer]->heard_of(instance);
                         }),
          tasks_(shared_.executor),
          announce_timer_(shared_.executor) {
        for (std::size_t i = 0; i < shared_.config.peers.size(); ++i) {
            publications_.push_back(
                std::make_unique<PublisherLink>(shared_, i, [this] { wake_waiting(); }));
        }
    }

    void start() {
        const auto listens = !shared_.config.listen_port.empty() && !shared_.config.keys.empty();
        if (listens) subscriptions_.bind();
        run(listens);
    }

    void start_in_place_of(Node& earlier) {
        const auto listens = earlier.subscriptions_.port() != 0;
        if (listens) subscriptions_.bind_in_place_of(earlier.subscriptions_);
        earlier.stop();
        shared_.self = earlier.shared_.self;
        shared_.publisher.take_over(earlier.shared_.publisher);
        std::vector<std::optional<std::size_t>> was;
        for (const auto& peer : shared_.config.peers)
            was.push_back(earlier.shared_.neighbours.index_of(peer.node));
        shared_.invalidations.take_over(earlier.shared_.invalidations, was);
        subscriptions_.take_over(earlier.subscriptions_, was);
        for (std::size_t i = 0; i < was.size(); ++i) {
            if (was[i]) publications_[i]->take_over(*earlier.publications_[*was[i]]);
        }
        remember_former_peers(earlier);
        for (auto& publication : publications_) publication->invalidated();
        run(listens);
    }

    void stop() {
        if (std::exchange(stopped_, true)) return;
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
        for (auto& publication : publications_) publication->say_goodbye();
    }

    void stored(summary::KeyHash key) {
        shared_.publisher.stored(key, Clock::now());
        plan_announcement();
    }
    void removed(summary::KeyHash key) {
        shared_.publisher.removed(key, Clock::now());
        plan_announcement();
    }

    std::uint64_t invalidate(std::span<const summary::KeyHash> keys,
                             std::span<const summary::KeyHash> tags) {
        const auto number = shared_.invalidations.add(keys, tags);
        for (auto& publication : publications_) publication->invalidated();
        shared_.show_view();
        return number;
    }

    std::vector<Confirmation> confirmations(std::uint64_t number) const {
        std::vector<Confirmation> result;
        for (std::size_t i = 0; i < publications_.size(); ++i) {
            result.push_back({shared_.config.peers[i].node,
                              shared_.invalidations.confirmed(i) >= number,
                              publications_[i]->up()});
        }
        return result;
    }

    std::uint64_t last_invalidation() const { return shared_.invalidations.last(); }

    bool confirmed(std::uint64_t number, Whom by) const {
        for (std::size_t i = 0; i < publications_.size(); ++i) {
            const bool asked = by == Whom::all || publications_[i]->up();
            if (asked && shared_.invalidations.confirmed(i) < number) return false;
        }
        return true;
    }

    static awaitable<void> wait_confirmed(std::shared_ptr<Node> self, std::uint64_t number,
                                          Clock::time_point deadline, Whom whom) {
        asio::steady_timer timer(self->shared_.executor);
        const auto leave = [&](const void*) { std::erase(self->waiting_, &timer); };
        const std::unique_ptr<const void, decltype(leave)> at_end(&timer, leave);
        self->waiting_.push_back(&timer);
        while (!self->stopped_ && !self->confirmed(number, whom) && Clock::now() < deadline) {
            timer.expires_at(deadline);
            co_await timer.async_wait(as_result);
        }
    }

    ClusterStatus status() const;
    std::uint16_t link_port() const { return subscriptions_.port(); }
    const summary::KeyHasher& hasher() const { return hasher_; }

private:
    void run(bool listens) {
        shared_.plan_work = [this] { plan_work(); };
        plan_work();  // what was taken over may go on
        if (listens) tasks_.spawn(subscriptions_.listen(tasks_, shared_from_this()));
        shared_.show_view();
        for (auto& publication : publications_) {
            tasks_.spawn(publish(shared_from_this(), *publication));
        }
        if (!publications_.empty()) tasks_.spawn(check(shared_from_this()));
    }

    /// A peer may be taken out of the list and put back: it is to drop then what was invalidated
    /// meanwhile.
    void remember_former_peers(const Node& earlier) {
        former_ = earlier.former_;
        for (std::size_t i = 0; i < earlier.publications_.size(); ++i) {
            const auto& node = earlier.shared_.config.peers[i].node;
            former_[node] = earlier.shared_.invalidations.confirmed(i);
        }
        for (std::size_t i = 0; i < publications_.size(); ++i) {
            const auto known = former_.find(shared_.config.peers[i].node);
            if (known == former_.end()) continue;
            if (!earlier.shared_.neighbours.index_of(known->first)) {
                shared_.invalidations.came_back(i, known->second);
            }
            former_.erase(known);
        }
        while (former_.size() > kMaxFormerPeers) {
            former_.erase(std::min_element(
                former_.begin(), former_.end(),
                [](const auto& one, const auto& other) { return one.second < other.second; }));
        }
    }

    static awaitable<void> publish(std::shared_ptr<Node> self, PublisherLink& publication) {
        co_await publication.run();
        static_cast<void>(self);
    }

    void wake_waiting() {
        for (auto* timer : waiting_) timer->cancel();
    }

    /// Offers check-hashes that fall due while nothing changes.
    static awaitable<void> check(std::shared_ptr<Node> self) {
        auto& shared = self->shared_;
        asio::steady_timer timer(shared.executor);
        for (;;) {
            timer.expires_after(shared.config.timings.heartbeat);
            const auto [error] = co_await timer.async_wait(as_result);
            if (error) co_return;
            self->plan_work();
            self->plan_announcement();
            const auto due = shared.publisher.check(Clock::now());
            if (!due) continue;
            for (auto& publication : self->publications_) publication->offer(*due);
        }
    }

    void work() {
        working_ = false;
        if (stopped_) return;
        try {
            const bool made_image = shared_.publisher.makes_image();
            const auto news = shared_.publisher.work();
            const bool image_is_there = made_image && !shared_.publisher.makes_image();
            for (auto& publication : publications_) {
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
                for (auto& publication : publications_) publication->offer(*announcement);
        } catch (const std::bad_alloc&) {
            return out_of_memory("announcement of changes");
        }
        plan_work();
        plan_announcement();
    }

    Shared shared_;
    summary::KeyHasher hasher_;
    std::vector<std::unique_ptr<PublisherLink>> publications_;  // order of config.peers
    SubscriberLinks subscriptions_;
    std::map<std::string, std::uint64_t> former_;  // what peers listed once have confirmed
    TaskGroup tasks_;
    asio::steady_timer announce_timer_;
    std::vector<asio::steady_timer*> waiting_;  // for confirmations
    bool timer_runs_ = false;
    bool posted_ = false;
    bool working_ = false;  // a slice is posted
    bool stopped_ = false;
};

ClusterStatus Cluster::Node::status() const {
    ClusterStatus status;
    for (std::size_t i = 0; i < publications_.size(); ++i) {
        auto& peer = status.peers.emplace_back();
        peer.node = shared_.config.peers[i].node;
        publications_[i]->report(peer);
        subscriptions_.report(i, peer);
        status.announcements_sent += peer.announcements_sent;
        status.announcements_received += peer.announcements_received;
        status.heartbeats_sent += peer.heartbeats_sent;
        status.bytes_sent += peer.bytes_sent;
        status.bytes_received += peer.bytes_received;
        status.announcement_bytes_sent += publications_[i]->announcement_bytes();
    }
    status.announcement_bytes_received = subscriptions_.announcement_bytes();
    status.refusals = shared_.log.counts();
    const auto& own = shared_.publisher.own();
    status.own.epoch = own.epoch();
    status.own.generation = own.generation();
    status.own.objects = own.objects();
    status.own.bits = own.shape().bits;
    status.own.hashes = own.shape().hashes;
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
std::uint16_t Cluster::link_port() const {
    return node_->link_port();
}
summary::KeyHasher Cluster::key_hasher() const {
    return node_->hasher();
}
void Cluster::stored(summary::KeyHash key) {
    node_->stored(key);
}
void Cluster::removed(summary::KeyHash key) {
    node_->removed(key);
}
std::uint64_t Cluster::invalidate(std::span<const summary::KeyHash> keys,
                                  std::span<const summary::KeyHash> tags) {
    return node_->invalidate(keys, tags);
}
std::uint64_t Cluster::last_invalidation() const {
    return node_->last_invalidation();
}
std::vector<Cluster::Confirmation> Cluster::confirmations(std::uint64_t number) const {
    return node_->confirmations(number);
}
awaitable<void> Cluster::wait_confirmed(std::uint64_t number, Clock::time_point deadline,
                                        Whom whom) {
    return Node::wait_confirmed(node_, number, deadline, whom);
}
void Cluster::withdraw() {
    node_->withdraw();
}
void Cluster::stop() {
    node_->stop();
}
ClusterStatus Cluster::status() const {
    return node_->status();
}

}  // namespace protocol
