#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <string>

#include "protocol/net/host_port.hpp"

namespace measure {

using protocol::HostPort;

struct HttpAnswer {
    unsigned status = 0;
    std::string body;
    std::string via;  // whom it has passed, as the field says
};

inline constexpr std::size_t kMaxAdminAnswerBytes = 64 * 1024 * 1024;

/// What $HEARSAY_ADMIN_TOKEN says, empty when it is not set: for admin ports that ask for a token.
/// Not an option of the commands, as everybody on a machine can read those.
std::string admin_token();

/// One GET on a connection of its own, with the token if there is one; blocks at most `timeout`.
/// For admin pages, not for load. Any thread.
boost::system::result<HttpAnswer> http_get(const HostPort&, const std::string& target,
                                           std::chrono::milliseconds timeout,
                                           const std::string& token = {});

/// The same as a POST with a body of JSON, or with none.
boost::system::result<HttpAnswer> http_post(const HostPort&, const std::string& target,
                                            const std::string& json,
                                            std::chrono::milliseconds timeout,
                                            const std::string& token = {});

/// What stands before a request: nothing, or the header that a proxy sends on a connection of its
/// own (PROXY protocol, version 2, LOCAL).
enum class Preface { none, proxy_header };

/// A GET that a cache is to answer by itself: it asks nobody.
boost::system::result<HttpAnswer> http_get_if_cached(const HostPort&, const std::string& target,
                                                     std::chrono::milliseconds timeout,
                                                     Preface preface = Preface::none);

}  // namespace measure
