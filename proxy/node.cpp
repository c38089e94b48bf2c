#include "proxy/node.hpp"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/net/crypto.hpp"
#include "protocol/net/plain_message.hpp"
#include "proxy/access/access_rules.hpp"
#include "proxy/admin/server.hpp"
#include "proxy/blocklists/read_blocklists.hpp"
#include "proxy/config/cluster_settings.hpp"
#include "proxy/control_queue.hpp"
#include "proxy/dashboard_data.hpp"
#include "proxy/disk_watch.hpp"
#include "proxy/explain_url.hpp"
#include "proxy/net/awaited_value.hpp"
#include "proxy/net/listen.hpp"
#include "proxy/net/tls_contexts.hpp"
#include "proxy/node_cluster.hpp"
#include "proxy/node_entries.hpp"
#include "proxy/node_invalidations.hpp"
#include "proxy/reloader.hpp"
#include "proxy/service_notices.hpp"
#include "proxy/settings_in_effect.hpp"
#include "proxy/status_reports.hpp"
#include "proxy/storage/first_sight_file.hpp"
#include "proxy/telemetry/to_the_wall.hpp"
#include "proxy/upstream/span_exporter.hpp"
#include "proxy/watchdog.hpp"
#include "proxy/worker.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

/// Intervals of keep_house(): usually, and while the keys of a start are taken in.
constexpr std::chrono::milliseconds kHousekeeping{5000}, kHousekeepingOfImport{100};
/// After this time peers get the keys that recovery has found so far, even if it still reads.
constexpr std::chrono::seconds kImportAtMost{60};
/// Samples of the history, and reports to peers. The first comes soon, so that peers see a new
/// node.
constexpr std::chrono::milliseconds kFirstSample{200}, kSampleInterval{5000};
constexpr std::chrono::seconds kGoodbyeDeadline{1};  // for peers to read the goodbye
constexpr std::chrono::seconds kReopenDeadline{2};   // AccessLog::kPatience, and time for the disk
constexpr std::chrono::seconds kLastSpans{2};        // for the collector to take them
constexpr std::chrono::seconds kEndingTakes{5};      // at most, after the drain time
constexpr int kReportsInPatience = 3;                // of the watchdog, per time of the manager's

/// Names the calling thread and blocks SIGPIPE on it: sendfile() has no flag against that signal,
/// and an embedding process need not ignore it.
void enter_thread(const char* name) {
    ::pthread_setname_np(::pthread_self(), name);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/// 32 random hexadecimal digits.
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

/// Adds the TLS contexts, users and blocklists that the configuration names, unless it has them.
std::shared_ptr<const Config> complete(Config config) {
    if (!config.tls_contexts) {
        const auto errors = load_tls(config);
        if (!errors.empty())
            throw std::runtime_error(errors.front().path + ": " + errors.front().message);
    }
    if (!config.access) {
        const auto errors = load_access(config);
        if (!errors.empty())
            throw std::runtime_error(errors.front().path + ": " + errors.front().message);
    }
    if (!config.blocklists) {
        auto read = read_blocklists(config.forward);
        if (!read.errors.empty())
            throw std::runtime_error(read.errors.front().path + ": " + read.errors.front().message);
        config.blocklists = std::move(read.lists);
    }
    return std::make_shared<const Config>(std::move(config));
}

}  // namespace

class Node::Impl final : public ControlQueue::Handler, public NodeControl {
    using Whom = protocol::Cluster::Whom;

public:
    Impl(Config settings, std::filesystem::path file, ServiceManager manager,
         std::shared_ptr<const RecentErrors> errors)
        : config_(complete(std::move(settings))),
          cluster_(control_, *config_, cluster_hooks()),
          entries_(queue_, cluster_, cluster_settings(*config_).summary_kind),
          cache_(*config_, cluster_->key_hasher(), queue_,
                 [this](const auto& directory) { return cluster_.restore_secret(directory); }),
          invalidations_(control_, config_->node, cluster_, cache_),
          clients_(*config_, queue_),
          notices_(manager, config_, cluster_, clients_),
          settings_({config_, cluster_, control_, cache_, clients_, workers_, exporter_}),
          reloader_(control_, std::move(file), settings_, notices_),
          dashboard_(control_, workers_, config_, std::move(errors)) {
        make_workers();
        if (manager.patience() > manager.patience().zero()) make_watchdog();
        if (config_->admin)
            admin_.emplace(control_, config_->admin->listen, *this, clients_.faults);
        invalidations_.open_journals(*config_);
        open_first_sights();
        if (cache_.store.disk()) entries_.begin_import();
        reloader_.watch_files();
        cluster_->start();
        proxy_port_ = workers_.front()->acceptor.port();
        link_port_ = cluster_->link_port();
        admin_port_ = admin_ ? admin_->port() : 0;
    }

