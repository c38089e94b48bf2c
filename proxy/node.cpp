#include "proxy/node.hpp"

#include <pthread.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_future.hpp>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <vector>

#include "protocol/cluster.hpp"
#include "proxy/admin/server.hpp"
#include "proxy/control_feed.hpp"
#include "proxy/forwarding/listen.hpp"
#include "proxy/forwarding/worker.hpp"
#include "proxy/wakeup.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

/// A node whose peers are not there is ready anyway after this.
constexpr std::chrono::seconds kReadyAlone{2};
constexpr std::chrono::seconds kReportDeadline{1};

protocol::ClusterConfig cluster_config(const Config& config) {
    protocol::ClusterConfig result;
    result.node = config.node;
    result.false_hit_budget = config.summary.false_hit_budget;
    result.announce_changed = config.summary.announce.changed;
    result.announce_delay = config.summary.announce.delay;
    if (!config.cluster) return result;
    const auto& cluster = *config.cluster;
    result.keys = cluster.keys;
    result.listen_host = cluster.listen.host;
    result.listen_port = std::to_string(cluster.listen.port);
    result.timings.heartbeat = cluster.heartbeat;
    result.timings.gone_after = cluster.gone_after;
    for (const auto& peer : cluster.peers)
        result.peers.push_back({peer.node, peer.http.host, std::to_string(peer.http.port),
                                peer.link.host, std::to_string(peer.link.port)});
    return result;
}

struct WorkerReport {
    WorkerCounters counters;
    std::vector<PeerRecord::Counts> peers;
};

WorkerReport report_of(const Worker& worker) {
    WorkerReport report{worker.counters, {}};
    for (const auto& record : worker.peer_records) report.peers.push_back(record.counts());
    return report;
}

}  // namespace

class Node::Impl {
    using Change = std::pair<summary::KeyHash, bool>;  // stored, or no longer

public:
    explicit Impl(Config settings)
        : config_(std::make_shared<const Config>(std::move(settings))),
          cluster_(control_, cluster_config(*config_),
                   {[this](auto view) { hand_out(std::move(view)); },
                    [this](const auto& what) { apply(what); }}),
          changes_(control_,
                   [this](const std::vector<Change>& changes) {
                       for (const auto& [key, stored] : changes)
                           stored ? cluster_.stored(key) : cluster_.removed(key);
                   }),
          invalidated_(control_, [this](const auto& keys) { cluster_.invalidate(keys, {}); }),
          shared_(
              *config_, cluster_.key_hasher(),
              [this](summary::KeyHash key, bool stored) {
                  changes_.push({key, stored});
              },
              [this](summary::KeyHash key) { invalidated_.push(key); }),
          drain_timer_(control_) {
        for (const auto fd : listen_shared(config_->listen, config_->workers))
            workers_.push_back(std::make_unique<Worker>(shared_, config_, fd));
        if (config_->admin)
            admin_.emplace(control_, *config_->admin,
                           AdminServer::Hooks{[this] { return collect(); }, [this] { drain(); },
                                              [this] { return effective_config(*config_); }});
        cluster_.start();
        proxy_port_ = workers_.front()->port();
        admin_port_ = admin_ ? admin_->port() : 0;
    }

    ~Impl() {
        stop();
        join();
    }

    void start() {
        started_ = std::chrono::steady_clock::now();
        if (admin_) admin_->start();
        running_workers_ = workers_.size();
        threads_.emplace_back([this] {
            ::pthread_setname_np(::pthread_self(), "control");
            control_.run();
        });
        for (auto& worker : workers_) {
            worker->start();
            threads_.emplace_back([this, &worker = *worker] {
                ::pthread_setname_np(::pthread_self(), "worker");
                worker.run();
                asio::post(control_, [this] { worker_ended(); });
            });
        }
    }

    void drain() {
        asio::post(control_, [this] {
            if (shared_.draining.exchange(true)) return;
            spdlog::info("draining: no new connections, at most {:.1f} s for those at hand",
                         std::chrono::duration<double>(config_->timeouts.drain).count());
            cluster_.withdraw();
            for (auto& worker : workers_)
                asio::post(worker->io, [&worker = *worker] { worker.drain(); });
            drain_timer_.expires_after(config_->timeouts.drain);
            drain_timer_.async_wait([this](const boost::system::error_code& ec) {
                if (ec) return;
                spdlog::warn("the drain time is over: what is left is cut off");
                stop();
            });
        });
    }

