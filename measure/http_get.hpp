#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <string>

namespace measure {

/// Where a program listens.
struct Address {
    std::string host, port;
    std::string text() const;  ///< host:port, an IPv6 address in brackets
};

/// Takes `http://host:port`, `http://host:port/` or `host:port` apart (port 80 when absent). Throws
/// std::invalid_argument that names the text when it is none of these.
Address parse_address(const std::string& text);

struct HttpAnswer {
    unsigned status = 0;
    std::string body;
};

inline constexpr std::size_t kMaxAdminAnswerBytes = 64 * 1024 * 1024;

/// One GET on a connection of its own; blocks at most `timeout`. For admin
/// pages, not for load. Any thread.
boost::system::result<HttpAnswer> http_get(const Address&, const std::string& target,
                                           std::chrono::milliseconds timeout);

}  // namespace measure
