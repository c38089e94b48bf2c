#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/async/deadline.hpp"
#include "base/memory/read_buffer.hpp"
#include "measure/origin/origin_body.hpp"
#include "measure/run/reported_outcome.hpp"
#include "measure/run/request_failure.hpp"
#include "proxy/http/message_parser.hpp"

namespace measure {

/// The expected answer to one request.
struct ExpectedAnswer {
    bool is_head = false;
    /// The body of the built-in origin, if it is to be verified. Without it, any body of any status
    /// below 500 is accepted.
    std::optional<OriginBody> body;
    std::uint64_t body_bytes = 0;
    bool from_anywhere = false;  ///< verify only answers that name the built-in origin
};

/// The result of one attempt.
struct Attempt {
    std::optional<RequestFailure> failure;
    ReportedOutcome outcome = ReportedOutcome::unknown;
    std::uint64_t body_bytes = 0;
    unsigned status = 0;
    bool answer_began = false;  ///< part of the answer had arrived before the failure
    bool verified = false;      ///< status and body were compared with the built-in origin's
    std::string node;           ///< name of the proxy, if it reports one
    std::string detail;         ///< `detail` of the proxy about a failure
};

/// One keep-alive connection to a proxy, and the one request in progress on it. A watchdog calls
/// `expire` for all connections, which ends waits after their deadline; so requests need no timer.
/// One thread.
class ProxyConnection {
public:
    ProxyConnection(boost::asio::ip::tcp::socket socket);

    base::awaitable<bool> connect(const boost::asio::ip::tcp::endpoint& to,
                                  std::chrono::steady_clock::time_point deadline);
    /// Sends `request` (head and all) and reads the answer. Afterwards reusable() states whether
    /// another request may follow.
    base::awaitable<Attempt> exchange(std::string_view request, const ExpectedAnswer& expected,
                                      std::chrono::steady_clock::time_point deadline);
    bool reusable() const { return reusable_; }
    void expire(std::chrono::steady_clock::time_point now);

private:
    base::awaitable<bool> read_more();
    base::awaitable<void> read_answer(const ExpectedAnswer& expected, Attempt& attempt);
    base::awaitable<std::size_t> read_head(Attempt& attempt);
    void note_head(const ExpectedAnswer& expected, Attempt& attempt) const;
    base::awaitable<bool> read_body(proxy::ResponseParser& parser, const ExpectedAnswer& expected,
                                    Attempt& attempt);
    RequestFailure lost() const { return expired_ ? RequestFailure::timeout : RequestFailure::cut; }

    boost::asio::ip::tcp::socket socket_;
    base::ReadBuffer input_;
    proxy::Head head_;
    proxy::HeadLimits limits_;
    std::chrono::steady_clock::time_point deadline_ = std::chrono::steady_clock::time_point::max();
    bool reusable_ = false, expired_ = false, ended_ = false;
};

}  // namespace measure