    ~Impl() {
        stop();
        join();
    }

    void note_warnings(const std::vector<ConfigError>& warnings) {
        reloader_.note_warnings(warnings);
    }

    void start() {
        started_ = std::chrono::steady_clock::now();
        if (admin_) admin_->start();
        exporter_.start();
        keep_house();
        keep_history(started_ + kFirstSample);
        running_workers_ = workers_.size();
        threads_.emplace_back([this] {
            enter_thread("control");
            clients_.faults.run(control_, "control thread");
        });
        workers_.front()->check_upstreams();
        for (auto& worker : workers_) {
            worker->start();
            threads_.emplace_back([this, &worker = *worker] {
                enter_thread("worker");
                worker.run();
                queue_.push(WorkerEnded{});
            });
        }
        asio::post(control_, [this] {
            if (settings_.closed()) return;
            notices_.serving();
            if (watchdog_) watchdog_->start();
        });
    }

    /// The workers stop even if the control thread is busy.
    void stop() {
        each_worker(&Worker::stop);
        queue_.push(StopOrdered{});
    }

    void join() {
        for (auto& thread : threads_)
            if (thread.joinable()) thread.join();
        clients_.authenticator.close();  // its thread knows coroutines of the workers
        clients_.leaves.close();         // as does this one
        first_sight_files_.reset();
        cache_.close();
        invalidations_.close();
        dashboard_.close();
    }

    NodeStatus wait_for_status() {
        return asio::co_spawn(control_, status(), asio::use_future).get();
    }

    NodeEvents& events() { return queue_; }
    AccessLog& access_log() { return clients_.access_log; }
    std::uint16_t proxy_port() const { return proxy_port_; }
    std::uint16_t admin_port() const { return admin_port_; }
    std::uint16_t link_port() const { return link_port_; }

private:
    void make_workers() {
        for (const auto fd : listen_shared(config_->listen, config_->workers))
            workers_.push_back(std::make_unique<Worker>(cache_, clients_, config_.share(), fd));
        if (!config_->tls) return;
        auto worker = workers_.begin();
        for (const auto fd : listen_shared(config_->tls->listen, config_->workers))
            (*worker++)->acceptor.listen(fd, Scheme::https);
    }

    void make_watchdog() {
        const auto& manager = notices_.manager();
        std::vector<Watchdog::Watched> watched;
        for (auto& worker : workers_)
            watched.push_back({worker->io.get_executor(), &worker->finished});
        watchdog_.emplace(control_, std::move(watched), manager.patience() / kReportsInPatience,
                          [&manager] { manager.alive(); });
    }

    void open_first_sights() {
        if (!cache_.store.disk()) return;
        std::vector<std::filesystem::path> directories;
        for (const auto& each : config_->cache.disk) directories.emplace_back(each.path);
        first_sight_files_.emplace(cache_.disk_calls, std::move(directories),
                                   secret_mark_of(cache_.key_hasher), cache_.first_sights);
    }

    void keep_first_sights() {
        if (!first_sight_files_) return;
        first_sight_files_->maintain(std::chrono::steady_clock::now());
        for (const auto& [directory, error] : first_sight_files_->take_troubles())
            spdlog::warn("disk {}: {}: times of first sight (min_age) may be lost",
                         directory.string(), error.message());
    }

    protocol::ClusterHooks cluster_hooks() {
        return {
            [this](auto view) { hand_out(std::move(view)); },
            [this](const auto& what, auto done) { invalidations_.apply(what, std::move(done)); }};
    }

    // Events of the queue.
    void keys_changed(std::span<const KeyChange> changes) override { entries_.apply(changes); }
    void happened(NodeEvent event) override {
        std::visit([this](auto& each) { handle(std::move(each)); }, event);
    }

    void handle(const InvalidatedHere& here) { invalidations_.announce(here.what); }
    void handle(PurgeRequested request) { invalidations_.purge(std::move(request)); }
    void handle(ReloadOrdered) { reloader_.reload("HUP"); }

    void handle(DrainOrdered) {
        if (!settings_.close()) return;
        spdlog::info("draining, for at most {:.1f} s",
                     std::chrono::duration<double>(config_->timeouts.drain).count());
        notices_.draining(config_->timeouts.drain + kEndingTakes);
        drain_timer_.expires_after(config_->timeouts.drain);
        drain_timer_.async_wait([this](const boost::system::error_code& ec) {
            if (ec) return;
            spdlog::warn("the drain time is over: open connections are cut");
            stop();
        });
        asio::co_spawn(control_, leave(), kToTheWall);
    }

