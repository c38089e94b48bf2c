#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/cluster/sockets.hpp"
#include "tests/cluster/tls_kit.hpp"

namespace proxy::test {

/// A client of HTTP/2 that sends frames as it is told, well-formed or not. Only HPACK is nghttp2's.
/// It acknowledges SETTINGS and PING by itself, and opens windows unless `opens_windows` is false.
class Http2Client {
public:
    using Lines = std::vector<std::pair<std::string, std::string>>;

    enum Type : std::uint8_t {
        kData = 0,
        kHeaders = 1,
        kPriority = 2,
        kReset = 3,
        kSettings = 4,
        kPush = 5,
        kPing = 6,
        kGoaway = 7,
        kWindowUpdate = 8,
        kContinuation = 9,
    };
    static constexpr std::uint8_t kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8;

    struct Stream {
        unsigned status = 0;
        std::vector<unsigned> interims;
        Lines lines;
        std::string body;
        bool ended = false;
        std::optional<std::uint32_t> reset;  // error code

        std::string field(std::string_view name) const;
    };

    /// Over a connection in the clear. Sends preface and SETTINGS.
    explicit Http2Client(Socket socket, bool with_preface = true);
    /// Over TLS, whose handshake is done.
    explicit Http2Client(TlsEnd end);

    /// Request lines for a GET of http://origin.test.
    static Lines get(std::string_view path, const Lines& more = {});
    static Lines lines(std::string_view method, std::string_view path, const Lines& more = {});

    std::string encode(const Lines& lines);
    /// Begins a stream. `ends`: no body follows.
    std::int32_t begin(const Lines& lines, bool ends = true);
    void send_data(std::int32_t stream, std::string_view bytes, bool ends);
    /// Sends a body to its end, as far as the windows of the other side are open. `stalled` is
    /// called when they have stayed shut for a while. False when the stream or the connection has
    /// ended.
    bool send_body(std::int32_t stream, std::string_view body,
                   const std::function<void()>& stalled = {});
    void send_frame(std::uint8_t type, std::uint8_t flags, std::int32_t stream,
                    std::string_view payload);
    void send_window_update(std::int32_t stream, std::uint32_t bytes);
    void send_reset(std::int32_t stream, std::uint32_t code);
    bool send(std::string_view bytes);

    /// Reads until the stream has ended, or the connection.
    const Stream& response(std::int32_t stream);
    const Stream& fetch(const Lines& lines) { return response(begin(lines)); }
    /// Reads until so many bytes of the body have come, or the stream or the connection has ended.
    const Stream& read_body(std::int32_t stream, std::size_t bytes);
    /// Reads until the other side has closed. False when it has not in kPatience.
    bool read_to_end();
    /// Reads frames until one of `type` has come; false when the connection has ended.
    bool read_until(std::uint8_t type);
    /// Reads one frame. False at the end.
    bool read_frame();

    std::optional<std::uint32_t> goaway;  // error code of the last one
    std::int32_t last_stream = -1;        // as GOAWAY says
    std::map<std::uint16_t, std::uint32_t> settings;
    std::map<std::int32_t, Stream> streams;
    std::uint64_t window = 0;  // that the other side has opened for the connection, beyond 65,535
    std::map<std::int32_t, std::uint64_t> windows;
    bool opens_windows = true;
    bool closed = false;
    std::int32_t next_stream = 1;

private:
    struct Free {
        void operator()(nghttp2_hd_deflater* it) const { nghttp2_hd_deflate_del(it); }
        void operator()(nghttp2_hd_inflater* it) const { nghttp2_hd_inflate_del(it); }
    };
    void greet();
    bool receive();
    void take_head(std::int32_t stream, std::string_view block);

    Socket socket_;
    std::optional<TlsEnd> tls_;
    std::string input_, block_;
    std::uint64_t data_sent_ = 0;  // on all streams
    std::uint8_t last_type_ = 0;
    std::unique_ptr<nghttp2_hd_deflater, Free> deflater_;
    std::unique_ptr<nghttp2_hd_inflater, Free> inflater_;
};

}  // namespace proxy::test