    void stop() {
        for (auto& worker : workers_)
            asio::post(worker->io, [&worker = *worker] { worker.stop(); });
        asio::post(control_, [this] {
            shared_.draining = true;
            end_control();
        });
    }

    void join() {
        for (auto& thread : threads_)
            if (thread.joinable()) thread.join();
    }

    NodeStatus status() { return asio::co_spawn(control_, collect(), asio::use_future).get(); }

    Shared& shared() { return shared_; }
    std::uint16_t proxy_port() const { return proxy_port_; }
    std::uint16_t admin_port() const { return admin_port_; }
    std::uint16_t link_port() const { return cluster_.link_port(); }

private:
    void hand_out(std::shared_ptr<const protocol::PeerView> view) {
        if (!config_->cluster) return;
        for (auto& worker : workers_)
            asio::post(worker->io, [&worker = *worker, view] { worker.set_peers(view); });
    }

    /// What a peer has invalidated; not passed on, as it tells everybody itself.
    void apply(const protocol::Invalidation& what) {
        const auto now = Store::Clock::now();
        if (what.all) {
            spdlog::warn("a peer invalidated more than it could keep: all that was stored is gone");
            shared_.store.invalidate_all(now);
        }
        for (const auto& key : what.keys) shared_.store.invalidate(key, now);
    }

    void worker_ended() {
        if (--running_workers_ == 0) end_control();
    }

    void end_control() {
        drain_timer_.cancel();
        if (admin_) admin_->stop();
        cluster_.stop();
        keep_.reset();
    }

    /// A worker's answer, whenever it comes; whoever asked may have gone by then.
    struct Question {
        std::shared_ptr<Wakeup> wakeup;
        WorkerReport report;
        std::atomic<bool> answered{false};
    };
    std::shared_ptr<Question> ask(Worker& worker) {
        auto question = std::make_shared<Question>();
        question->wakeup = std::make_shared<Wakeup>(control_.get_executor());
        asio::post(worker.io, [question, &worker] {
            question->report = report_of(worker);
            question->answered = true;
            question->wakeup->notify();
        });
        return question;
    }

    asio::awaitable<NodeStatus> collect() {
        NodeStatus status;
        status.node = config_->node;
        status.version = HEARSAY_VERSION;
        status.uptime_seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
        status.draining = shared_.draining;
        status.connections = shared_.connections;
        status.log_dropped = shared_.access_log.dropped();

        const auto links = cluster_.status();
        std::vector<PeerRecord::Counts> asked(links.peers.size());
        last_reports_.resize(workers_.size());
        for (std::size_t i = 0; i < workers_.size(); ++i) {
            auto& worker = *workers_[i];
            if (worker.finished.load(std::memory_order_acquire)) {
                last_reports_[i] = report_of(worker);
            } else {
                const auto question = ask(worker);
                co_await question->wakeup->wait_until(std::chrono::steady_clock::now() +
                                                      kReportDeadline);
                if (question->answered)  // else: busy; what it last said stands
                    last_reports_[i] = question->report;
            }
            status.work += last_reports_[i].counters;
            for (std::size_t p = 0; p < asked.size() && p < last_reports_[i].peers.size(); ++p) {
                const auto& counts = last_reports_[i].peers[p];
                asked[p].asked += counts.asked;
                asked[p].hits += counts.hits;
                asked[p].false_hits += counts.false_hits;
                asked[p].stale_hits += counts.stale_hits;
                asked[p].refused += counts.refused;
                asked[p].failures += counts.failures;
                asked[p].given += counts.given;
            }
        }

        const auto store = shared_.store.stats();
        status.cache.objects = store.objects;
        status.cache.memory_bytes = store.memory_bytes;
        status.cache.evictions = store.evictions;
        status.summary = {links.own.kind,   links.own.objects, links.own.bits,
                          links.own.hashes, links.own.fill,    links.own.expected_false_hit};
        auto& cluster = status.cluster;
        cluster.announcements_sent = links.announcements_sent;
        cluster.announcements_received = links.announcements_received;
        cluster.heartbeats_sent = links.heartbeats_sent;
        cluster.bytes_sent = links.bytes_sent;
        cluster.bytes_received = links.bytes_received;
        cluster.link_refusals = links.refusals;
        auto all_in_step = true;
        for (std::size_t p = 0; p < links.peers.size(); ++p) {
            const auto& link = links.peers[p];
            PeerStatus peer;
            peer.node = link.node;
            peer.epoch = link.epoch;
            peer.state = protocol::name(link.state);
            peer.lag_seconds = link.lag_seconds;
            peer.objects = link.objects;
            peer.resyncs = link.resyncs;
            peer.check_failures = link.check_failures;
            peer.last_error = link.last_error;
            peer.invalidations_sent = link.invalidations_sent;
            peer.invalidations_received = link.invalidations_received;
            peer.invalidations_confirmed = link.invalidations_confirmed;
            peer.invalidations_pending = link.invalidations_pending;
            peer.asked = asked[p].asked;
            peer.hits = asked[p].hits;
            peer.false_hits = asked[p].false_hits;
            peer.stale_hits = asked[p].stale_hits;
            peer.refused = asked[p].refused;
            peer.failures = asked[p].failures;
            peer.given = asked[p].given;
            all_in_step = all_in_step && peer.in_step();
            cluster.peers.push_back(std::move(peer));
        }
        status.ready = !status.draining &&
                       (all_in_step || std::chrono::steady_clock::now() - started_ >= kReadyAlone);
        co_return status;
    }