    void handle(StopOrdered) {
        settings_.close();
        notices_.stopping();
        clients_.draining = true;
        end_control();
    }

    void handle(WorkerEnded) {
        if (--running_workers_ > 0) return;
        settings_.close();  // no reload replaces the cluster from now on
        // Invalidations by the last requests are to reach the peers.
        asio::co_spawn(
            control_,
            [](Impl& self) -> asio::awaitable<void> {
                auto& cluster = *self.cluster_;
                const auto deadline = std::chrono::steady_clock::now() + kPurgeDeadline;
                co_await cluster.wait_confirmed(cluster.last_invalidation(), deadline, Whom::all);
                co_await self.exporter_.flush(std::chrono::steady_clock::now() + kLastSpans);
                self.end_control();
            }(*this),
            kToTheWall);
    }

    // Calls of the admin port.
    std::shared_ptr<const Config> config() override { return config_.share(); }
    void drain() override { queue_.push(DrainOrdered{}); }
    asio::awaitable<Reloaded> reload() override {
        return reloader_.reload_and_wait("POST /api/v1/reload");
    }
    asio::awaitable<PurgeAnswer> purge(PurgeOrder order) override {
        for (auto& uri : order.uris) {
            CacheKey key;
            if (key.assign_url(uri) == TargetError::none) apply_key_rule(config_->rules, key);
            uri = key.uri();
        }
        return invalidations_.purge(std::move(order));
    }
    PeersChanged change_peers(const PeerOrder& order) override {
        return settings_.change_peers(order);
    }
    asio::awaitable<std::optional<Explanation>> explain(CacheKey key) override {
        return explain_url(*workers_.front(), control_, std::move(key));
    }

    /// The log's own thread opens it, because a disk or the reader of a pipe may hang.
    asio::awaitable<std::string> reopen_logs() override {
        const auto reply = std::make_shared<AwaitedValue<std::string>>(
            std::make_shared<Wakeup>(control_.get_executor()));
        clients_.access_log.reopen([reply](const std::string& why_not) { reply->give(why_not); });
        const auto in_time =
            co_await reply->wait_until(std::chrono::steady_clock::now() + kReopenDeadline);
        if (in_time) co_return reply->value();
        co_return "opening the access log takes long; the error log will say how it ended";
    }

