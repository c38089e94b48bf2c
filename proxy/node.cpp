#include "proxy/node.hpp"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/cluster.hpp"
#include "protocol/net/crypto.hpp"
#include "protocol/net/plain_message.hpp"
#include "proxy/admin/server.hpp"
#include "proxy/config/cluster_settings.hpp"
#include "proxy/disk_watch.hpp"
#include "proxy/explain_url.hpp"
#include "proxy/net/awaited_value.hpp"
#include "proxy/net/listen.hpp"
#include "proxy/net/tls_contexts.hpp"
#include "proxy/node_entries.hpp"
#include "proxy/node_invalidations.hpp"
#include "proxy/reloader.hpp"
#include "proxy/settings_in_effect.hpp"
#include "proxy/status_reports.hpp"
#include "proxy/storage/local_secret.hpp"
#include "proxy/storage/purge.hpp"
#include "proxy/telemetry/to_the_wall.hpp"
#include "proxy/watchdog.hpp"
#include "proxy/worker.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

/// A node whose peers are not there is ready anyway after this.
constexpr std::chrono::seconds kReadyAlone{2};
constexpr std::chrono::milliseconds kHousekeeping{5000}, kWhileFilling{100};
/// After so long peers hear of what a start has found by then, whatever a disk is still busy with.
constexpr std::chrono::seconds kFillAtMost{60};
constexpr std::chrono::seconds kGoodbyeDeadline{1};  // for peers to read it
constexpr std::chrono::seconds kReopenDeadline{2};   // AccessLog::kPatience, and a disk
constexpr std::chrono::seconds kEndingTakes{5};      // at most, after the drain time
constexpr int kLooksInPatience = 3;                  // of the service manager

/// Whoever embeds a node does not die of a client that has left: sendfile(), unlike send(), cannot
/// be told not to raise SIGPIPE.
void enter_thread(const char* name) {
    ::pthread_setname_np(::pthread_self(), name);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/// 32 hexadecimal digits by chance.
std::string fresh_instance() {
    std::array<std::byte, 16> bytes{};
    protocol::random_bytes(bytes);
    std::string out;
    for (const auto each : bytes) {
        out += "0123456789abcdef"[std::to_integer<unsigned>(each) >> 4];
        out += "0123456789abcdef"[std::to_integer<unsigned>(each) & 15];
    }
    return out;
}

/// For a directory that is taken again. Returns why not, or nothing. Without `secret` the cluster
/// has a key, which stands in no directory.
std::string secret_restored(const std::filesystem::path& directory,
                            const std::optional<protocol::HashSecret>& secret) {
    if (!secret) return {};
    try {
        restore_local_secret(directory, *secret);
    } catch (const std::exception& error) {
        return protocol::plain_message(error);
    }
    return {};
}

std::shared_ptr<const Config> complete(Config config) {
    if (!config.tls_contexts) {
        const auto errors = load_tls(config);
        if (!errors.empty())
            throw std::runtime_error(errors.front().path + ": " + errors.front().message);
    }
    return std::make_shared<const Config>(std::move(config));
}

}  // namespace

