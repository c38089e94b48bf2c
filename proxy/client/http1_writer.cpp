#include "proxy/client/http1_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/memory/kept_memory.hpp"
#include "base/text/short_text.hpp"
#include "proxy/http/response_head.hpp"

namespace proxy {

namespace asio = boost::asio;
using namespace std::string_view_literals;  // appended without counting

namespace {

constexpr std::size_t kUsualFields = 240;  // of the node in a response; more grow
constexpr std::size_t kUsualBuffers = 4;   // three of the head, and a body in one piece

}  // namespace

void Http1Writer::start() {
    framing_ = Framing::length;
    begun_ = ends_ = says_close_ = false;
    body_bytes_ = expected_ = before_ = in_flight_ = 0;
    fields_.clear();
    fields_.reserve(kUsualFields);
    buffers_.clear();
    buffers_.reserve(kUsualBuffers);
    connection_.begin_response();
}

void Http1Writer::begin(const ResponseHead& head) {
    begun_ = true;
    ends_ = false;
    framing_ = Framing::length;
    expected_ = head.has_body ? head.length.value_or(0) : 0;
    if (head.has_body && !head.length)
        framing_ = request_.version >= 11 ? Framing::chunked : Framing::close;
    append_connection_fields(head);
    if (status_of_line_ != head.status) {
        status_of_line_ = head.status;
        status_line_.clear();
        append_status_line(status_line_, head.status);
    }
    const auto stored = head.stored.text();
    buffers_.clear();
    buffers_.emplace_back(status_line_.data(), status_line_.size());
    if (!stored.empty()) buffers_.emplace_back(stored.data(), stored.size());
    buffers_.emplace_back(fields_.data(), fields_.size());
    before_ = status_line_.size() + stored.size() + fields_.size();
}

void Http1Writer::append_connection_fields(const ResponseHead& head) {
    says_close_ = framing_ == Framing::close || !reader_.keep_alive();
    base::ShortText text(fields_);
    if (head.length)
        text.append("Content-Length: "sv).append(*head.length).append("\r\n"sv);
    else if (framing_ == Framing::chunked)
        text.append("Transfer-Encoding: chunked\r\n"sv);
    if (says_close_)
        text.append("Connection: close\r\n\r\n"sv);
    else if (request_.version < 11)
        text.append("Connection: keep-alive\r\n\r\n"sv);
    else
        text.append("\r\n"sv);
}

std::vector<asio::const_buffer>& Http1Writer::next_piece() {
    chunk_place_.reset();
    if (framing_ == Framing::chunked) {
        chunk_place_ = buffers_.size();
        buffers_.emplace_back();
    }
    return buffers_;
}

/// Makes a chunk of the piece (RFC 9112 §7.1).
void Http1Writer::frame(const BodyPiece& piece) {
    static constexpr std::string_view kEnd = "\r\n", kLast = "0\r\n\r\n",
                                      kEndAndLast = "\r\n0\r\n\r\n";
    const auto place = std::exchange(chunk_place_, std::nullopt);
    if (place && piece.bytes > 0) {
        chunk_.clear();
        append_chunk_size(chunk_, piece.bytes);
        before_ += chunk_.size();
        buffers_[*place] = asio::buffer(chunk_);
        buffers_.push_back(asio::buffer(piece.end ? kEndAndLast : kEnd));
        return;
    }
    if (place) buffers_.erase(buffers_.begin() + static_cast<std::ptrdiff_t>(*place));
    if (piece.end) buffers_.push_back(asio::buffer(kLast));
}

ResponseWriter::Progress Http1Writer::write_now(BodyPiece& piece) {
    if (framing_ == Framing::chunked) frame(piece);
    ends_ = piece.end;
    if (piece.file) return send_file(piece);
    in_flight_ = piece.bytes;
    return send_now() ? Progress::all : Progress::blocked;
}

bool Http1Writer::send_now() {
    const auto before = connection_.response_bytes();
    const auto all = connection_.send_now(buffers_);
    count(connection_.response_bytes() - before);
    return all;
}

/// Head and framing precede the piece in the buffers, the end of a chunk follows it.
void Http1Writer::count(std::uint64_t bytes) {
    const auto framing = std::min(bytes, before_);
    before_ -= framing;
    const auto body = std::min(bytes - framing, in_flight_);
    in_flight_ -= body;
    body_bytes_ += body;
}

ResponseWriter::Progress Http1Writer::send_file(BodyPiece& piece) {
    const auto wanted = std::exchange(piece.bytes, 0);
    in_flight_ = 0;
    // Without MSG_MORE: under BBR, whose pacing then holds the whole up, that took twice the CPU.
    if (!send_now()) return Progress::blocked;
    const auto sent = connection_.send_file_now(*piece.file, piece.file_offset, wanted);
    piece.bytes = sent.bytes;
    body_bytes_ += sent.bytes;
    if (sent.unreadable) return Progress::unreadable;
    return sent.bytes == wanted ? Progress::all : Progress::blocked;
}

asio::awaitable<bool> Http1Writer::write_rest(const Fill::Reader* reader) {
    const auto of_file = buffers_.empty() && !connection_.broken();
    if (of_file) {
        const auto ready = co_await connection_.wait_to_send();
        co_return ready;
    }
    while (!connection_.broken()) {
        co_await connection_.wait_to_send(reader);
        if (send_now()) break;
    }
    co_return !connection_.broken();
}

asio::awaitable<void> Http1Writer::interim(unsigned status, FieldBlock fields) {
    if (request_.version < 11) co_return;
    std::string text;
    append_status_line(text, status);
    text.append(fields.text()).append("\r\n");
    buffers_.assign(1, asio::buffer(text));
    BodyPiece head_alone;
    co_await write(head_alone);
}

bool Http1Writer::complete() const {
    if (!begun_ || !buffers_.empty() || connection_.broken()) return false;
    return framing_ == Framing::length ? body_bytes_ == expected_ : ends_;
}

bool Http1Writer::may_be_followed() const {
    // A connection that is to end since then says so in its next response: the client may have sent
    // another request by now.
    return complete() && !says_close_ && reader_.may_be_followed();
}

std::size_t Http1Writer::kept_bytes() const {
    return base::kept_bytes(fields_) + base::kept_bytes(chunk_) + base::kept_bytes(buffers_);
}

void Http1Writer::give_back() {
    base::give_back(fields_);
    base::give_back(chunk_);
    base::give_back(buffers_);
}

}  // namespace proxy
