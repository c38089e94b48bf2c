#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

#include "protocol/net/plain_message.hpp"
#include "proxy/node.hpp"
#include "proxy/telemetry/error_sink.hpp"

namespace proxy {

namespace asio = boost::asio;

namespace {

/// As many descriptors as the system allows: the soft limit is often 1024.
void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int run_node(Config config, const std::filesystem::path& file, SignalsHeld& held,
             const std::vector<ConfigError>& warnings) {
    // Standard output is for the access log.
    const auto colours =
        std::getenv("NO_COLOR") ? spdlog::color_mode::never : spdlog::color_mode::automatic;
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "", std::make_shared<ErrorSink>(
                std::make_shared<spdlog::sinks::stderr_color_sink_mt>(colours), STDERR_FILENO)));
    spdlog::set_level(static_cast<spdlog::level::level_enum>(config.log.level));
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);  // a limit on files is an error of the disk like any other
    std::signal(SIGUSR2, SIG_IGN);  // means nothing here, and would end the process
    raise_descriptor_limit();
    for (const auto& each : warnings) spdlog::warn("{}: {}", each.path, each.message);
    try {
        asio::io_context main{1};
        asio::signal_set signals(main, SIGTERM, SIGINT, SIGHUP);
        signals.add(SIGUSR1);
        held.release();
        const auto node_name = config.node;
        const auto listen = config.listen.text();
        const auto admin = config.admin ? config.admin->listen.text() : std::string("none");
        const auto tls = config.tls ? ", TLS at " + config.tls->listen.text() : std::string();
        Node node(std::move(config), file, ServiceManager::of_this_process());
        node.start();
        spdlog::info("node {}: proxy at {}{}, admin at {}", node_name, listen, tls, admin);

        bool draining = false;
        std::function<void()> wait = [&] {
            signals.async_wait([&](const boost::system::error_code& ec, int signal) {
                if (ec) return;
                if (signal == SIGUSR1) {
                    node.reopen_logs();
                } else if (signal == SIGHUP) {
                    node.reload();
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
        spdlog::error("{}", protocol::plain_message(error));
        return 1;
    }
}

}  // namespace proxy
