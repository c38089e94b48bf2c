#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "proxy/client/client_context.hpp"
#include "proxy/http/range.hpp"
#include "proxy/storage/body_reader.hpp"

namespace proxy {

/// A fetch keeps its own deadlines; this one only bounds waiting for one that is no more.
inline constexpr std::chrono::minutes kFollowAtMost{10};

inline constexpr std::size_t kBuffersPerSend = 64;

/// Do the conditions of the client's request make a 304 of this response (RFC 9110 §13.2)?
bool not_modified(const ClientContext& client, const StoredMetadata& response);

/// What of a body of `length` bytes the client's Range asks for (RFC 9110 §14.2); the whole when
/// the length is not known.
RangeAnswer wanted_part(const ClientContext& client, const StoredMetadata& response,
                        std::optional<std::uint64_t> length);
/// As ClientContext::compose, for 206: the head of the whole response, which is `length` long.
void compose_part(ClientContext& client, const std::string& stored_head, const LiveFields* live,
                  std::optional<std::chrono::seconds> age, const CacheStatus& status,
                  const ByteRange& range, std::uint64_t length);

/// What is stored had to be read from the disk for this request, or is sent from there.
bool comes_from_disk(const ClientContext& client, const StoredResponse& response);

// Each sends one answer and fills in the transaction; true when the connection can carry another
// request.

/// A complete response or the part that was asked for, or 304, or 416. `key`: of the store's entry,
/// which for a block is not the client's.
boost::asio::awaitable<bool> send_stored(ClientContext& client, const StoredResponse& response,
                                         const CacheStatus& status, summary::KeyHash key);
/// 304 in place of `response`; `age` empty: it comes straight from its origin. `live`: as for
/// ClientContext::compose.
boost::asio::awaitable<bool> send_not_modified(ClientContext& client,
                                               const StoredMetadata& response,
                                               const LiveFields* live,
                                               std::optional<std::chrono::seconds> age,
                                               const CacheStatus& status);
/// 416 for a body of `length` bytes.
boost::asio::awaitable<bool> send_unsatisfiable(ClientContext& client, std::uint64_t length,
                                                const CacheStatus& status);
/// Sends one body, or a part of one, behind the head that `client` has composed, and books it. One
/// coroutine; what it is made of must outlive it.
class BodySender {
public:
    struct What {
        Framing framing = Framing::length;
        /// So many bytes from the reader's position on; empty: all that come.
        std::optional<std::uint64_t> bytes;
        bool fetched = false;               // for this request, so it is no hit
        Source stored_in = Source::memory;  // if it is one; what was read from the disk for it
        /// The store's key of what stands there: as long as the client takes its time, nothing else
        /// needs to be evicted for it in vain.
        std::optional<summary::KeyHash> stored_as;
    };

    BodySender(ClientContext& client, BodyReader& body, What what)
        : client_(client), body_(body), what_(what) {
        if (what.framing == Framing::chunked || client.connection.tls()) body.give_bytes_only();
    }

    /// As much as goes out without waiting: of most bodies that are stored that is all, and needs
    /// no coroutine. True when it was; else run() does the rest.
    bool send_now();
    /// All that is left. False when the connection cannot go on: the client is gone, or the body
    /// has broken off, as a short one is never passed as whole.
    boost::asio::awaitable<bool> run();

private:
    enum class Step : std::uint8_t { go_on, blocked, starved, done, broken_off, client_gone };

    void frame(std::size_t at);
    bool send_piece();
    boost::asio::awaitable<bool> send_rest();
    void piece_sent(bool whole);

    ClientContext& client_;
    BodyReader& body_;
    What what_;
    Step step_ = Step::go_on;
    BodyPiece piece_;    // that is being sent
    std::string chunk_;  // its framing
};

}  // namespace proxy
