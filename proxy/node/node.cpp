#include "proxy/node/node.hpp"

#include <pthread.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/use_future.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/async/awaited_value.hpp"
#include "base/async/sleep.hpp"
#include "base/async/wall_clock.hpp"
#include "base/net/listen.hpp"
#include "proxy/admin/server.hpp"
#include "proxy/node/control_queue.hpp"
#include "proxy/node/drain.hpp"
#include "proxy/node/explain_url.hpp"
#include "proxy/node/housekeeping.hpp"
#include "proxy/node/load_config.hpp"
#include "proxy/node/node_cluster.hpp"
#include "proxy/node/node_invalidations.hpp"
#include "proxy/node/node_observer.hpp"
#include "proxy/node/node_parts.hpp"
#include "proxy/node/reloader.hpp"
#include "proxy/node/service_notices.hpp"
#include "proxy/node/settings_in_effect.hpp"
#include "proxy/node/worker.hpp"
#include "proxy/telemetry/barrier_handler.hpp"
#include "proxy/tls/tls_contexts.hpp"
#include "proxy/upstream/span_exporter.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds kReopenDeadline{2};  // AccessLog::kPatience, and time for the disk
constexpr std::chrono::seconds kLastSpans{2};       // for the collector to take them
constexpr std::chrono::seconds kEndingTakes{5};     // at most, after the drain time

/// Names the calling thread and blocks SIGPIPE on it: sendfile() has no flag against that signal,
/// and an embedding process need not ignore it.
void enter_thread(const char* name) {
    ::pthread_setname_np(::pthread_self(), name);
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

/// Reads the files that the configuration names.
WatchedFiles files_of(LoadedConfig& config) {
    auto read = load_files(config);
    if (!read.errors.empty())
        throw std::runtime_error(read.errors.front().path + ": " + read.errors.front().message);
    return std::move(read.files);
}

}  // namespace

class Node::Impl final : public ControlQueue::EventHandler, public NodeControl {
    using Whom = protocol::Cluster::Whom;

public:
    Impl(std::shared_ptr<const LoadedConfig> config, WatchedFiles files, std::filesystem::path file,
         ServiceManager manager, std::shared_ptr<const RecentErrors> errors)
        : config_(std::move(config), std::move(files)),
          cluster_(control_, *config_, cluster_hooks()),
          cache_(*config_, cluster_->key_hasher(), queue_,
                 [this](const auto& directory) { return cluster_.restore_secret(directory); }),
          invalidations_(control_, config_->node, cluster_, cache_),
          clients_(*config_, queue_),
          notices_(manager, config_, cluster_, clients_),
          settings_(parts()),
          reloader_(control_, std::move(file), settings_, notices_),
          observer_(parts(), std::move(errors)),
          housekeeping_(parts(), queue_, invalidations_, notices_),
          drain_(parts()) {
        make_workers();
        if (config_->admin)
            admin_.emplace(control_, config_->admin->listen, *this, clients_.faults);
        invalidations_.open_journals(*config_);
        if (cache_.store.disk()) {
            cluster_.begin_import();
            if (config_->cluster)
                cache_.cooperation.awaited_orders.begin(std::chrono::steady_clock::now());
        }
        reloader_.watch_files();
        cluster_->start();
        ports_ = {workers_.front()->acceptor.port(), cluster_->link_port(),
                  admin_ ? admin_->port() : std::uint16_t{0}};
    }

    ~Impl() {
        stop();
        join();
    }

    void note_warnings(const std::vector<ConfigError>& warnings) {
        reloader_.note_warnings(warnings);
    }

    void start() {
        if (admin_) admin_->start();
        exporter_.start();
        housekeeping_.start();
        observer_.start();
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
            notices_.watch(control_, workers_);
        });
    }

    /// The workers stop even if the control thread is busy.
    void stop() {
        parts().each_worker(&Worker::stop);
        queue_.push(StopOrdered{});
    }

    void join() {
        for (auto& thread : threads_)
            if (thread.joinable()) thread.join();
        clients_.authenticator.close();  // its thread knows coroutines of the workers
        clients_.leaves.close();         // as does this one
        housekeeping_.close();
        cache_.close();
        invalidations_.close();
        observer_.close();
    }
    void leave_memory() { cache_.store.leave_memory(); }

    NodeStatus wait_for_status() {
        return asio::co_spawn(control_, status(), asio::use_future).get();
    }

    NodeEvents& events() { return queue_; }
    AccessLog& access_log() { return clients_.access_log; }
    /// The bound ports; 0: none.
    struct Ports {
        std::uint16_t proxy = 0, link = 0, admin = 0;
    };
    const Ports& ports() const { return ports_; }

