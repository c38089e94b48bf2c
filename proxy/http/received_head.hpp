#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "proxy/http/arrival.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy {

class Redirects;

/// A received head with its times (RFC 9111 §4.2.3). Views the receiver's buffer.
struct ReceivedHead {
    const Head& head;
    WallTime request_time;  // of the request's start, in whole seconds
    Arrival arrival;        // of the head
    /// Lines beside those of `head` for the client whose request fetched it.
    std::string_view own_lines = {};
    /// A copy of a peer, which has judged the clients that may get it.
    bool from_peer = false;
    /// From the request to the head, by the steady clock.
    std::chrono::nanoseconds took{0};
    /// The mark of the server in a group of `origins[].upstreams` that gave it, also through a
    /// peer; 0: of no group.
    std::uint32_t server = 0;
    /// The redirects that led to it; null: none did.
    const Redirects* redirects = nullptr;
    /// It came by a connection of one client (connection_login.hpp).
    bool of_client = false;
};

}  // namespace proxy
