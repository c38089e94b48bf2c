#include "proxy/client/acceptor.hpp"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "base/net/plain_address.hpp"
#include "base/text/amount.hpp"
#include "proxy/client/http1_connection.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/request/client_access.hpp"
#include "proxy/request/error_response.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

/// Of one worker, at a time: connections that only a peer's token makes welcome.
constexpr std::size_t kStrangersAtMost = 64;

}  // namespace

Acceptor::Acceptor(ClientService& service, asio::io_context& io)
    : service_(service), io_(io), tasks_(io.get_executor()) {
    service_.serve_intercepted = serve_intercepted;
}

void Acceptor::listen(int acceptor_fd, Scheme scheme) {
    auto& door = doors_.emplace_back(io_.get_executor(), scheme);
    door.listener.assign(acceptor_fd);
}

void Acceptor::start() {
    for (auto& door : doors_) {
        base::Listener::Hooks hooks;
        hooks.take = [this, &door](tcp::socket&& socket, const tcp::endpoint& from) {
            take(std::move(socket), from, door.scheme);
        };
        hooks.trouble = [this](const boost::system::error_code& error, std::size_t refused) {
            if (error == asio::error::no_descriptors)
                note_refused(refused);
            else if (const auto more =
                         service_.upstream.log.admit("accept", std::chrono::steady_clock::now()))
                spdlog::error("cannot take a connection [{}]{}", error.message(), *more);
        };
        auto listening = door.listener.run(std::move(hooks));
        tasks_.spawn(std::move(listening));
    }
}

/// A fault that is thrown makes the listener pause.
void Acceptor::take(tcp::socket&& socket, const tcp::endpoint& from, Scheme scheme) {
    try {
        admit(std::move(socket), from, scheme);
    } catch (const std::exception&) {
        service_.shared.faults.note("a new connection");
        throw;
    }
}

void Acceptor::admit(tcp::socket&& socket, const tcp::endpoint& from, Scheme scheme) {
    ++service_.counters.connections_accepted;
    // A reload may have taken away what this listener needs.
    if (scheme == Scheme::https && !service_.settings.files().tls->server) return;
    AcceptedConnection client(std::move(socket), scheme, base::plain_address(from.address()));
    if (!let_in(client)) return;  // closed
    auto task = serve_client(service_, std::move(client));
    tasks_.spawn(std::move(task));
}

/// Judges by the address alone. A trusted proxy speaks for clients that are unknown as yet.
bool Acceptor::let_in(AcceptedConnection& client) {
    const auto& config = service_.config();
    if (!config.clients.trusted_proxies.contains(client.remote)) {
        if (!rights_of(config, client.remote).ask && !is_peer(client.remote) &&
            !let_in_stranger(client)) {
            show_out(std::move(client));
            return false;
        }
        client.ticket = service_.shared.addresses.take(client.remote);
    }
    ConnectionLoad load{service_.shared.connections.load(std::memory_order_relaxed),
                        service_.connections_allowed(), client.ticket.of_address(),
                        service_.share_of_address()};
    if (load.of_address > 0) --load.of_address;  // this one
    auto entered = judge_connection(load);
    if (entered != ConnectionVerdict::free && is_peer(client.remote)) {
        client.ticket = {};
        load.of_address = 0;
        entered = judge_connection(load);
    }
    if (entered != ConnectionVerdict::free) return make_room(entered, load, client);
    if (service_.shared.crowded.on() && service_.shared.crowded.over(ShortagePeriod::Clock::now()))
        spdlog::info("new connections are taken again");
    if (service_.shared.crowded_address.on())
        service_.shared.crowded_address.over(ShortagePeriod::Clock::now());
    return true;
}

/// Admits an address outside clients.allow, because it may be a peer that proves itself by its
/// first request. Such strangers are at most kStrangersAtMost.
bool Acceptor::let_in_stranger(AcceptedConnection& client) {
    if (!service_.config().cluster || client.scheme != Scheme::http) return false;
    if (service_.connections.strangers >= kStrangersAtMost &&
        !service_.make_room([](const auto& other) { return other.stranger(); }))
        return false;
    client.stranger = ScopedCount(service_.connections.strangers);
    return true;
}

bool Acceptor::make_room(ConnectionVerdict verdict, const ConnectionLoad& load,
                         const AcceptedConnection& client) {
    const auto made = service_.make_room([&](const auto& other) {
        return may_make_room(verdict, load, other.ticket().of_address(),
                             other.ticket().has_address_of(client.ticket));
    });
    const auto& limits = service_.config().limits;
    if (verdict == ConnectionVerdict::if_own_address_does) {
        if (service_.shared.crowded_address.met())
            spdlog::warn(
                "{} has {}, as many as one client may have "
                "(limits.connections_per_address): those that wait for a request make room for its "
                "new ones, else new ones are refused",
                client.remote.to_string(), base::amount(load.of_address, "connection"));
    } else if (service_.shared.crowded.met()) {
        spdlog::warn(
            "{} client connections are open: those of whoever has many that wait for a request "
            "make "
            "room, else new ones are refused (limits.connections is {}, {} descriptors are "
            "allowed)",
            load.allowed, limits.connections, descriptor_limit());
    }
    if (!made) ++service_.counters.refusals[RequestRefusal::too_many_connections];
    return made;
}

/// Is it the address of a peer that is known by one?
bool Acceptor::is_peer(const asio::ip::address& address) const {
    const auto& view = service_.upstream.peers.view();
    if (!view) return false;
    const auto text = address.to_string();
    for (std::size_t i = 0; i < view->peers.size(); ++i)
        if (view->peers[i].http.host == text) return true;
    return false;
}

/// Closes the connection behind a 403, as far as the socket takes that at once. The acceptor reads
/// nothing, so the client takes no place.
void Acceptor::show_out(AcceptedConnection client) {
    ++service_.counters.refusals[RequestRefusal::client];
    const auto who = client.remote.to_string();
    if (const auto more = shown_out_.admit("", std::chrono::steady_clock::now()))
        spdlog::info("{} may not ask (clients.allow, clients.deny): its connection is closed{}",
                     who, *more);
    if (client.scheme != Scheme::http) return;
    const auto body = explain_refused_client(RequestRefusal::client, who) + "\n";
    std::string response;
    append_status_line(response, 403);
    response.append("Content-Type: text/plain; charset=utf-8\r\nDate: ");
    append_http_date(response, wall_now());
    response.append("\r\nContent-Length: ").append(std::to_string(body.size()));
    response.append("\r\nConnection: close\r\n\r\n").append(body);
    boost::system::error_code ignored;
    client.socket.non_blocking(true, ignored);
    client.socket.send(asio::buffer(response), 0, ignored);
    client.socket.shutdown(tcp::socket::shutdown_send, ignored);
}

/// No descriptor was left: so many were closed at once.
void Acceptor::note_refused(std::size_t count) {
    if (service_.shared.crowded.met())
        spdlog::warn("no file descriptor is left: new connections are refused");
    service_.counters.connections_accepted += count;
    service_.counters.refusals[RequestRefusal::too_many_connections] += count;
}

void Acceptor::drain() {
    service_.connections.begin_drain();
    for (auto& door : doors_)
        door.listener.drain([&](tcp::socket&& socket, const tcp::endpoint& from) {
            take(std::move(socket), from, door.scheme);
        });
    tasks_.close();
    service_.connections.drain();
}

void Acceptor::stop() {
    service_.connections.begin_drain();
    for (auto& door : doors_) door.listener.close();
    tasks_.cancel();
}

}  // namespace proxy
