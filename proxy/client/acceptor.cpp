#include "proxy/client/acceptor.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "proxy/client/client_session.hpp"
#include "proxy/net/tls_contexts.hpp"

namespace proxy {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

Acceptor::Acceptor(Frontend& frontend, asio::io_context& io)
    : frontend_(frontend), io_(io), tasks_(io.get_executor()) {}

void Acceptor::listen(int acceptor_fd, Scheme scheme) {
    auto& place = places_.emplace_back(io_.get_executor(), scheme);
    place.listener.assign(acceptor_fd);
}

void Acceptor::start() {
    for (auto& place : places_) {
        protocol::Listener::Hooks hooks;
        hooks.take = [this, &place](tcp::socket socket) { admit(std::move(socket), place.scheme); };
        hooks.trouble = [this](const boost::system::error_code& error, std::size_t refused) {
            if (error == asio::error::no_descriptors) note_refused(refused);
        };
        auto listening = place.listener.run(std::move(hooks));
        tasks_.spawn(std::move(listening));
    }
}

void Acceptor::admit(tcp::socket socket, Scheme scheme) {
    ++frontend_.counters.connections_accepted;
    const auto allowed = std::min<std::uint64_t>(frontend_.config().limits.connections,
                                                 frontend_.shared.connections_possible);
    if (frontend_.shared.connections.load(std::memory_order_relaxed) >= allowed) {
        ++frontend_.counters.refusals[RequestRefusal::too_many_connections];
        if (frontend_.shared.crowded.met())
            spdlog::warn(
                "{} client connections are open: new ones are refused "
                "(limits.connections is {}, {} descriptors are allowed)",
                allowed, frontend_.config().limits.connections, descriptor_limit());
        return;  // closed
    }
    if (frontend_.shared.crowded.on() && frontend_.shared.crowded.over(Episode::Clock::now()))
        spdlog::info("new connections are taken again");
    // A reload may have taken away what this listener needs.
    if (scheme == Scheme::https && !frontend_.config().tls_contexts->server) return;
    auto task = serve_client(frontend_, std::move(socket), scheme);
    tasks_.spawn(std::move(task));
}

/// No descriptor was left: so many were closed at once.
void Acceptor::note_refused(std::size_t count) {
    if (frontend_.shared.crowded.met())
        spdlog::warn("no file descriptor is left: new connections are refused");
    frontend_.counters.connections_accepted += count;
    frontend_.counters.refusals[RequestRefusal::too_many_connections] += count;
}

void Acceptor::drain() {
    frontend_.begin_drain();
    for (auto& place : places_)
        place.listener.drain([&](tcp::socket socket) { admit(std::move(socket), place.scheme); });
    tasks_.close();
    frontend_.drain();
}

void Acceptor::stop() {
    frontend_.begin_drain();
    for (auto& place : places_) place.listener.close();
    tasks_.cancel();
}

}  // namespace proxy
