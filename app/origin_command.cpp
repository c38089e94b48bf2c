#include "app/origin_command.hpp"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include "app/command_line.hpp"
#include "app/fail.hpp"
#include "measure/report/numbers.hpp"
#include "measure/run/node_addresses.hpp"

namespace app {

int cannot_listen(const measure::OriginOptions& options, const boost::system::system_error& error) {
    const auto is_taken = error.code() == boost::asio::error::address_in_use;
    return fail(kFailed, "cannot listen at {}: {}{}", options.listen.text(), error.code().message(),
                is_taken ? "; another process listens there, which `ss -ltnp` shows: stop it, or "
                           "choose another address"
                         : "");
}

Command add_origin(CLI::App& app) {
    struct Options {
        std::string listen = "127.0.0.1:8000";
        measure::OriginOptions origin;
    };
    auto& command = *app.add_subcommand(
        "origin", "Runs the built-in origin, which answers any path with a body made from the URL");
    const auto options = std::make_shared<Options>();
    option(command, "--listen", "HOST:PORT", options->listen, "Address")->capture_default_str();
    option(command, "--workers", "N", options->origin.workers, "Threads")
        ->check(within(1u, 64u))
        ->capture_default_str();
    return {&command, [options] {
                try {
                    options->origin.listen = measure::parse_address(options->listen, 0);
                } catch (const std::invalid_argument& error) {
                    return fail(kUsage, "{}", error.what());
                }
                return origin_command(options->origin);
            }};
}

int origin_command(const measure::OriginOptions& options) {
    try {
        const measure::Origin origin(options);
        fmt::print(stderr, "hearsay origin: answering any path at http://{}\n",
                   base::HostPort{options.listen.host, origin.port()}.text());
        boost::asio::io_context context(1);
        boost::asio::signal_set signals(context, SIGINT, SIGTERM);
        signals.async_wait([](boost::system::error_code, int) {});
        context.run();
        fmt::print(stderr, "hearsay origin: {}, {}\n",
                   measure::amount(origin.requests(), "request"),
                   measure::amount(origin.body_bytes(), "body byte"));
        return kOk;
    } catch (const boost::system::system_error& error) {
        return cannot_listen(options, error);
    }
}

}  // namespace app
