#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "proxy/request/transaction.hpp"
#include "proxy/storage/body_reader.hpp"

namespace proxy {

/// A fetch has deadlines of its own. This one bounds the wait for a fetch that is no more.
inline constexpr std::chrono::minutes kFollowAtMost{10};
/// A client may have yet to take bytes from the kernel. It is looked at so often, until it has.
inline constexpr std::chrono::milliseconds kLookForTaken{100};
/// A client that takes bytes as fast as they come gets about so many in one turn of the worker.
/// Then other clients have their turn.
inline constexpr std::uint64_t kTurnBytes = 1024 * 1024;

/// Sends a body, or a part of one, behind a response that has begun, and notes in the statistics
/// where its bytes came from. One coroutine; the transaction, and what `body` reads, outlive it.
class BodySender {
public:
    struct What {
        /// The bytes to send from the reader's position on. Empty: all that come.
        std::optional<std::uint64_t> bytes;
        bool fetched = false;               // for this request, so it is no hit
        Source stored_in = Source::memory;  // if it is a hit; disk: what was read from there for it
        /// The store's key of the body. While the client takes its time, the store keeps the object
        /// and need not evict others in vain.
        std::optional<summary::KeyHash> stored_as;
    };

    BodySender(Transaction& transaction, BodyReader body, What what)
        : transaction_(transaction),
          writer_(transaction.writer),
          body_(std::move(body)),
          what_(what),
          share_(transaction.request.share.get()),
          counted_(writer_.body_bytes()) {
        if (!writer_.takes_files()) body_.give_bytes_only();
    }

    /// Sends as much as goes out without waiting, which needs no coroutine. True: that was all, as
    /// with most stored bodies. Else run() sends the rest.
    bool send_now();
    /// Sends all that is left. False: the client is gone, or the body has broken off; a short body
    /// never passes as whole.
    boost::asio::awaitable<bool> run();

private:
    enum class Step : std::uint8_t {
        go_on,
        paused,  // for other clients
        held,    // by a limit of bandwidth
        blocked,
        starved,
        done,
        broken_off,
        client_gone
    };

    void piece_sent(bool whole);
    Step go_on_or_pause();
    boost::asio::awaitable<Transaction::News> wait_for_more();
    std::uint64_t most_of_piece() const;

    Transaction& transaction_;
    ResponseWriter& writer_;
    BodyReader body_;
    What what_;
    ClientShare* const share_;  // null: the client has no limits
    Step step_ = Step::go_on;
    BodyPiece piece_;               // that is being sent
    std::uint64_t counted_;         // bytes of the response's body that the statistics have
    std::uint64_t turn_bytes_ = 0;  // since the last pause
};

}  // namespace proxy