class Node::Impl {
    using Whom = protocol::Cluster::Whom;

public:
    Impl(Config settings, std::filesystem::path file, ServiceManager manager)
        : manager_(manager),
          config_(complete(std::move(settings))),
          cluster_(make_cluster(*config_)),
          entries_(control_, cluster_, cluster_settings(*config_).summary_kind),
          cache_(
              *config_, cluster_->key_hasher(),
              {[this](summary::KeyHash key, bool stored) { entries_.tell(key, stored); },
               [this](protocol::Invalidation what) { invalidations_.tell_peers(std::move(what)); },
               [secret = own_secret_](const std::filesystem::path& directory) {
                   return secret_restored(directory, secret);
               }}),
          invalidations_(control_, config_->node, cluster_, cache_),
          clients_(*config_,
                   [this](PurgeOrder order, auto done) {
                       invalidations_.purge(std::move(order), std::move(done));
                   }),
          drain_timer_(control_),
          settings_(
              {config_, cluster_, earlier_links_, control_, cache_, clients_, workers_, leaving_},
              [this](const Config& config) { return make_cluster(config); }),
          reloader_(control_, std::move(file),
                    {[this] {
                         if (!leaving_) manager_.reloading();
                     },
                     [this](ConfigRead read) {
                         auto access_log = std::move(read.access_log);
                         return settings_.replace(std::move(read), std::move(access_log));
                     },
                     [this] {
                         if (!leaving_) manager_.ready(told_ = state_line());
                     }}) {
        for (const auto fd : listen_shared(config_->listen, config_->workers))
            workers_.push_back(std::make_unique<Worker>(cache_, clients_, config_, fd));
        if (config_->tls) {
            auto worker = workers_.begin();
            for (const auto fd : listen_shared(config_->tls->listen, config_->workers))
                (*worker++)->acceptor.listen(fd, Scheme::https);
        }
        if (manager_.patience() > manager_.patience().zero()) {
            std::vector<Watchdog::Watched> watched;
            for (auto& worker : workers_)
                watched.push_back({worker->io.get_executor(), &worker->finished});
            watchdog_.emplace(control_, std::move(watched), manager_.patience() / kLooksInPatience,
                              [this] { manager_.alive(); });
        }
        if (config_->admin)
            admin_.emplace(
                control_, config_->admin->listen,
                AdminServer::Hooks{
                    [this] { return collect(); }, [this] { drain(); }, [this] { return config_; },
                    [this] { return reloader_.reload_and_wait("POST /api/v1/reload"); },
                    [this](PurgeOrder order) { return invalidations_.purge(std::move(order)); },
                    [this](const auto& order) { return settings_.change_peers(order); },
                    [this](CacheKey key) {
                        return explain_url(*workers_.front(), control_, std::move(key));
                    },
                    [this] { return reopen_and_wait(); }},
                clients_.faults);
        invalidations_.keep(*config_);
        if (cache_.store.disk()) entries_.begin_fill();
        cluster_->start();
        proxy_port_ = workers_.front()->acceptor.port();
        link_port_ = cluster_->link_port();
        admin_port_ = admin_ ? admin_->port() : 0;
    }

    ~Impl() {
        stop();
        join();
    }

    void start() {
        started_ = std::chrono::steady_clock::now();
        if (admin_) admin_->start();
        keep_house();
        running_workers_ = workers_.size();
        threads_.emplace_back([this] {
            enter_thread("control");
            clients_.faults.run(control_, "control thread");
        });
        for (auto& worker : workers_) {
            worker->start();
            threads_.emplace_back([this, &worker = *worker] {
                enter_thread("worker");
                worker.run();
                asio::post(control_, [this] { worker_ended(); });
            });
        }
        asio::post(control_, [this] {
            if (leaving_) return;
            manager_.ready(told_ = state_line());
            if (watchdog_) watchdog_->start();
        });
    }

    void drain() {
        asio::post(control_, [this] {
            if (std::exchange(leaving_, true)) return;
            spdlog::info("draining, for at most {:.1f} s",
                         std::chrono::duration<double>(config_->timeouts.drain).count());
            manager_.stopping(told_ = state_line(), config_->timeouts.drain + kEndingTakes);
            drain_timer_.expires_after(config_->timeouts.drain);
            drain_timer_.async_wait([this](const boost::system::error_code& ec) {
                if (ec) return;
                spdlog::warn("the drain time is over: what is left is cut off");
                stop();
            });
            asio::co_spawn(control_, leave(), kToTheWall);
        });
    }

    void stop() {
        each_worker(&Worker::stop);
        asio::post(control_, [this] {
            leaving_ = clients_.draining = true;
            end_control();
        });
    }

    void join() {
        for (auto& thread : threads_)
            if (thread.joinable()) thread.join();
        cache_.close();
        invalidations_.close();
    }

    NodeStatus status() { return asio::co_spawn(control_, collect(), asio::use_future).get(); }

    void reload() { reloader_.reload("HUP", nullptr); }

