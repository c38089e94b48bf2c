#include "proxy/forwarding/answer.hpp"

#include "proxy/http/validators.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBuffersPerSend = 64;
constexpr std::uint64_t kBytesPerSend = 4 * 1024 * 1024;

WallTime wall_now() {
    return std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

bool not_modified(const ClientContext& client, const StoredResponse& response) {
    if (!is_conditional(client.head.fields)) return false;
    const auto fields = response.fields();
    return answers_not_modified(client.head.fields, response.status, validators_of(fields),
                                wall_now());
}

asio::awaitable<bool> send_stored(ClientContext& client, const StoredResponse& response,
                                  const CacheStatus& status) {
    auto& turn = client.turn;
    turn.outcome = Outcome::local_hit;
    turn.source = Source::memory;
    const auto age = current_age(response.freshness, response.residence(turn.begun));
    if (not_modified(client, response))
        co_return co_await send_not_modified(client, response, age, status);
    turn.status = response.status;
    client.note_type(response);
    const auto size = response.body->size();
    client.compose(response.head, nullptr, age, status, client.framing(response.status, size),
                   size);
    const auto body_bytes = client.head.verb == verb::head ? 0 : size;
    for (;;) {
        const auto bytes = response.body->view(turn.body_bytes, body_bytes > 0 ? kBytesPerSend : 0,
                                               kBuffersPerSend, client.buffers);
        // Most answers go out at once: no coroutine for those.
        if (!client.connection.send_now(client.buffers)) {
            const auto sent = co_await client.connection.send(client.buffers);
            if (!sent) {
                turn.aborted = true;
                co_return false;
            }
        }
        turn.body_bytes += bytes;
        if (turn.body_bytes >= body_bytes) co_return client.keep_alive();
    }
}

asio::awaitable<bool> send_not_modified(ClientContext& client, const StoredResponse& response,
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
    client.compose(head, nullptr, age, status, Framing::none, 0);
    const auto sent = co_await client.connection.send(client.buffers);
    client.turn.aborted = !sent;
    co_return (sent && client.keep_alive());
}

asio::awaitable<bool> send_growing(ClientContext& client, Fill::Reader& reader, Framing framing) {
    auto& buffers = client.buffers;
    auto& turn = client.turn;
    std::string chunk;
    for (;;) {
        const auto head_buffers = buffers.size();
        if (framing == Framing::chunked) buffers.emplace_back();  // for the chunk's size
        const auto piece = reader.peek(kBodyBlockBytes, kBuffersPerSend - 4, buffers);
        if (piece.failed) {
            turn.aborted = true;
            co_return false;  // cut: never a short body passed as whole
        }
        if (framing == Framing::chunked) {
            if (piece.bytes > 0) {
                chunk.clear();
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
        if (!sent) {
            turn.aborted = true;
            co_return false;
        }
        turn.body_bytes += piece.bytes;
        reader.consume(piece.bytes);
        if (piece.end) co_return (framing != Framing::close && client.keep_alive());
        if (piece.bytes == 0) co_await client.wakeup->wait_until(Clock::now() + kFollowAtMost);
    }
}

}  // namespace proxy
