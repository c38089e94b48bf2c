#pragma once

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proxy {

/// The head of a frame (RFC 9113 §4.1).
struct Http2FrameHead {
    std::uint8_t type = 0;
    std::uint8_t flags = 0;
    std::size_t content = 0;  // bytes of the payload; of DATA, without the padding
};

/// Finds the heads of the frames in what a client sends, preface included. nghttp2 reports only
/// frames that it does not ignore. It also judges whether a frame is one, so nothing is checked
/// here. A plain object.
class Http2FrameHeads {
public:
    /// Calls `see` with each head that is complete by these next bytes.
    template <class See>
    void read(std::string_view bytes, const See& see) {
        while (!bytes.empty()) {
            if (skip_ > 0) {
                const auto part = std::min(skip_, bytes.size());
                bytes.remove_prefix(part);
                skip_ -= part;
                continue;
            }
            head_[got_++] = static_cast<std::uint8_t>(bytes.front());
            bytes.remove_prefix(1);
            const std::size_t length = head_[0] << 16 | head_[1] << 8 | head_[2];
            const auto padded =
                head_[3] == NGHTTP2_DATA && (head_[4] & NGHTTP2_FLAG_PADDED) != 0 && length > 0;
            if (got_ < (padded ? kHead + 1 : kHead)) continue;
            const std::size_t padding = padded ? 1 + head_[kHead] : 0;
            skip_ = length - (padded ? 1 : 0);
            got_ = 0;
            see(Http2FrameHead{head_[3], head_[4], length - std::min(length, padding)});
        }
    }

private:
    static constexpr std::size_t kHead = 9, kPreface = 24;

    std::array<std::uint8_t, kHead + 1> head_{};  // the length of the padding last
    std::size_t got_ = 0;
    std::size_t skip_ = kPreface;  // bytes before the next head
};

/// DATA with fewer bytes of content is small. An upload of short lines has frames of 20 bytes and
/// more, so it may be as fast as the client likes.
inline constexpr std::size_t kHttp2SmallData = 16;

/// The price of a frame in Http2FrameBudget. A head of a request is free, because `http2.streams`
/// bounds the work for it. Small DATA costs a fraction, so that a tunnel with thousands of short
/// messages goes on.
inline double price_of(const Http2FrameHead& frame) {
    const auto ends = (frame.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    switch (frame.type) {
        case NGHTTP2_HEADERS:
            return 0;
        case NGHTTP2_CONTINUATION:
            return frame.content > 0 ? 0 : 1;
        case NGHTTP2_DATA:
            if (frame.content >= kHttp2SmallData) return 0;
            return frame.content > 0 || ends ? 1.0 / 32 : 1;
        default:
            return 1;
    }
}

}  // namespace proxy
