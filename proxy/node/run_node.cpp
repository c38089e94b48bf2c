#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/async/deadline.hpp"
#include "base/text/plain_message.hpp"
#include "proxy/node/node.hpp"
#include "proxy/telemetry/error_sink.hpp"

namespace proxy {

namespace asio = boost::asio;

namespace {

/// Raises the soft limit, which is often 1024, to the hard one.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Sends the error log to standard error; standard output is for the access log. Returns its last
/// lines for the admin port.
std::shared_ptr<const RecentErrors> set_up_log(const LogConfig& config) {
    const auto colours =
        std::getenv("NO_COLOR") ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    const auto lines = std::make_shared<RecentErrors>();
    const auto to_stderr = std::make_shared<ErrorSink>(
        std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colours), STDERR_FILENO);
    const std::initializer_list<spdlog::sink_ptr> sinks{to_stderr,
                                                        std::make_shared<RecentErrorsSink>(lines)};
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("", sinks));
    spdlog::default_logger()->set_formatter(make_error_formatter(config.error_format));
    spdlog::set_level(static_cast<spdlog::level::level_enum>(config.level));
    return lines;
}

void ignore_signals() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an ordinary disk error
    std::signal(SIGUSR2, SIG_IGN);  // has no meaning here, and would end the process
}

/// `draining`: an earlier signal has begun the end of the node.
void obey(int signal, Node& node, bool& draining) {
    if (signal == SIGUSR1) {
        node.reopen_logs();
    } else if (signal == SIGHUP) {
        node.reload();
    } else if (!std::exchange(draining, true)) {
        node.drain();
    } else {
        spdlog::warn("second signal: stopping at once");
        node.stop();
    }
}

asio::awaitable<void> handle_signals(asio::signal_set& signals, Node& node) {
    for (auto draining = false;;) {
        const auto [ec, signal] = co_await signals.async_wait(base::as_result);
        if (ec) co_return;
        try {
            obey(signal, node, draining);
        } catch (const std::exception& error) {
            spdlog::error("signal {}: {}", signal, base::plain_message(error));
        }
    }
}

/// `address`, with the port that the node has bound.
std::string bound(base::HostPort address, std::uint16_t port) {
    address.port = port;
    return address.text();
}

/// The parts of a configuration that the log has about a start and an end.
struct StartedNode {
    explicit StartedNode(const Config& config)
        : name(config.node),
          proxy(config.listen),
          tls(config.tls ? ", TLS at " + config.tls->listen.text() : ""),
          admin(config.admin ? std::optional(config.admin->listen) : std::nullopt) {}

    std::string name;
    base::HostPort proxy;
    std::string tls;
    std::optional<base::HostPort> admin;
};

void log_start(const StartedNode& about, const Node& node) {
    spdlog::info(
        "node {}: proxy at {}{}, {}", about.name, bound(about.proxy, node.proxy_port()), about.tls,
        about.admin ? "admin at " + bound(*about.admin, node.admin_port()) : "no admin port");
}

}  // namespace

int run_node(LoadResult loaded, const std::filesystem::path& file, BlockedSignals& blocked) {
    auto& config = *loaded.config;
    const auto errors = set_up_log(config.log);
    ignore_signals();
    raise_descriptor_limit();
    for (const auto& each : loaded.warnings) spdlog::warn("{}: {}", each.path, each.message);
    try {
        asio::io_context main{1};
        asio::signal_set signals(main, SIGTERM, SIGINT, SIGHUP);
        signals.add(SIGUSR1);
        blocked.release();
        const StartedNode about(config);
        Node node(std::move(config), file, ServiceManager::of_this_process(), errors,
                  std::move(loaded.files));
        node.note_warnings(loaded.warnings);
        node.start();
        log_start(about, node);
        asio::co_spawn(main, handle_signals(signals, node), asio::detached);
        std::thread waiter([&] {
            node.join();
            main.stop();
        });
        main.run();
        waiter.join();
        node.leave_memory();
        spdlog::info("node {} has ended", about.name);
        return 0;
    } catch (const std::exception& error) {
        spdlog::error("{}", base::plain_message(error));
        return 1;
    }
}

}  // namespace proxy
