#include "proxy/client/acceptor.hpp"

#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "base/net/plain_address.hpp"
#include "proxy/request/client_access.hpp"
#include "proxy/request/error_response.hpp"
#include "proxy/client/http1_connection.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/tls/tls_contexts.hpp"
#include "proxy/http/wall_clock.hpp"

namespace proxy {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

namespace {

/// Of one worker, at a time: connections that only a peer's token makes welcome.
constexpr std::size_t kStrangersAtMost = 64;

}  // namespace

Acceptor::Acceptor(Frontend& frontend, asio::io_context& io)
    : frontend_(frontend), io_(io), tasks_(io.get_executor()) {
    frontend_.serve_inside = serve_inside;
}

void Acceptor::listen(int acceptor_fd, Scheme scheme) {
    auto& door = doors_.emplace_back(io_.get_executor(), scheme);
    door.listener.assign(acceptor_fd);
}

void Acceptor::start() {
    for (auto& door : doors_) {
        base::Listener::Hooks hooks;
        hooks.take = [this, &door](tcp::socket socket) {
            try {
                admit(std::move(socket), door.scheme);
            } catch (const std::exception&) {
                frontend_.shared.faults.note("a new connection");
                throw;  // the listener pauses
            }
        };
        hooks.trouble = [this](const boost::system::error_code& error, std::size_t refused) {
            if (error == asio::error::no_descriptors)
                note_refused(refused);
            else if (const auto more =
                         frontend_.upstream.log.admit("accept", std::chrono::steady_clock::now()))
                spdlog::error("cannot take a connection [{}]{}", error.message(), *more);
        };
        auto listening = door.listener.run(std::move(hooks));
        tasks_.spawn(std::move(listening));
    }
}

void Acceptor::admit(tcp::socket socket, Scheme scheme) {
    ++frontend_.counters.connections_accepted;
    // A reload may have taken away what this listener needs.
    if (scheme == Scheme::https && !frontend_.settings.files().tls->server) return;
    boost::system::error_code gone;
    const auto remote = socket.remote_endpoint(gone);
    if (gone) return;
    Admitted client(std::move(socket), scheme, base::plain_address(remote.address()));
    if (!let_in(client)) return;  // closed
    auto task = serve_client(frontend_, std::move(client));
    tasks_.spawn(std::move(task));
}

/// Judges by the address alone. A trusted proxy speaks for clients that are unknown as yet.
bool Acceptor::let_in(Admitted& client) {
    const auto& config = frontend_.config();
    if (!config.clients.trusted_proxies.contains(client.remote)) {
        if (!rights_of(config, client.remote).ask && !is_peer(client.remote) &&
            !let_in_stranger(client)) {
            show_out(std::move(client));
            return false;
        }
        client.ticket = frontend_.shared.addresses.take(client.remote);
    }
    Crowd crowd{frontend_.shared.connections.load(std::memory_order_relaxed),
                frontend_.connections_allowed(), client.ticket.of_address(),
                frontend_.share_of_address()};
    if (crowd.of_address > 0) --crowd.of_address;  // this one
    auto entered = entrance(crowd);
    if (entered != Entrance::free && is_peer(client.remote)) {
        client.ticket = {};
        crowd.of_address = 0;
        entered = entrance(crowd);
    }
    if (entered != Entrance::free) return make_room(entered, crowd, client);
    if (frontend_.shared.crowded.on() && frontend_.shared.crowded.over(Episode::Clock::now()))
        spdlog::info("new connections are taken again");
    if (frontend_.shared.crowded_address.on())
        frontend_.shared.crowded_address.over(Episode::Clock::now());
    return true;
}

/// Admits an address outside clients.allow, because it may be a peer that proves itself by its
/// first request. Such strangers are at most kStrangersAtMost.
bool Acceptor::let_in_stranger(Admitted& client) {
    if (!frontend_.config().cluster || client.scheme != Scheme::http) return false;
    if (frontend_.strangers >= kStrangersAtMost &&
        !frontend_.make_room([](const auto& other) { return other.stranger(); }))
        return false;
    client.stranger = Counted(frontend_.strangers);
    return true;
}

bool Acceptor::make_room(Entrance entrance, const Crowd& crowd, const Admitted& client) {
    const auto made = frontend_.make_room([&](const auto& other) {
        return may_make_room(entrance, crowd, other.ticket().of_address(),
                             other.ticket().has_address_of(client.ticket));
    });
    const auto& limits = frontend_.config().limits;
    if (entrance == Entrance::if_own_address_does) {
        if (frontend_.shared.crowded_address.met())
            spdlog::warn(
                "{} has {} connections, as many as one client may have "
                "(limits.connections_per_address): those that wait for a request make room for its "
                "new ones, else new ones are refused",
                client.remote.to_string(), crowd.of_address);
    } else if (frontend_.shared.crowded.met()) {
        spdlog::warn(
            "{} client connections are open: those of whoever has many that wait for a request "
            "make "
            "room, else new ones are refused (limits.connections is {}, {} descriptors are "
            "allowed)",
            crowd.allowed, limits.connections, descriptor_limit());
    }
    if (!made) ++frontend_.counters.refusals[RequestRefusal::too_many_connections];
    return made;
}

/// Is it the address of a peer that is known by one?
bool Acceptor::is_peer(const asio::ip::address& address) const {
    const auto& view = frontend_.upstream.peers.view();
    if (!view) return false;
    const auto text = address.to_string();
    for (std::size_t i = 0; i < view->peers.size(); ++i)
        if (view->peers[i].http.host == text) return true;
    return false;
}

/// Closes the connection behind a 403, as far as the socket takes that at once. The acceptor reads
/// nothing, so the client takes no place.
void Acceptor::show_out(Admitted client) {
    ++frontend_.counters.refusals[RequestRefusal::client];
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
    if (frontend_.shared.crowded.met())
        spdlog::warn("no file descriptor is left: new connections are refused");
    frontend_.counters.connections_accepted += count;
    frontend_.counters.refusals[RequestRefusal::too_many_connections] += count;
}

void Acceptor::drain() {
    frontend_.begin_drain();
    for (auto& door : doors_)
        door.listener.drain([&](tcp::socket socket) { admit(std::move(socket), door.scheme); });
    tasks_.close();
    frontend_.drain();
}

void Acceptor::stop() {
    frontend_.begin_drain();
    for (auto& door : doors_) door.listener.close();
    tasks_.cancel();
}

}  // namespace proxy
