#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/tls/tls_session.hpp"

namespace proxy {

// Bounds of one HTTP/2 connection beside those of the configuration. A client can make it
// hold these bytes at most: for each of `http2.streams`, two times kHttp2FreeHead, kHttp2FreeBytes
// and kHttp2SmallBody; for the connection, limits.head, kHttp2Unsent, kHttp2UnsentHeads and one
// frame. limits.body_windows bounds all other bytes, which are charged to it.

/// Bytes of a request's head that are not charged to limits.body_windows. A few bytes of HPACK can
/// become a head of limits.head.
inline constexpr std::size_t kHttp2FreeHead = 4 * 1024;
/// Bytes of heads of responses that wait for the socket without a charge. With more of them the
/// node reads no further requests until the client has taken all.
inline constexpr std::size_t kHttp2UnsentHeads = 256 * 1024;

/// Bytes of a request's body that a client may send before the node has asked for more. Any client
/// may send so many before it has read a setting, and some fail with a smaller one.
inline constexpr std::size_t kHttp2FirstWindow = 65'535;  // RFC 9113 §6.9.2
/// Bytes of a body that wait here without a charge to limits.body_windows.
inline constexpr std::size_t kHttp2FreeBytes = 16 * 1024;
/// Bytes of a longer body that may wait here, all charged to limits.body_windows.
inline constexpr std::size_t kHttp2WideWindow = 256 * 1024;
/// Bytes of bodies on their way over all streams. A body that is not read holds its own window
/// alone, because this one opens again as the bytes arrive.
inline constexpr std::int32_t kHttp2ConnectionWindow = 1024 * 1024;
/// Frames that wait for the socket, in bytes. No further frame is made before they have gone.
inline constexpr std::size_t kHttp2Unsent = 16 * 1024;
/// The same, where limits.body_windows has room for them. One call of send() takes them all.
inline constexpr std::size_t kHttp2UnsentBatch = 64 * 1024;
static_assert(kHttp2UnsentBatch + kHttp2Unsent <= base::kTlsBatch);
/// Content of a DATA frame at most, so that the frame fits into one TLS record.
inline constexpr std::size_t kHttp2DataContent = 16 * 1024 - 9;
/// A response of at most so many bytes waits in memory of its stream, and its code goes on.
inline constexpr std::size_t kHttp2SmallBody = 4 * 1024;
/// A body that its early response has made useless is dropped for so long at most, and until the
/// client has sent none of it for so long. HTTP/1.1 does the same.
inline constexpr std::chrono::seconds kHttp2DropBody{30}, kHttp2DropIdle{2};
/// The end of a GET or HEAD without content may come so long after its head.
inline constexpr std::chrono::milliseconds kHttp2WaitForEnd{100};
/// Frames without a body that may wait for the socket. A client that asks for more of them than it
/// reads loses its connection.
inline constexpr std::size_t kHttp2QueuedFrames = 1000;

/// How many frames a client may send that bring neither a request nor a part of one: PING,
/// SETTINGS, PRIORITY, RST_STREAM, WINDOW_UPDATE, DATA without content, unknown frames; and frames
/// that made nghttp2 reset a stream. Each costs one, and small DATA a fraction (price_of() in
/// http2_frame_heads.hpp). The frames of responses earn some, because a client needs about
/// as many to receive them. A plain object: callers pass the time.
class Http2FrameBudget {
public:
    using Clock = std::chrono::steady_clock;

    static constexpr double kMost = 1000, kPerSecond = 50, kEarned = 2;

    /// Takes the price of a frame. False when the client has spent all.
    bool spend(Clock::time_point now, double price = 1) {
        left_ = std::min(kMost,
                         left_ + kPerSecond * std::chrono::duration<double>(now - then_).count());
        then_ = now;
        left_ -= price;
        return left_ >= 0;
    }
    void earn() { left_ = std::min(kMost, left_ + kEarned); }

private:
    double left_ = kMost;
    Clock::time_point then_{};
};

}  // namespace proxy
