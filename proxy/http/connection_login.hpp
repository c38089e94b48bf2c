#pragma once

#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy {

// NTLM, and what carries it: Negotiate, Nego2 and Kerberos. They authenticate a connection, not a
// request (RFC 4559 §6): after the handshake each request on it counts as its user's, without a
// field that says so. They cannot work in HTTP/2, where requests of many users may share a
// connection. Functions; any thread.

/// The request has an Authorization by such a scheme, so its connection becomes a user's.
bool logs_connection_in(Fields request);

/// A 401 that asks for it.
bool offers_connection_login(unsigned status, Fields response);

/// A value of WWW-Authenticate (RFC 9110 §11.6.1) without the challenges of such schemes; empty:
/// nothing is left.
std::string challenges_for_requests(std::string_view value);

}  // namespace proxy