    /// The steps of a drain: peers stop asking; load balancers see that the node is not ready and
    /// still get answers for drain_grace; then the node takes no more connections.
    asio::awaitable<void> leave() {
        auto& cluster = *cluster_;  // no reload replaces it from now on
        cluster.withdraw();
        const auto deadline = std::chrono::steady_clock::now() + kGoodbyeDeadline;
        co_await cluster.wait_withdrawn(deadline);
        if (!keep_) co_return;  // the node has stopped meanwhile
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
            const bool probes = worker == workers_.front();  // one probe of a new peer is enough
            asio::post(worker->io,
                       [&worker = *worker, view, probes] { worker.set_peers(view, probes); });
        }
    }

    /// Runs again after each interval. malloc_trim() returns the memory of a crowd of connections,
    /// or of a recovery, to the system.
    void keep_house() {
        housekeeping_.expires_after(entries_.importing() ? kHousekeepingOfImport : kHousekeeping);
        housekeeping_.async_wait([this](const boost::system::error_code& ec) {
            if (ec || !keep_) return;  // the timer may have expired just before the end
            keep_house();              // first, because the next lines may throw
            auto* const disk = cache_.store.disk();
            const bool loading = disk && disk->loading() &&
                                 std::chrono::steady_clock::now() < started_ + kImportAtMost;
            if (clients_.high_water_mark.has_fallen(clients_.connections) ||
                entries_.end_import(loading))
                ::malloc_trim(0);
            notices_.refresh();
            if (disk) disk_watch_.look(disk->status());
            invalidations_.maintain_journals();
            keep_first_sights();
        });
    }

    /// Takes a sample at `at`, and every kSampleInterval from then on.
    void keep_history(std::chrono::steady_clock::time_point at) {
        sampling_.expires_at(at);
        sampling_.async_wait([this, at](const boost::system::error_code& ec) {
            if (ec || !keep_) return;
            keep_history(std::max(at + kSampleInterval, std::chrono::steady_clock::now()));
            asio::co_spawn(control_, sample(), kToTheWall);
        });
    }

    /// Adds the present counts to the history, and reports them to peers. Workers learn the causes
    /// of false hits with a delay; the error of the own summary follows the sums.
    asio::awaitable<void> sample() {
        co_await reports_.renew(workers_);
        if (!keep_) co_return;
        const auto work = reports_.work();
        dashboard_.sample(work);
        if (!config_->cluster) co_return;
        summary::FalseHitsSeen seen{work.summary_lookups, reports_.gone().collisions};
        for (const auto& [node, report] : reports_.peers())
            seen.collisions += report.counts.collisions;
        cluster_->note_false_hits(seen);
        cluster_->report(encode_report(dashboard_.report(observe())));
    }

    void end_control() {
        drain_timer_.cancel();
        grace_timer_.cancel();
        if (watchdog_) watchdog_->stop();
        housekeeping_.cancel();
        sampling_.cancel();
        if (admin_) admin_->stop();
        exporter_.stop();
        cluster_->stop();
        keep_.reset();
    }

    asio::awaitable<NodeStatus> status() override {
        co_await reports_.renew(workers_);
        auto status = observe();
        status.connections = clients_.connections;
        status.log_dropped = clients_.access_log.dropped();
        status.log_failed = clients_.access_log.failed();
        status.internal_errors = clients_.faults.caught();
        status.config = reloader_.status();
        status.false_hit_budget = config_->summary.false_hit_budget;
        show_certificates(*config_, status);
        show_leaves(clients_.leaves.numbers(), status);
        status.spans = clients_.spans.counters();
        status.process = process_status();
        show_blocklists(*config_, status);
        show_upstreams(*config_, cache_.groups, status);
        co_return status;
    }

    /// The parts of the status that peers hear of, by the last reports of the workers.
    NodeStatus observe() {
        NodeStatus status;
        status.node = config_->node;
        status.instance = instance_;
        status.version = HEARSAY_VERSION;
        const auto uptime = std::chrono::steady_clock::now() - started_;
        status.uptime_seconds = std::chrono::duration<double>(uptime).count();
        status.draining = clients_.draining;
        status.work = reports_.work();
        status.answers = reports_.answers();
        if (config_->cluster)
            status.cluster.origins = show_origins(reports_.origins(), *config_->cluster);
        show_store(cache_, status);
        const auto in_sync = show_links(cluster_.status(), reports_, status);
        status.ready = !status.draining && (in_sync || uptime >= kReadyAlone);
        return status;
    }

    asio::awaitable<ClusterView> cluster_view() override {
        co_await reports_.renew(workers_);
        const auto status = observe();
        co_return view_of(status, dashboard_.report(status), cluster_->received_reports());
    }
    std::vector<HistoryPoint> history(Span span) override {
        return dashboard_.history().points_so_far(span);
    }
    asio::awaitable<SiteTotals> sites() override { return dashboard_.sites(); }
    asio::awaitable<TopLists> top() override { return dashboard_.top(); }
    std::vector<RecentErrors::Line> recent_errors() override { return dashboard_.errors(); }

    const std::string instance_ = fresh_instance();
    ConfigInEffect config_;  // control thread, once that runs
    asio::io_context control_{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> keep_{
        control_.get_executor()};
    ControlQueue queue_{control_, *this};
    NodeCluster cluster_;
    NodeEntries entries_;
    SharedCache cache_;
    DiskWatch disk_watch_;
    NodeInvalidations invalidations_;
    SharedFrontend clients_;
    SpanExporter exporter_{control_.get_executor(), config_, clients_.spans, cache_.windows};
    std::optional<FirstSightFiles> first_sight_files_;  // with a disk
    std::vector<std::unique_ptr<Worker>> workers_;
    std::optional<Watchdog> watchdog_;
    std::optional<AdminServer> admin_;
    asio::steady_timer drain_timer_{control_}, grace_timer_{control_}, housekeeping_{control_};
    asio::steady_timer sampling_{control_};
    ServiceNotices notices_;
    SettingsInEffect settings_;
    Reloader reloader_;
    std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
    std::size_t running_workers_ = 0;  // control thread
    WorkerReports reports_{control_};
    DashboardData dashboard_;
    std::vector<std::thread> threads_;
    std::uint16_t proxy_port_ = 0, admin_port_ = 0, link_port_ = 0;
};

Node::Node(Config config, std::filesystem::path file, ServiceManager manager,
           std::shared_ptr<const RecentErrors> errors)
    : impl_(
          std::make_unique<Impl>(std::move(config), std::move(file), manager, std::move(errors))) {}
Node::~Node() = default;
void Node::note_warnings(const std::vector<ConfigError>& warnings) {
    impl_->note_warnings(warnings);
}
void Node::start() {
    impl_->start();
}
void Node::drain() {
    impl_->events().push(DrainOrdered{});
}
void Node::stop() {
    impl_->stop();
}
void Node::join() {
    impl_->join();
}
void Node::reopen_logs() {
    impl_->access_log().reopen();
}
void Node::reload() {
    impl_->events().push(ReloadOrdered{});
}
NodeStatus Node::status() {
    return impl_->wait_for_status();
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