private:
    NodeParts parts() {
        return {config_, cluster_, control_, cache_, clients_, workers_, exporter_};
    }

    void make_workers() {
        for (const auto fd : base::listen_shared(config_->listen, config_->workers))
            workers_.push_back(std::make_unique<Worker>(cache_, clients_, config_, fd));
        if (!config_->tls) return;
        auto worker = workers_.begin();
        for (const auto fd : base::listen_shared(config_->tls->listen, config_->workers))
            (*worker++)->acceptor.listen(fd, Scheme::https);
    }

    protocol::ClusterHooks cluster_hooks() {
        return {
            [this](auto view) { hand_out(std::move(view)); },
            [this](const auto& what, auto done) { invalidations_.apply(what, std::move(done)); },
            [this](const auto& node, const auto& renewals) {
                cache_.cooperation.renewals.note(node, renewals, base::wall_ms(),
                                                 std::chrono::steady_clock::now() + base::slept());
            }};
    }

    // Events of the queue.
    void happened(NodeEvent event) override {
        std::visit([this](auto& each) { handle(std::move(each)); }, event);
    }

    void handle(const LocalInvalidation& here) { invalidations_.tell_peers(here.what); }
    void handle(const LocalRenewal& here) { cluster_->tell(here.what, here.at, here.peers); }
    void handle(PurgeRequested request) { invalidations_.purge(std::move(request)); }
    void handle(ReloadOrdered) { reloader_.reload("HUP"); }

    void handle(DrainOrdered) {
        if (!settings_.close()) return;
        spdlog::info("draining, for at most {:.1f} s",
                     std::chrono::duration<double>(config_->timeouts.drain).count());
        notices_.draining(config_->timeouts.drain + kEndingTakes);
        drain_.begin([this] { stop(); });
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
    std::shared_ptr<const LoadedConfig> config() override { return config_.share(); }
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
        auto explaining = explain_url(*workers_.front(), control_, std::move(key));
        auto explained = co_await std::move(explaining);
        if (!explained || explained->origin.site.empty()) co_return explained;
        // One worker has explained the URL; the fault is what all of them have seen.
        const auto now = co_await observer_.status();
        for (const auto& each : now.answers)
            if (each.site == explained->origin.site) explained->origin.fault = each.fault;
        co_return explained;
    }

    /// The log's own thread opens it, because a disk or the reader of a pipe may hang.
    asio::awaitable<std::string> reopen_logs() override {
        const auto reply = std::make_shared<base::AwaitedValue<std::string>>(
            std::make_shared<base::Wakeup>(control_.get_executor()));
        clients_.access_log.reopen([reply](const std::string& why_not) { reply->give(why_not); });
        const auto in_time =
            co_await reply->wait_until(std::chrono::steady_clock::now() + kReopenDeadline);
        if (in_time) co_return reply->value();
        co_return "opening the access log takes long; the error log will say how it ended";
    }

    void hand_out(std::shared_ptr<const protocol::PeerView> view) {
        if (!config_->cluster) return;
        auto& awaited = cache_.cooperation.awaited_orders;
        if (awaited.pending() && cluster_.is_complete()) awaited.end();
        for (auto& worker : workers_) {
            const bool probes = worker == workers_.front();  // one probe of a new peer is enough
            asio::post(worker->io,
                       [&worker = *worker, view, probes] { worker.set_peers(view, probes); });
        }
    }

    void end_control() {
        drain_.end();
        notices_.unwatch();
        housekeeping_.stop();
        observer_.stop();
        if (admin_) admin_->stop();
        exporter_.stop();
        cluster_->stop();
        keep_.reset();
    }

    asio::awaitable<NodeStatus> status() override {
        auto status = co_await observer_.status();
        status.config = reloader_.status();
        status.config.admin_token = config_->admin && !config_->admin->token.empty();
        co_return status;
    }
    asio::awaitable<ClusterView> cluster_view() override { return observer_.cluster_view(); }
    std::vector<HistoryPoint> history(Span span) override {
        return observer_.dashboard().history().points_so_far(span);
    }
    std::optional<std::vector<HistoryPoint>> cluster_history(const std::string& node) override {
        return observer_.cluster_history().points(node);
    }
    asio::awaitable<SiteTotals> sites() override { return observer_.dashboard().sites(); }
    asio::awaitable<TopLists> top() override { return observer_.dashboard().top(); }
    std::vector<RecentErrors::Line> recent_errors() override {
        return observer_.dashboard().errors();
    }

    // The order is that of the construction: each part refers to earlier ones. parts() also passes
    // references to later ones, which their constructors leave alone.
    ConfigInEffect config_;  // control thread, once that runs
    asio::io_context control_{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> keep_{
        control_.get_executor()};
    NodeCluster cluster_;
    ControlQueue queue_{control_, cluster_, *this};
    SharedCache cache_;
    NodeInvalidations invalidations_;
    SharedClientState clients_;
    SpanExporter exporter_{control_.get_executor(), config_, clients_.spans, cache_.windows};
    std::vector<std::unique_ptr<Worker>> workers_;
    std::optional<AdminServer> admin_;
    ServiceNotices notices_;
    SettingsInEffect settings_;
    Reloader reloader_;
    NodeObserver observer_;
    Housekeeping housekeeping_;
    Drain drain_;
    std::size_t running_workers_ = 0;  // control thread
    std::vector<std::thread> threads_;
    Ports ports_;
};

Node::Node(LoadedConfig config, std::filesystem::path file, ServiceManager manager,
           std::shared_ptr<const RecentErrors> errors, std::optional<WatchedFiles> read) {
    auto files = read ? std::move(*read) : files_of(config);
    impl_ = std::make_unique<Impl>(std::make_shared<const LoadedConfig>(std::move(config)),
                                   std::move(files), std::move(file), manager, std::move(errors));
}
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
void Node::leave_memory() {
    impl_->leave_memory();
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
    return impl_->ports().proxy;
}
std::uint16_t Node::link_port() const {
    return impl_->ports().link;
}
std::uint16_t Node::admin_port() const {
    return impl_->ports().admin;
}

}  // namespace proxy
