#include "protocol/wire/frame.hpp"

#include <algorithm>
#include <cassert>

#include "protocol/wire/wire.hpp"

namespace protocol {
namespace {

constexpr std::size_t kReadBytes = 16 << 10;
constexpr std::size_t kIdleReadBytes =
    512;  // for a link with heartbeats alone, as most are most of the time
constexpr std::size_t kKeptBytes = 128 << 10;  // a larger buffer is given back when it is empty

/// Sets the length prefix of the frame that begins at `start`.
void finish_length(Bytes& out, std::size_t start) {
    const auto length = out.size() - start - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i) {
        out[start + i] = static_cast<std::byte>(length >> (8 * (kLengthBytes - 1 - i)));
    }
}

std::size_t begin_frame(Bytes& out, FrameType type) {
    const auto start = out.size();
    WireWriter writer(out);
    writer.u32(0);
    writer.u8(kProtocolVersion);
    writer.u8(static_cast<std::uint8_t>(type));
    return start;
}

}  // namespace

std::span<std::byte> FrameBuffer::prepare() {
    if (begin_ == end_) {
        begin_ = end_ = 0;
        const bool few = last_read_ < kIdleReadBytes && bytes_.size() > kIdleReadBytes;
        if (few || (bytes_.size() > kKeptBytes && wanted_ <= kKeptBytes)) bytes_ = {};
    }
    // The buffer grows with the received bytes, to twice as many at most, whatever length the
    // prefix gives.
    const auto received = end_ - begin_;
    const auto at_least = last_read_ < kIdleReadBytes ? kIdleReadBytes : kReadBytes;
    const auto needed = std::max(std::min(wanted_, 2 * received), received) + at_least;
    if (bytes_.size() - begin_ < needed) {
        std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  bytes_.begin() + static_cast<std::ptrdiff_t>(end_), bytes_.begin());
        end_ -= begin_;
        begin_ = 0;
        if (bytes_.size() < needed) bytes_.resize(needed);
    }
    return std::span(bytes_).subspan(end_);
}

void FrameBuffer::commit(std::size_t bytes) {
    assert(bytes <= bytes_.size() - end_);
    end_ += bytes;
    last_read_ = bytes;
}

base::Result<std::optional<base::ByteView>> FrameBuffer::next(std::size_t max_bytes) {
    const auto received = base::ByteView(bytes_).subspan(begin_, end_ - begin_);
    wanted_ = 0;
    if (received.size() < kLengthBytes) return std::optional<base::ByteView>();
    const std::size_t length = WireReader(received.first(kLengthBytes)).u32();
    if (length > max_bytes) return make_error_code(Error::frame_too_large);
    if (length < kHeadBytes) return make_error_code(Error::frame_too_short);
    if (received.size() < kLengthBytes + length) {
        wanted_ = kLengthBytes + length;
        return std::optional<base::ByteView>();
    }
    begin_ += kLengthBytes + length;
    return std::optional(received.subspan(kLengthBytes, length));
}

void seal_hello(const HelloMessage& message, Bytes& out) {
    const auto start = begin_frame(out, type_of(message));
    encode_body(message, out);
    finish_length(out, start);
}

base::Result<HelloMessage> open_hello(base::ByteView frame) {
    WireReader in(frame);
    const auto version = in.u8();
    const auto type = in.u8();
    const bool refusal = type == static_cast<std::uint8_t>(FrameType::refusal);
    if (version != kProtocolVersion && !refusal) return make_error_code(Error::wrong_version);
    return decode_hello(type, in.rest());
}

void Sealer::seal(const Message& message, Bytes& out) {
    const auto start = begin_frame(out, type_of(message));
    WireWriter(out).u64(sequence_++);
    encode_body(message, out);
    const auto covered = base::ByteView(out).subspan(start + kLengthBytes);
    const auto tag = mac_({covered});
    out.insert(out.end(), tag.begin(), tag.begin() + kTagBytes);
    finish_length(out, start);
}

base::Result<Message> Opener::open(base::ByteView frame) {
    if (frame.size() < kHeadBytes + kSequenceBytes + kTagBytes) {
        return make_error_code(Error::frame_too_short);
    }
    const auto covered = frame.first(frame.size() - kTagBytes);
    WireReader in(covered);
    const auto version = in.u8();
    const auto type = in.u8();
    const auto sequence = in.u64();
    if (version != kProtocolVersion) return make_error_code(Error::wrong_version);
    const auto expected = mac_({covered});
    if (!base::equal_in_constant_time(base::ByteView(expected).first(kTagBytes),
                                      frame.last(kTagBytes))) {
        return make_error_code(Error::bad_tag);
    }
    if (sequence != sequence_) return make_error_code(Error::bad_sequence);
    ++sequence_;
    return decode(type, in.rest());
}

}  // namespace protocol
