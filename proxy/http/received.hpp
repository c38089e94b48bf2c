#pragma once

#include <string_view>

#include "proxy/http/arrival.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy {

/// A head as its sender gave it, and when (RFC 9111 §4.2.3). Views into what it was received by.
struct Received {
    const Head& head;
    WallTime request_time;
    Arrival arrival;  // of the head
    /// Lines for the request that brought it alone, beside those of `head`.
    std::string_view own_lines = {};
    /// Another node's copy: it has judged whom that may be for.
    bool from_peer = false;
};

}  // namespace proxy
