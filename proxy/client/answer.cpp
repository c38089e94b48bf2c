#include "proxy/client/answer.hpp"

#include "proxy/http/field_list.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/net/wall_clock.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

bool not_modified(const ClientContext& client, const StoredResponse& response) {
    if (!is_conditional(client.head.fields)) return false;
    const auto fields = response.fields();
    return answers_not_modified(client.head.fields, response.status, validators_of(fields),
                                wall_now());
}

RangeAnswer wanted_part(const ClientContext& client, const StoredResponse& response,
                        std::optional<std::uint64_t> length) {
    const auto& request = client.head.fields;
    if (!length || response.status != 200 || client.head.verb != verb::get ||
        !find(request, field::range))
        return {};
    const auto fields = response.fields();
    if (!if_range_allows(request, validators_of(fields), wall_now())) return {};
    return evaluate(range_request(request), *length);
}

void compose_part(ClientContext& client, const std::string& stored_head, const LiveFields* live,
                  std::optional<std::chrono::seconds> age, const CacheStatus& status,
                  const ByteRange& range, std::uint64_t length) {
    auto& head = client.own_head;
    head.clear();
    append_status_line(head, 206);
    head.append("Content-Range: ");
    append_content_range(head, {range, length});
    head.append("\r\n");
    const auto fields = stored_head.find('\n') + 1;  // after the status line
    head.append(stored_head, fields);
    client.compose(head, live, age, status, Framing::length, range.size());
}

asio::awaitable<bool> send_stored(ClientContext& client, const StoredResponse& response,
                                  const CacheStatus& status, summary::KeyHash key) {
    auto& turn = client.turn;
    turn.outcome = Outcome::local_hit;
    turn.source = Source::memory;
    const auto age = current_age(response.freshness, response.residence(turn.begun));
    if (not_modified(client, response))
        co_return co_await send_not_modified(client, response, nullptr, age, status);
    client.note_type(response);
    const auto size = response.body_bytes();
    const auto part = wanted_part(client, response, size);
    if (part.kind == RangeAnswer::Kind::unsatisfiable)
        co_return co_await send_unsatisfiable(client, size, status);
    std::uint64_t offset = 0, end = client.head.verb == verb::head ? 0 : size;
    if (part.kind == RangeAnswer::Kind::part) {
        turn.status = 206;
        offset = part.range.first;
        end = part.range.last + 1;
        compose_part(client, response.head, nullptr, age, status, part.range, size);
    } else {
        turn.status = response.status;
        client.compose(response.head, nullptr, age, status, client.framing(response.status, size),
                       size);
    }
    for (;;) {
        const auto bytes = response.body->view(offset, std::min(end - offset, kBytesPerSend),
                                               kBuffersPerSend, client.buffers);
        // Most answers go out at once: no coroutine for those.
        auto sent = client.connection.send_now(client.buffers);
        if (!sent) {
            client.frontend.cache.shared.store.hold(key);
            sent = co_await client.connection.send(client.buffers);
        }
        client.book_from(Source::memory);
        if (!sent) {
            turn.aborted = true;
            co_return false;
        }
        offset += bytes;
        if (offset >= end) co_return client.keep_alive();
    }
}

asio::awaitable<bool> send_unsatisfiable(ClientContext& client, std::uint64_t length,
                                         const CacheStatus& status) {
    std::string line("Content-Range: ");
    append_content_range(line, {std::nullopt, length});
    line.append("\r\n");
    co_return co_await client.refuse(416, "No byte of that range is there.", status, line);
}

asio::awaitable<bool> send_not_modified(ClientContext& client, const StoredResponse& response,
                                        const LiveFields* live,
                                        std::optional<std::chrono::seconds> age,
                                        const CacheStatus& status) {
    const auto fields = response.fields();
    const auto has_etag = !validators_of(fields).etag.empty();
    auto& head = client.own_head;
    head.clear();
    append_status_line(head, 304);
    for (const auto& line : fields)
        if (belongs_in_304(line, has_etag)) append_line(head, line);
    client.turn.status = 304;
    client.compose(head, live, age, status, Framing::none, 0);
    const auto sent = co_await client.connection.send(client.buffers);
    client.turn.aborted = !sent;
    co_return (sent && client.keep_alive());
}

void book_piece(ClientContext& client, const Fill::Piece& piece, bool fetched,
                std::uint64_t before) {
    auto& from = client.turn.from;
    const auto sent = client.book(before, piece.bytes);
    const auto of_peer = std::min(sent, piece.peer_bytes);
    if (fetched) {
        from.add(Source::peer, of_peer);
        from.add(Source::origin, sent - of_peer);
    } else {
        from.add(Source::memory, sent);
    }
}

asio::awaitable<bool> send_growing(ClientContext& client, Fill::Reader& reader, Framing framing,
                                   std::optional<std::uint64_t> bytes, bool fetched) {
    auto& buffers = client.buffers;
    std::string chunk;
    for (;;) {
        const auto head_buffers = buffers.size();                 // the head is booked by compose()
        if (framing == Framing::chunked) buffers.emplace_back();  // for the chunk's size
        const auto at_most = std::min(kBodyBlockBytes, bytes.value_or(kBodyBlockBytes));
        const auto piece = reader.peek(at_most, kBuffersPerSend - 4, buffers);
        if (piece.failed) {
            client.turn.cut_short();
            co_return false;  // cut: never a short body passed as whole
        }
        if (framing == Framing::chunked) {
            chunk.clear();
            if (piece.bytes > 0) {
                append_chunk_size(chunk, piece.bytes);
                buffers[head_buffers] = asio::buffer(chunk);
                static constexpr std::string_view kEnd = "\r\n", kLast = "\r\n0\r\n\r\n";
                buffers.push_back(asio::buffer(piece.end ? kLast : kEnd));
            } else {
                static constexpr std::string_view kLast = "0\r\n\r\n";
                buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(head_buffers));
                if (piece.end) buffers.push_back(asio::buffer(kLast));
            }
        }
        const auto sent = co_await client.connection.send(buffers);
        book_piece(client, piece, fetched, framing == Framing::chunked ? chunk.size() : 0);
        if (!sent) {
            client.turn.aborted = true;
            co_return false;
        }
        reader.consume(piece.bytes);
        if (bytes) {
            *bytes -= piece.bytes;
            if (*bytes == 0) co_return client.keep_alive();
        }
        if (piece.end) co_return (framing != Framing::close && client.keep_alive());
        if (piece.bytes > 0) continue;
        const auto news = co_await client.wait_for_news(Clock::now() + kFollowAtMost);
        if (news == ClientContext::News::client_left) co_return false;
    }
}

}  // namespace proxy
