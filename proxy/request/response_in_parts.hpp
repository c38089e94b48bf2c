#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/http/range.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/storage/stored_response.hpp"

namespace proxy {

/// The response to a request for several ranges: a 206 whose body is a multipart/byteranges (RFC
/// 9110 §14.6, §15.3.7.2). The sender of the response calls begin(), then for each part
/// begin_part() before its bytes, then end(). All of it has a stated length. Transaction and
/// response outlive this. One coroutine.
class PartsResponse {
public:
    /// `parts`: two at least, of a body of `length` bytes.
    PartsResponse(Transaction& transaction, const StoredMetadata& response,
                  std::vector<ByteRange> parts, std::uint64_t length);
    PartsResponse(const PartsResponse&) = delete;
    PartsResponse& operator=(const PartsResponse&) = delete;

    const std::vector<ByteRange>& parts() const { return parts_; }
    /// Begins the response; arguments as of begin_response().
    void begin(const LiveFields* live, std::optional<std::chrono::seconds> age,
               const CacheStatus& status);
    /// Sends the delimiter and the fields of a part. False: the client is gone.
    boost::asio::awaitable<bool> begin_part(std::size_t part);
    /// Sends the last delimiter. False: the client is gone.
    boost::asio::awaitable<bool> end();

private:
    std::string head_of(std::size_t part) const;
    std::string close_delimiter() const;  // RFC 2046 §5.1.1
    boost::asio::awaitable<bool> write(bool is_end);

    Transaction& transaction_;
    const std::vector<ByteRange> parts_;
    const std::uint64_t length_;
    std::string boundary_;
    std::string type_;    // the line of the whole body's type; empty without one
    std::string fields_;  // the other fields of the stored head
    std::string text_;    // the delimiter that is being sent
};

/// Sends these parts of a complete response that is not in blocks, and fills in the statistics. The
/// other arguments are those of respond_from_store().
boost::asio::awaitable<void> respond_in_parts(Transaction& transaction,
                                              const StoredResponse& response,
                                              std::vector<ByteRange> parts, Source stored_in,
                                              std::optional<std::chrono::seconds> age,
                                              const LiveFields* live, const CacheStatus& status);

}  // namespace proxy
