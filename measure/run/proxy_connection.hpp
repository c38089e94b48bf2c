#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "measure/origin/body.hpp"
#include "measure/run/answer_kind.hpp"
#include "measure/run/failure.hpp"
#include "protocol/net/deadline.hpp"
#include "proxy/http/message_parser.hpp"
#include "proxy/net/read_buffer.hpp"

namespace measure {

/// What the answer to one request must look like.
struct Expected {
    bool is_head = false;
    /// The built-in origin's, where it is to be checked. Nothing: any body of any status below 500
    /// will do.
    std::optional<Body> body;
    std::uint64_t body_bytes = 0;
    bool from_anywhere = false;  ///< check only answers that say they are the built-in origin's
};

/// How one attempt ended.
struct Attempt {
    std::optional<Failure> failure;
    AnswerKind kind = AnswerKind::unknown;
    std::uint64_t body_bytes = 0;
    unsigned status = 0;
    bool answer_began = false;  ///< some of the answer was there when it failed
    bool verified = false;      ///< status and body were to be those of the built-in origin
    std::string node;           ///< the proxy's own name, if it gives one
    std::string detail;         ///< what it says of a failure
};

/// One keep-alive connection to a proxy and the one request under way on it. Waits end when
/// `expire` is called after the deadline (a watchdog does that for all connections, so no request
/// pays for a timer). One thread.
class ProxyConnection {
public:
    ProxyConnection(boost::asio::ip::tcp::socket socket);

    protocol::awaitable<bool> connect(const boost::asio::ip::tcp::endpoint& to,
                                      std::chrono::steady_clock::time_point deadline);
    /// Sends `request` (head and all) and reads the answer. Afterwards reusable() tells whether
    /// another may follow.
    protocol::awaitable<Attempt> exchange(std::string_view request, const Expected& expected,
                                          std::chrono::steady_clock::time_point deadline);
    bool reusable() const { return reusable_; }
    bool used() const { return used_; }
    void expire(std::chrono::steady_clock::time_point now);

private:
    protocol::awaitable<bool> read_more();
    protocol::awaitable<void> read_answer(const Expected& expected, Attempt& attempt);
    Failure lost() const { return expired_ ? Failure::timeout : Failure::cut; }

    boost::asio::ip::tcp::socket socket_;
    proxy::ReadBuffer input_;
    proxy::Head head_;
    proxy::HeadLimits limits_;
    std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
    bool reusable_ = false, used_ = false, expired_ = false, ended_ = false;
};

}  // namespace measure
