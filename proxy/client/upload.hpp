#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <string>

#include "proxy/client/client_context.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

/// How long an origin may take to say whether it wants a body that the client announced with
/// Expect: 100-continue; then it is sent anyway (RFC 9110 §10.1.1).
inline constexpr std::chrono::milliseconds kExpectPatience{1000};
/// How long an origin that has answered may then take none of the body before the rest is dropped.
inline constexpr std::chrono::seconds kAnsweredPatience{2};
/// So much of a body is kept until its answer comes, if its connection may turn out to be closed.
/// More than is sent in a round trip, after which that shows.
inline constexpr std::size_t kKeptBodyBytes = 64 * 1024;

/// The body of one request on its way from the client to the origin, in bounded memory, and what
/// the origin says before its end. One for each exchange, on the thread of its worker; both outlive
/// it. The request's head has been sent. Errors are those of the exchange, or `abandoned` when the
/// body cannot be had from the client.
class Upload {
public:
    Upload(ClientContext& client, Exchange& exchange);
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    /// An interim answer to the client, if its version knows them; a 100 only once.
    boost::asio::awaitable<void> pass_on(const Head& interim);

    /// Waits until the origin wants the body, or has answered without it, or has said nothing for
    /// so long that client and body go on.
    boost::asio::awaitable<FetchError> await_consent();
    /// As much of it as the origin wants; what is kept first.
    boost::asio::awaitable<FetchError> send_body();

    /// From here on what is sent is kept for another connection, up to kKeptBodyBytes, and charged
    /// to limits.body_windows. Once is enough: what is sent again is not kept.
    void keep_for_another();
    /// All that was taken from the client is kept, or nothing was.
    bool kept_all() const { return kept_all_; }
    void forget();

    /// The exchange has the head of an answer that came before the body's end.
    bool answered() const { return answered_; }
    /// What went wrong with one that began to come.
    FetchError early_error() const { return early_error_; }
    /// It was sent to its end before the answer came. Else who answered may take what comes next on
    /// this connection for a part of the body, or the other way round.
    bool sent_whole() const { return sent_whole_; }
    /// The client has left, or what it sent is no body.
    bool client_gone() const { return client_gone_; }
    bool malformed() const { return malformed_; }

private:
    boost::asio::awaitable<void> send_interim();
    void listen();
    boost::asio::awaitable<bool> hear();
    bool take_piece(std::string& out);
    void keep(std::string_view piece);

    ClientContext& client_;
    Exchange& exchange_;
    const Config& config_;
    std::string interim_;
    bool continued_ = false;                     // the client was told to send its body
    bool answered_ = false;                      // before the body's end
    FetchError early_error_ = FetchError::none;  // in place of such an answer
    bool sent_whole_ = false;
    bool keeping_ = false;
    bool kept_all_ = true;
    std::string kept_;  // as it went out
    Charge kept_charge_;
    bool client_gone_ = false;
    bool malformed_ = false;
};

}  // namespace proxy
