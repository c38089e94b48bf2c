#include "tests/cluster/http2_client.hpp"

#include <algorithm>
#include <chrono>

namespace proxy::test {
namespace {

constexpr std::size_t kFrameHead = 9;
// RFC 9113 §6.5.2, §6.9.2.
constexpr std::uint16_t kInitialWindow = 4;
constexpr std::uint64_t kWindow = 65'535;
constexpr std::size_t kFrameBytes = 16'384;
constexpr std::chrono::milliseconds kStalled{200};
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

std::string big_endian(std::uint64_t value, unsigned bytes) {
    std::string out;
    while (bytes-- > 0) out.push_back(static_cast<char>(value >> (8 * bytes) & 0xff));
    return out;
}

std::uint32_t number(std::string_view bytes) {
    std::uint32_t value = 0;
    for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
    return value;
}

std::uint8_t* bytes_of(const std::string& text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
}

}  // namespace

std::string Http2Client::Stream::field(std::string_view name) const {
    std::string all;
    for (const auto& [named, value] : lines)
        if (named == name) all.append(all.empty() ? "" : ", ").append(value);
    return all;
}

Http2Client::Http2Client(Socket socket, bool with_preface) : socket_(std::move(socket)) {
    if (with_preface) greet();
}

Http2Client::Http2Client(TlsEnd end) : tls_(std::move(end)) {
    greet();
}

void Http2Client::greet() {
    send(kPreface);
    send_frame(kSettings, 0, 0, {});
}

bool Http2Client::send(std::string_view bytes) {
    return tls_ ? tls_->send(bytes) : socket_.send(bytes);
}

Http2Client::Lines Http2Client::lines(std::string_view method, std::string_view path,
                                      const Lines& more) {
    Lines all{{":method", std::string(method)},
              {":scheme", "http"},
              {":authority", "origin.test"},
              {":path", std::string(path)}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

Http2Client::Lines Http2Client::get(std::string_view path, const Lines& more) {
    return lines("GET", path, more);
}

std::string Http2Client::encode(const Lines& lines) {
    if (!deflater_) {
        nghttp2_hd_deflater* made = nullptr;
        nghttp2_hd_deflate_new(&made, 4096);
        deflater_.reset(made);
    }
    std::vector<nghttp2_nv> all;
    for (const auto& [name, value] : lines)
        all.push_back(
            {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    std::string out(nghttp2_hd_deflate_bound(deflater_.get(), all.data(), all.size()), '\0');
    const auto size =
        nghttp2_hd_deflate_hd(deflater_.get(), bytes_of(out), out.size(), all.data(), all.size());
    out.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return out;
}

std::int32_t Http2Client::begin(const Lines& lines, bool ends) {
    const auto stream = std::exchange(next_stream, next_stream + 2);
    send_frame(kHeaders, static_cast<std::uint8_t>(kEndHeaders | (ends ? kEndStream : 0)), stream,
               encode(lines));
    return stream;
}

void Http2Client::send_frame(std::uint8_t type, std::uint8_t flags, std::int32_t stream,
                             std::string_view payload) {
    auto frame = big_endian(payload.size(), 3);
    frame.push_back(static_cast<char>(type));
    frame.push_back(static_cast<char>(flags));
    frame.append(big_endian(static_cast<std::uint32_t>(stream), 4)).append(payload);
    send(frame);
}

void Http2Client::send_data(std::int32_t stream, std::string_view bytes, bool ends) {
    send_frame(kData, ends ? kEndStream : 0, stream, bytes);
    data_sent_ += bytes.size();
}

bool Http2Client::send_body(std::int32_t id, std::string_view body,
                            const std::function<void()>& stalled) {
    const auto& stream = streams[id];
    const auto first = settings.contains(kInitialWindow) ? settings[kInitialWindow] : kWindow;
    for (std::size_t sent = 0; sent < body.size();) {
        if (stream.reset || closed) return false;
        const auto allowed = std::min(first + windows[id] - sent, kWindow + window - data_sent_);
        const auto piece = std::min<std::size_t>({allowed, kFrameBytes, body.size() - sent});
        if (piece > 0) {
            send_data(id, body.substr(sent, piece), sent + piece == body.size());
            sent += piece;
            continue;
        }
        if (stalled && input_.empty() && !socket_.readable(kStalled)) stalled();
        if (!read_frame()) return false;
    }
    return true;
}

void Http2Client::send_window_update(std::int32_t stream, std::uint32_t bytes) {
    send_frame(kWindowUpdate, 0, stream, big_endian(bytes, 4));
}

void Http2Client::send_reset(std::int32_t stream, std::uint32_t code) {
    send_frame(kReset, 0, stream, big_endian(code, 4));
}

bool Http2Client::receive() {
    const auto more = tls_ ? tls_->receive(input_) : socket_.receive(input_);
    if (!more) closed = true;
    return more;
}

bool Http2Client::read_frame() {
    while (input_.size() < kFrameHead)
        if (!receive()) return false;
    const std::string_view head = std::string_view(input_).substr(0, kFrameHead);
    const auto size = number(head.substr(0, 3));
    const auto type = static_cast<std::uint8_t>(head[3]);
    const auto flags = static_cast<std::uint8_t>(head[4]);
    const auto id = static_cast<std::int32_t>(number(head.substr(5)) & 0x7fffffff);
    while (input_.size() < kFrameHead + size)
        if (!receive()) return false;
    const auto payload = input_.substr(kFrameHead, size);
    input_.erase(0, kFrameHead + size);
    auto& stream = streams[id];
    switch (type) {
        case kData:
            stream.body.append(payload);
            if (opens_windows && size > 0) {
                send_window_update(0, size);
                if ((flags & kEndStream) == 0) send_window_update(id, size);
            }
            break;
        case kHeaders:
        case kContinuation:
            block_.append(payload);
            if ((flags & kEndHeaders) != 0) take_head(id, std::exchange(block_, {}));
            break;
        case kReset:
            stream.reset = number(payload);
            break;
        case kSettings:
            for (std::size_t at = 0; at + 6 <= payload.size(); at += 6)
                settings[static_cast<std::uint16_t>(number(payload.substr(at, 2)))] =
                    number(payload.substr(at + 2, 4));
            if ((flags & kAck) == 0) send_frame(kSettings, kAck, 0, {});
            break;
        case kPing:
            if ((flags & kAck) == 0) send_frame(kPing, kAck, 0, payload);
            break;
        case kGoaway:
            last_stream = static_cast<std::int32_t>(number(payload.substr(0, 4)));
            goaway = number(payload.substr(4, 4));
            break;
        case kWindowUpdate:
            (id == 0 ? window : windows[id]) += number(payload);
            break;
        default:
            break;
    }
    const auto may_end = type == kData || type == kHeaders;
    if (may_end && (flags & kEndStream) != 0) stream.ended = true;
    last_type_ = type;
    return true;
}

void Http2Client::take_head(std::int32_t id, std::string_view block) {
    if (!inflater_) {
        nghttp2_hd_inflater* made = nullptr;
        nghttp2_hd_inflate_new(&made);
        inflater_.reset(made);
    }
    auto& stream = streams[id];
    stream.lines.clear();
    for (;;) {
        nghttp2_nv line{};
        int flags = 0;
        const auto used = nghttp2_hd_inflate_hd2(
            inflater_.get(), &line, &flags, reinterpret_cast<const std::uint8_t*>(block.data()),
            block.size(), 1);
        if (used < 0) return;
        block.remove_prefix(static_cast<std::size_t>(used));
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
            stream.lines.emplace_back(
                std::string(reinterpret_cast<const char*>(line.name), line.namelen),
                std::string(reinterpret_cast<const char*>(line.value), line.valuelen));
        if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    }
    nghttp2_hd_inflate_end_headers(inflater_.get());
    const auto status = static_cast<unsigned>(std::stoul("0" + stream.field(":status")));
    if (status >= 100 && status < 200)
        stream.interims.push_back(status);
    else
        stream.status = status;
}

const Http2Client::Stream& Http2Client::response(std::int32_t id) {
    auto& stream = streams[id];
    while (!stream.ended && !stream.reset && read_frame()) continue;
    return stream;
}

const Http2Client::Stream& Http2Client::read_body(std::int32_t id, std::size_t bytes) {
    auto& stream = streams[id];
    while (stream.body.size() < bytes && !stream.ended && !stream.reset && read_frame()) continue;
    return stream;
}

bool Http2Client::read_until(std::uint8_t type) {
    do
        if (!read_frame()) return false;
    while (last_type_ != type);
    return true;
}

bool Http2Client::read_to_end() {
    while (read_frame()) continue;
    return closed;
}

}  // namespace proxy::test
