#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <string_view>

#include "proxy/request/transaction.hpp"

namespace proxy {

/// The place that a request is for, as the rules about access see it.
struct AccessTarget {
    std::string_view host;
    std::uint16_t port = 0;
    /// It is a target of the forward proxy, so authentication and destinations apply.
    bool forward = false;
};

/// Admits a client's request by `clients.limits`, `forward.authentication` and
/// `forward.destinations`, and waits until its client's bandwidth has room. Request::share counts
/// the request from here on. Takes Proxy-Authorization out of the head: nobody behind this reads
/// it. False: the request was refused, or its client has left. Precondition:
/// LoadedConfig::judges_clients.
boost::asio::awaitable<bool> admit_request(Transaction& transaction, AccessTarget place);

/// A password may come over this connection.
constexpr bool may_carry_password(bool encrypted, bool from_this_host, bool in_clear) {
    return encrypted || from_this_host || in_clear;
}

}  // namespace proxy
