#include "proxy/client/http2_writer.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <string>

#include "base/memory/kept_memory.hpp"
#include "proxy/client/http2_limits.hpp"
#include "proxy/request/client_service.hpp"

namespace proxy {

namespace asio = boost::asio;

namespace {

/// The fields of one head as nghttp2 takes them. It copies texts and lowers the case of names.
class Lines {
public:
    void add(std::string_view name, std::string_view value) {
        bytes_ += name.size() + value.size();
        lines_.push_back(
            {bytes_of(name), bytes_of(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    void add(FieldBlock block) {
        block.each([this](std::string_view name, std::string_view value) { add(name, value); });
    }
    const nghttp2_nv* data() const { return lines_.data(); }
    std::size_t size() const { return lines_.size(); }
    /// Of all names and values.
    std::size_t bytes() const { return bytes_; }

private:
    static constexpr std::size_t kUsual = 24;  // which need no allocation

    static std::uint8_t* bytes_of(std::string_view text) {
        return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    }

    boost::container::small_vector<nghttp2_nv, kUsual> lines_;
    std::size_t bytes_ = 0;
};

ssize_t read_body(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t room,
                  std::uint32_t* flags, nghttp2_data_source* source, void*) {
    return static_cast<Http2Writer*>(source->ptr)->offer(room, *flags);
}

}  // namespace

void Http2Writer::start(std::int32_t stream) {
    stream_ = stream;
    head_ = {};
    tunnel_ = submitted_ = deferred_ = closed_ = false;
    progress_ = {};
    body_bytes_ = 0;
    fields_.clear();
    queue_.clear();
    pace_.begin();
}

void Http2Writer::close() {
    closed_ = true;
    // Small pieces that have not gone out were counted when they were given.
    if (!tunnel_) body_bytes_ -= queue_.kept_bytes();
    queue_.drop_kept();
}

void Http2Writer::begin(const ResponseHead& head) {
    head_ = head;
}

/// Hands the head to nghttp2, which copies it.
void Http2Writer::submit() {
    submitted_ = true;
    const auto status = std::to_string(head_.status);
    const auto length = std::to_string(head_.length.value_or(0));
    Lines lines;
    lines.add(":status", status);
    lines.add(head_.stored);
    lines.add(FieldBlock(fields_));
    if (head_.length) lines.add("content-length", length);
    head_.stored = {};
    nghttp2_data_provider body{};
    body.source.ptr = this;
    body.read_callback = read_body;
    const auto has_bytes = head_.has_body && head_.length != 0;
    nghttp2_submit_response(output_.session(), stream_, lines.data(), lines.size(),
                            has_bytes ? &body : nullptr);
    output_.submitted(lines.bytes());
}

ResponseWriter::Progress Http2Writer::write_now(BodyPiece& piece) {
    if (closed_) {
        queue_.views().clear();
        return Progress::blocked;
    }
    progress_.ends = piece.end;
    progress_.give(piece.bytes);
    if (!submitted_) submit();
    const auto is_kept = queue_.take_views(piece.bytes);
    if (is_kept) body_bytes_ += piece.bytes;
    resume();
    return is_kept ? Progress::all : Progress::blocked;
}

/// There are bytes, or an end, that nghttp2 may ask for.
void Http2Writer::resume() {
    if (std::exchange(deferred_, false)) nghttp2_session_resume_data(output_.session(), stream_);
    output_.send_soon();
}

void Http2Writer::reset(std::uint32_t code) {
    if (closed_) return;
    nghttp2_submit_rst_stream(output_.session(), NGHTTP2_FLAG_NONE, stream_, code);
    output_.send_soon();
}

void Http2Writer::begin_tunnel(FieldBlock fields) {
    if (closed_) return;
    tunnel_ = true;
    ResponseHead head;
    head.status = 200;
    head.stored = fields;
    begin(head);
    submit();
    output_.send_soon();
}

std::size_t Http2Writer::write_some(asio::const_buffer from) {
    if (closed_) return 0;
    const auto bytes = queue_.keep(from, kTunnelBytes);
    progress_.give(bytes);
    resume();
    return bytes;
}

void Http2Writer::end_tunnel() {
    if (closed_) return;
    progress_.ends = true;
    resume();
}

/// After a wait for the client. While its windows are open, the connection as a whole counts: other
/// streams may have had their turn.
bool Http2Writer::is_slow(Clock::time_point now, const Fill::Reader* reader) {
    auto* const session = output_.session();
    const auto all = output_.taken();
    pace_.note_taken(all, nghttp2_session_get_remote_window_size(session) > 0 &&
                              nghttp2_session_get_stream_remote_window_size(session, stream_) > 0);
    const auto& config = service_.config();
    const auto window = config.timeouts.body_idle;
    const auto least = base::least_bytes(config.limits.client_rate_min, window);
    return !pace_.fast_enough(now, window, least, reader, body_bytes_);
}

asio::awaitable<bool> Http2Writer::write_rest(const Fill::Reader* reader) {
    pace_.begin_waits(output_.taken());
    while (!closed_ && queue_.has_views()) {
        const auto window = service_.config().timeouts.body_idle;
        const auto until = pace_.wait(Clock::now(), window, reader, body_bytes_);
        co_await wakeup_->wait_until(until);
        if (!closed_ && is_slow(Clock::now(), reader)) break;
    }
    // nghttp2 closes a stream whose end has gone out.
    progress_.given_up = (closed_ && !progress_.end_sent) || queue_.has_views();
    queue_.drop_views();
    co_return !progress_.given_up;
}

asio::awaitable<void> Http2Writer::interim(unsigned status, FieldBlock fields) {
    if (closed_) co_return;
    const auto text = std::to_string(status);
    Lines lines;
    lines.add(":status", text);
    lines.add(fields);
    nghttp2_submit_headers(output_.session(), NGHTTP2_FLAG_NONE, stream_, nullptr, lines.data(),
                           lines.size(), nullptr);
    output_.submitted(lines.bytes());
    output_.send_soon();
}

bool Http2Writer::complete() const {
    if (!submitted_ || queue_.has_views() || (closed_ && !progress_.end_sent)) return false;
    return !head_.has_body || has_all();
}

ssize_t Http2Writer::offer(std::size_t room, std::uint32_t& flags) {
    const auto bytes = std::min<std::uint64_t>({room, kHttp2DataContent, queue_.bytes()});
    const auto last = bytes == queue_.bytes() && has_all();
    if (bytes == 0 && !last) {
        deferred_ = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    flags = NGHTTP2_DATA_FLAG_NO_COPY;
    if (last) flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(bytes);
}

void Http2Writer::move_to(std::string& out, std::size_t bytes) {
    const auto viewed = queue_.move_to(out, bytes);
    body_bytes_ += viewed;
    if (viewed > 0 && queue_.views().empty()) wakeup_->notify();
    if (tunnel_) wakeup_->notify();
}

std::size_t Http2Writer::kept_bytes() const {
    return base::kept_bytes(fields_) + queue_.capacity();
}

void Http2Writer::give_back() {
    base::give_back(fields_);
    queue_.give_back();
}

}  // namespace proxy
