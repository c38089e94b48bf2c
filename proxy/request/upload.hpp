#pragma once

#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/request/kept_body.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/request/upload_slots.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

/// An origin has so long to ask for a body that the client has announced by Expect: 100-continue.
/// Then the body is sent anyway (RFC 9110 §10.1.1).
inline constexpr std::chrono::milliseconds kExpectPatience{1000};
/// An origin that has answered may take nothing of the body for so long before the rest is dropped.
inline constexpr std::chrono::seconds kAnsweredPatience{2};
/// The body of one request on its way from the client to the origin, in bounded memory, and the
/// answers of the origin before its end. The request's head has been sent. One object for each
/// exchange, on the thread of its worker; transaction and exchange outlive it. Errors are those of
/// the exchange, or `abandoned` when the client does not deliver the body.
class Upload {
public:
    Upload(Transaction& transaction, Exchange& exchange);
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    /// The request has a body.
    bool has_body() const { return has_body_; }
    /// The right to one upload to `origin` (take_upload_slot()). False: there is none.
    bool take_slot(const UpstreamTarget& origin);
    /// The body is not on its way any more.
    void give_slot_back() { slot_.reset(); }

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
    bool is_collected() const { return kept_.is_collected(); }
    /// The length of the body, if the client has stated it or after collect().
    std::optional<std::uint64_t> length() const {
        return is_collected() ? kept_.bytes() : body_.length();
    }

    /// From here on the bytes that are sent are kept for another connection, up to kKeptBodyBytes,
    /// and charged to limits.body_windows. Bytes that are sent again are not kept.
    void keep_for_another();
    /// Every byte that the client has delivered is kept.
    bool kept_all() const { return kept_.has_all(); }
    void forget() { kept_.forget(); }

    /// The exchange has the head of an answer that came before the body's end.
    bool answered() const { return answered_; }
    /// The error of such an answer, if it broke off.
    FetchError early_error() const { return early_error_; }
    /// The body was sent to its end before the answer came. Otherwise the origin may take the next
    /// bytes on this connection for a part of the body, or the other way round.
    bool sent_whole() const { return sent_whole_; }
    /// The client has left, or its bytes are no body.
    bool client_gone() const { return delivery_ != Delivery::goes_on; }
    bool malformed() const { return delivery_ == Delivery::malformed; }

private:
    enum class Delivery : std::uint8_t { goes_on, client_gone, malformed };

    void listen();
    boost::asio::awaitable<bool> hear();
    bool take_piece(std::string& out);

    Transaction& transaction_;
    RequestBody& body_;
    Exchange& exchange_;
    const LoadedConfig& config_;
    const bool has_body_;
    Delivery delivery_ = Delivery::goes_on;
    std::optional<UploadSlots::UploadSlot> slot_;  // while the body is on its way
    std::vector<std::string_view> pieces_;         // that have come
    bool continued_ = false;                       // the client has a 100 (Continue)
    bool answered_ = false;                        // before the body's end
    FetchError early_error_ = FetchError::none;    // in place of such an answer
    bool sent_whole_ = false;
    KeptBody kept_;
};

}  // namespace proxy