    void reopen_logs() { clients_.access_log.reopen(); }
    std::uint16_t proxy_port() const { return proxy_port_; }
    std::uint16_t admin_port() const { return admin_port_; }
    std::uint16_t link_port() const { return link_port_; }

private:
    /// The writer of the log may wait for a disk, or for whoever reads a pipe.
    asio::awaitable<std::string> reopen_and_wait() {
        const auto reply = std::make_shared<AwaitedValue<std::string>>(
            std::make_shared<Wakeup>(control_.get_executor()));
        clients_.access_log.reopen([reply](const std::string& why_not) { reply->give(why_not); });
        const auto in_time =
            co_await reply->wait_until(std::chrono::steady_clock::now() + kReopenDeadline);
        if (in_time) co_return reply->value();
        co_return "opening the access log takes long; the error log will say how it ended";
    }

    /// First nobody is sent here any more, then nobody is let in: peers stop asking, load balancers
    /// see that the node is not ready and are still answered for a while, then connections end.
    asio::awaitable<void> leave() {
        auto& cluster = *cluster_;  // reloads are refused from here on
        cluster.withdraw();
        const auto deadline = std::chrono::steady_clock::now() + kGoodbyeDeadline;
        co_await cluster.wait_withdrawn(deadline);
        if (!keep_) co_return;  // stopped meanwhile
        clients_.draining = true;
        const auto grace = config_->timeouts.drain_grace;
        if (grace > grace.zero()) {
            each_worker(&Worker::retire);
            grace_timer_.expires_after(grace);
            co_await grace_timer_.async_wait(protocol::as_result);
            if (!keep_) co_return;
        }
        spdlog::info("no new connections are taken");
        each_worker(&Worker::drain);
    }

    void each_worker(void (Worker::*what)()) {
        for (auto& worker : workers_)
            asio::post(worker->io, [&worker = *worker, what] { (worker.*what)(); });
    }

    void hand_out(std::shared_ptr<const protocol::PeerView> view) {
        if (!config_->cluster) return;
        for (auto& worker : workers_) {
            const bool probes = worker == workers_.front();  // one question is enough
            asio::post(worker->io,
                       [&worker = *worker, view, probes] { worker.set_peers(view, probes); });
        }
    }

    std::unique_ptr<protocol::Cluster> make_cluster(const Config& config) {
        auto settings = cluster_settings(config);
        if (settings.keys.empty() && !config.cache.disk.empty()) {
            std::vector<std::filesystem::path> directories;
            for (const auto& disk : config.cache.disk) directories.push_back(disk.path);
            // Once: a reload must not wait for a disk.
            if (!own_secret_) own_secret_ = local_secret(directories);
            settings.own_secret = *own_secret_;
        }
        return std::make_unique<protocol::Cluster>(
            control_, std::move(settings),
            protocol::ClusterHooks{[this](auto view) { hand_out(std::move(view)); },
                                   [this](const auto& what, auto done) {
                                       invalidations_.take(what, std::move(done));
                                   }});
    }

    /// The allocator keeps what a crowd of connections took, or the reading of a disk, for the next
    /// one that may not come.
    void keep_house() {
        housekeeping_.expires_after(entries_.filling() ? kWhileFilling : kHousekeeping);
        housekeeping_.async_wait([this](const boost::system::error_code& ec) {
            if (ec || !keep_) return;  // the end may have come after the time had
            keep_house();              // first, as what follows may throw
            auto* const disk = cache_.store.disk();
            const bool loading = disk && disk->loading() &&
                                 std::chrono::steady_clock::now() < started_ + kFillAtMost;
            if (clients_.high_water_mark.has_fallen(clients_.connections) ||
                entries_.end_fill(loading))
                ::malloc_trim(0);
            if (manager_.listens())
                if (auto line = state_line(); line != told_) manager_.tell(told_ = std::move(line));
            if (config_->cluster) asio::co_spawn(control_, note_false_hits(), kToTheWall);
            if (disk) disk_watch_.look(disk->status());
            invalidations_.tend();
        });
    }

