#pragma once

#include <chrono>
#include <string_view>

#include "proxy/http/arrival.hpp"
#include "proxy/http/message_parser.hpp"

namespace proxy {

/// A head as its sender gave it, and when (RFC 9111 §4.2.3). Views into what it was received by.
struct Received {
    const Head& head;
    WallTime request_time;  // the second in which the request left
    Arrival arrival;        // of the head
    /// Lines for the request that brought it alone, beside those of `head`.
    std::string_view own_lines = {};
    /// Another node's copy: it has judged whom that may be for.
    bool from_peer = false;
    /// From the request to the head, by a clock that nobody sets.
    std::chrono::nanoseconds took{0};
};

}  // namespace proxy
