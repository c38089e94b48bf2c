#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/request/transaction.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

/// An origin has so long to ask for a body that the client has announced by Expect: 100-continue.
/// Then the body is sent anyway (RFC 9110 §10.1.1).
inline constexpr std::chrono::milliseconds kExpectPatience{1000};
/// An origin that has answered may take nothing of the body for so long before the rest is dropped.
inline constexpr std::chrono::seconds kAnsweredPatience{2};
/// So much of a body is kept until its answer comes, if its connection may turn out to be closed.
/// That is more than goes out in a round trip, after which a closed connection shows.
inline constexpr std::size_t kKeptBodyBytes = 64 * 1024;

/// The body of one request on its way from the client to the origin, in bounded memory, and the
/// answers of the origin before its end. The request's head has been sent. One object for each
/// exchange, on the thread of its worker; transaction and exchange outlive it. Errors are those of
/// the exchange, or `abandoned` when the client does not deliver the body.
class Upload {
public:
    Upload(Transaction& transaction, Exchange& exchange);
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    /// Passes an interim response to the client; a 100 only once.
    boost::asio::awaitable<void> pass_on(const Head& interim);

    /// Waits until the origin asks for the body, answers without it, or is silent for
    /// kExpectPatience, after which the body goes on.
    boost::asio::awaitable<FetchError> await_consent();
    /// Sends as much of the body as the origin takes, the kept bytes first.
    boost::asio::awaitable<FetchError> send_body();

    /// Takes the whole body, up to kKeptBodyBytes, before the request goes out, for an origin that
    /// has to be told the length. `expects`: the client waits for a 100 (Continue). False: it is
    /// longer, finds no room, or does not come.
    boost::asio::awaitable<bool> collect(bool expects);
    bool is_collected() const { return collected_.has_value(); }
    /// The length of the body, if the client has stated it or after collect().
    std::optional<std::uint64_t> length() const { return collected_ ? collected_ : body_.length(); }

    /// From here on the bytes that are sent are kept for another connection, up to kKeptBodyBytes,
    /// and charged to limits.body_windows. Bytes that are sent again are not kept.
    void keep_for_another();
    /// Every byte that the client has delivered is kept.
    bool kept_all() const { return kept_all_; }
    void forget();

    /// The exchange has the head of an answer that came before the body's end.
    bool answered() const { return answered_; }
    /// The error of such an answer, if it broke off.
    FetchError early_error() const { return early_error_; }
    /// The body was sent to its end before the answer came. Otherwise the origin may take the next
    /// bytes on this connection for a part of the body, or the other way round.
    bool sent_whole() const { return sent_whole_; }
    /// The client has left, or its bytes are no body.
    bool client_gone() const { return client_gone_; }
    bool malformed() const { return malformed_; }

private:
    void listen();
    boost::asio::awaitable<bool> hear();
    bool take_piece(std::string& out);
    void keep(std::string_view piece);

    Transaction& transaction_;
    RequestBody& body_;
    Exchange& exchange_;
    const LoadedConfig& config_;
    std::vector<std::string_view> pieces_;       // that have come
    bool continued_ = false;                     // the client has a 100 (Continue)
    bool answered_ = false;                      // before the body's end
    FetchError early_error_ = FetchError::none;  // in place of such an answer
    bool sent_whole_ = false;
    bool keeping_ = false;
    bool kept_all_ = true;
    std::string kept_;                        // as it went out
    std::optional<std::uint64_t> collected_;  // the length of all of it, in kept_
    base::Charge kept_charge_;
    bool client_gone_ = false;
    bool malformed_ = false;
};

}  // namespace proxy