    std::shared_ptr<const Config> config_;  // control thread, once that runs
    asio::io_context control_{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> keep_{
        control_.get_executor()};
    protocol::Cluster cluster_;
    ControlFeed<Change> changes_;
    ControlFeed<summary::KeyHash> invalidated_;
    Shared shared_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::optional<AdminServer> admin_;
    asio::steady_timer drain_timer_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    std::size_t running_workers_ = 0;  // control thread
    std::vector<WorkerReport> last_reports_;
    std::vector<std::thread> threads_;
    std::uint16_t proxy_port_ = 0, admin_port_ = 0;
};

Node::Node(Config config) : impl_(std::make_unique<Impl>(std::move(config))) {}
Node::~Node() = default;
void Node::start() {
    impl_->start();
}
void Node::drain() {
    impl_->drain();
}
void Node::stop() {
    impl_->stop();
}
void Node::join() {
    impl_->join();
}
void Node::reopen_logs() {
    impl_->shared().access_log.reopen();
}
NodeStatus Node::status() {
    return impl_->status();
}
std::uint16_t Node::proxy_port() const {
    return impl_->proxy_port();
}
std::uint16_t Node::link_port() const {
    return impl_->link_port();
}
std::uint16_t Node::admin_port() const {
    return impl_->admin_port();
}

int run_node(Config config) {
    // Standard output is for the access log.
    const auto colours =
        std::getenv("NO_COLOR") ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "", std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colours)));
    spdlog::set_level(static_cast<spdlog::level::level_enum>(config.log.level));
    std::signal(SIGPIPE, SIG_IGN);
    try {
        asio::io_context main{1};
        asio::signal_set signals(main, SIGTERM, SIGINT, SIGHUP);
        signals.add(SIGUSR1);
        const auto node_name = config.node;
        const auto listen = config.listen.text();
        const auto admin = config.admin ? config.admin->text() : std::string("none");
        Node node(std::move(config));
        node.start();
        spdlog::info("node {}: proxy at {}, admin at {}", node_name, listen, admin);

        bool draining = false;
        std::function<void()> wait = [&] {
            signals.async_wait([&](const boost::system::error_code& ec, int signal) {
                if (ec) return;
                if (signal == SIGUSR1) {
                    node.reopen_logs();
                } else if (signal == SIGHUP) {
                    spdlog::warn(
                        "HUP: reloading the configuration is not available in this version; "
                        "nothing changed");
                } else if (!draining) {
                    draining = true;
                    node.drain();
                } else {
                    spdlog::warn("second signal: stopping at once");
                    node.stop();
                }
                wait();
            });
        };
        wait();
        std::thread waiter([&] {
            node.join();
            main.stop();
        });
        main.run();
        waiter.join();
        spdlog::info("node {} has ended", node_name);
        return 0;
    } catch (const std::exception& error) {
        spdlog::error("{}", error.what());
        return 1;
    }
}

}  // namespace proxy
