#include "proxy/client/http2_tunnel.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstddef>

#include "base/text/base64.hpp"
#include "base/tls/crypto.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/response_head.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

namespace {

/// Tunnels have a deadline of their own (timeouts.tunnel_idle).
constexpr auto kNoDeadline = Clock::time_point::max();
constexpr std::size_t kKeyBytes = 16;

/// Sec-WebSocket-Accept for a key (RFC 6455 §4.2.2).
std::string accept_for(std::string_view key) {
    auto text = std::string(key).append("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha1(), nullptr);
    return base::to_base64({reinterpret_cast<const char*>(hash.data()), size});
}

/// A field of the handshake that means nothing in HTTP/2 (RFC 8441 §5).
bool is_of_handshake(const Field& line) {
    return line.id == field::upgrade || line.id == field::connection ||
           line.id == field::sec_websocket_accept || line.id == field::sec_websocket_key;
}

}  // namespace

void Http2Tunnel::begin() {
    cancelled_ = false;
    protocol_.clear();
    key_.clear();
}

void Http2Tunnel::ask_upgrade(Head& head, std::string_view protocol) {
    protocol_ = protocol;
    std::array<std::byte, kKeyBytes> random;
    base::random_bytes(random);
    key_ = base::to_base64({reinterpret_cast<const char*>(random.data()), random.size()});
    head.verb = verb::get;
    head.method = "GET";
    std::erase_if(head.fields, is_of_handshake);
    head.fields.push_back({field::connection, "Connection", "Upgrade"});
    head.fields.push_back({field::upgrade, "Upgrade", protocol_});
    head.fields.push_back({field::sec_websocket_key, "Sec-WebSocket-Key", key_});
    body_.become_tunnel();
}

asio::awaitable<bool> Http2Tunnel::open(unsigned status, FieldBlock fields) {
    std::string kept;
    std::string_view accepted;
    for (const auto& line : fields) {
        if (line.id == field::sec_websocket_accept) accepted = line.value;
        if (!is_of_handshake(line)) append_line(kept, line);
    }
    // The client has no key, so nobody else can judge the origin's answer to it.
    const auto good =
        status != 101 || !iequals(protocol_, "websocket") || accepted == accept_for(key_);
    body_.become_tunnel();
    if (good) writer_.begin_tunnel(kept);
    co_return good && !writer_.closed();
}

TunnelSide::Step Http2Tunnel::read(asio::mutable_buffer into, std::size_t& got) {
    got = body_.read(into);
    if (got > 0) return Step::done;
    if (body_.has_ended()) return Step::end;
    return writer_.closed() ? Step::failed : Step::wait_read;
}

TunnelSide::Step Http2Tunnel::write(asio::const_buffer from, std::size_t& sent) {
    sent = writer_.write_some(from);
    if (writer_.closed()) return Step::failed;
    return sent > 0 ? Step::done : Step::wait_write;
}

asio::awaitable<bool> Http2Tunnel::wait(Step step) {
    const auto reads = step != Step::wait_write;
    auto& wakeup = reads ? body_.wakeup() : writer_.wakeup();
    const auto ready = [&] {
        return writer_.closed() ||
               (reads ? body_.has_come() || body_.has_ended() : writer_.has_room());
    };
    while (!cancelled_ && !ready()) co_await wakeup.wait_until(kNoDeadline);
    co_return !cancelled_;
}

asio::awaitable<bool> Http2Tunnel::wait_for_reset() {
    while (!cancelled_ && !writer_.closed()) co_await closed_->wait_until(kNoDeadline);
    co_return !cancelled_;
}

void Http2Tunnel::cancel() {
    cancelled_ = true;
    body_.wakeup().notify();
    writer_.wakeup().notify();
    closed_->notify();
}

void Http2Tunnel::reset() {
    writer_.reset(NGHTTP2_CONNECT_ERROR);
}

}  // namespace proxy