    /// Workers find out in time why false hits were, and the own summary is corrected by that.
    asio::awaitable<void> note_false_hits() {
        co_await reports_.renew(workers_);
        summary::FalseHitsSeen seen{reports_.work().summary_lookups, reports_.gone().collisions};
        for (const auto& [node, report] : reports_.peers())
            seen.collisions += report.counts.collisions;
        cluster_->note_false_hits(seen);
    }

    /// What the node does now, for the service manager.
    std::string state_line() const {
        if (leaving_)
            return "Draining, " + std::to_string(clients_.connections) + " connections are open";
        return serving_line(*config_, cluster_->status().peers, reloader_.status().last_error);
    }

    void worker_ended() {
        if (--running_workers_ > 0) return;
        // What the last requests invalidated is to reach the peers.
        asio::co_spawn(
            control_,
            [](Impl& self) -> asio::awaitable<void> {
                auto& cluster = *self.cluster_;
                const auto deadline = std::chrono::steady_clock::now() + kPurgeDeadline;
                co_await cluster.wait_confirmed(cluster.last_invalidation(), deadline, Whom::all);
                self.end_control();
            }(*this),
            kToTheWall);
    }

    void end_control() {
        drain_timer_.cancel();
        grace_timer_.cancel();
        if (watchdog_) watchdog_->stop();
        housekeeping_.cancel();
        if (admin_) admin_->stop();
        cluster_->stop();
        keep_.reset();
    }

    asio::awaitable<NodeStatus> collect() {
        NodeStatus status;
        status.node = config_->node;
        status.instance = instance_;
        status.version = HEARSAY_VERSION;
        status.uptime_seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
        status.draining = clients_.draining;
        status.connections = clients_.connections;
        status.log_dropped = clients_.access_log.dropped();
        status.log_failed = clients_.access_log.failed();
        status.internal_errors = clients_.faults.caught();
        status.config = reloader_.status();
        status.process = process_status();

        co_await reports_.renew(workers_);
        status.work = reports_.work();
        show_store(cache_, status);
        auto links = cluster_->status();
        add_earlier(links, earlier_links_);
        const auto in_sync = show_links(links, reports_, status);
        if (config_->cluster)
            status.cluster.origins = show_origins(reports_.origins(), *config_->cluster);
        status.ready = !status.draining &&
                       (in_sync || std::chrono::steady_clock::now() - started_ >= kReadyAlone);
        co_return status;
    }

    const ServiceManager manager_;
    const std::string instance_ = fresh_instance();
    std::shared_ptr<const Config> config_;  // control thread, once that runs
    asio::io_context control_{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> keep_{
        control_.get_executor()};
    std::optional<protocol::HashSecret> own_secret_;  // as the disk has it; before the cluster
    std::unique_ptr<protocol::Cluster> cluster_;      // control thread, once that runs
    protocol::ClusterStatus earlier_links_;           // what those before it counted
    NodeEntries entries_;
    SharedCache cache_;
    DiskWatch disk_watch_;
    NodeInvalidations invalidations_;
    SharedFrontend clients_;
    std::vector<std::unique_ptr<Worker>> workers_;
    std::optional<Watchdog> watchdog_;
    std::optional<AdminServer> admin_;
    asio::steady_timer drain_timer_, grace_timer_{control_}, housekeeping_{control_};
    bool leaving_ = false;  // control thread: drain() or stop() was called
    std::string told_;      // to the manager last
    SettingsInEffect settings_;
    Reloader reloader_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    std::size_t running_workers_ = 0;  // control thread
    WorkerReports reports_{control_};
    std::vector<std::thread> threads_;
    std::uint16_t proxy_port_ = 0, admin_port_ = 0, link_port_ = 0;
};

Node::Node(Config config, std::filesystem::path file, ServiceManager manager)
    : impl_(std::make_unique<Impl>(std::move(config), std::move(file), manager)) {}
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
    impl_->reopen_logs();
}
void Node::reload() {
    impl_->reload();
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

}  // namespace proxy
