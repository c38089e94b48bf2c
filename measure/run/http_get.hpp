#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <string>

#include "base/net/host_port.hpp"

namespace measure {

using base::HostPort;

/// A whole answer. The functions below return an error if it is longer than kMaxAdminAnswerBytes.
struct HttpAnswer {
    unsigned status = 0;
    std::string body;
    std::string via;  // the proxies it has passed, as the field lists them
    std::string content_type = {};
    std::string date = {};
};

inline constexpr std::size_t kMaxAdminAnswerBytes = 64 * 1024 * 1024;

/// The value of $HEARSAY_ADMIN_TOKEN, or an empty string. The token is no option of the commands,
/// because every user of a machine can read the arguments of processes.
std::string admin_token();

/// Sends one GET on a connection of its own, with the token if there is one. Blocks at most
/// `timeout`. Made for admin pages; too slow for load. Any thread.
boost::system::result<HttpAnswer> http_get(const HostPort&, const std::string& target,
                                           std::chrono::milliseconds timeout,
                                           const std::string& token = {});

/// The same for a POST with a body of JSON, or an empty one.
boost::system::result<HttpAnswer> http_post(const HostPort&, const std::string& target,
                                            const std::string& json,
                                            std::chrono::milliseconds timeout,
                                            const std::string& token = {});

/// The bytes before a request: none, or the header that a proxy sends on a connection of its own
/// (PROXY protocol, version 2, LOCAL).
enum class Preface { none, proxy_header };

/// Sends a GET with `only-if-cached`, so the node answers it by itself.
boost::system::result<HttpAnswer> http_get_if_cached(const HostPort&, const std::string& target,
                                                     std::chrono::milliseconds timeout,
                                                     Preface preface = Preface::none);

}  // namespace measure
