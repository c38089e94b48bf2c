#include "proxy/client/response_from_store.hpp"

#include <limits>

#include "proxy/http/field_list.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/net/wall_clock.hpp"

namespace proxy {

namespace asio = boost::asio;
using boost::beast::http::field;
using boost::beast::http::verb;
using Clock = std::chrono::steady_clock;

bool not_modified(const ClientContext& client, const StoredMetadata& response) {
    if (!is_conditional(client.head.fields)) return false;
    const auto fields = response.fields();
    return answers_not_modified(client.head.fields, response.status, validators_of(fields),
                                wall_now());
}

RangeAnswer wanted_part(const ClientContext& client, const StoredMetadata& response,
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

bool comes_from_disk(const ClientContext& client, const StoredResponse& response) {
    return client.transaction.recalled || response.body->on_disk();
}

asio::awaitable<bool> send_stored(ClientContext& client, const StoredResponse& response,
                                  const CacheStatus& status, summary::KeyHash key) {
    auto& transaction = client.transaction;
    transaction.outcome = Outcome::local_hit;
    transaction.source = comes_from_disk(client, response) ? Source::disk : Source::memory;
    const auto age = current_age(response.freshness, response.residence(transaction.begun));
    if (not_modified(client, response))
        co_return co_await send_not_modified(client, response, nullptr, age, status);
    client.note_type(response);
    const auto size = response.body_bytes();
    const auto part = wanted_part(client, response, size);
    if (part.kind == RangeAnswer::Kind::unsatisfiable)
        co_return co_await send_unsatisfiable(client, size, status);
    BodyReader body(response, client.wakeup, client.frontend.cache.shared.windows);
    BodySender::What what;
    what.stored_as = key;
    what.stored_in = transaction.source;
    what.bytes = client.head.verb == verb::head ? 0 : size;
    if (part.kind == RangeAnswer::Kind::part) {
        transaction.status = 206;
        body.consume(part.range.first);
        what.bytes = part.range.size();
        compose_part(client, response.head, nullptr, age, status, part.range, size);
    } else {
        transaction.status = response.status;
        client.compose(response.head, nullptr, age, status, client.framing(response.status, size),
                       size);
    }
    BodySender sender(client, body, what);
    if (sender.send_now()) co_return client.keep_alive();
    const auto sent = co_await sender.run();
    co_return (sent && client.keep_alive());
}

asio::awaitable<bool> send_unsatisfiable(ClientContext& client, std::uint64_t length,
                                         const CacheStatus& status) {
    std::string line("Content-Range: ");
    append_content_range(line, {std::nullopt, length});
    line.append("\r\n");
    co_return co_await client.refuse(416, "No byte of that range is there.", status, line);
}

asio::awaitable<bool> send_not_modified(ClientContext& client, const StoredMetadata& response,
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
    client.transaction.status = 304;
    client.compose(head, live, age, status, Framing::none, 0);
    const auto sent = co_await client.connection.send(client.buffers);
    client.transaction.aborted = !sent;
    co_return (sent && client.keep_alive());
}

bool BodySender::send_now() {
    while (step_ == Step::go_on) {
        auto& buffers = client_.buffers;
        const auto before = buffers.size();  // the head, which compose() has booked
        const auto chunked = what_.framing == Framing::chunked;
        if (chunked) buffers.emplace_back();  // for the chunk's size
        piece_ = body_.peek(what_.bytes.value_or(std::numeric_limits<std::uint64_t>::max()),
                            kBuffersPerSend - 4, buffers);
        if (piece_.failed) {
            step_ = Step::broken_off;
            break;
        }
        if (chunked) frame(before);
        if (send_piece())
            piece_sent(true);
        else
            step_ = Step::blocked;
    }
    return step_ == Step::done;
}

/// False when the socket takes no more, or the client is gone. Of a file, what has gone out then is
/// a piece, and the rest is looked for again: it may leave the page cache while the client takes
/// its time.
bool BodySender::send_piece() {
    auto& connection = client_.connection;
    if (!piece_.file) return connection.send_now(client_.buffers);
    const auto wanted = std::exchange(piece_.bytes, 0);
    // Without MSG_MORE: under BBR, whose pacing then holds the whole up, that took twice the CPU.
    if (!connection.send_now(client_.buffers)) return false;
    const auto sent = connection.send_file_now(*piece_.file, piece_.file_offset, wanted);
    if (sent.unreadable) body_.give_bytes_only();
    piece_.bytes = sent.bytes;
    return sent.bytes == wanted || sent.unreadable;
}

/// Until the piece has gone, or the socket takes more of a file.
asio::awaitable<bool> BodySender::send_rest() {
    const auto head_has_gone = client_.buffers.empty();
    auto sent = co_await client_.connection.send(client_.buffers);
    if (sent && piece_.file && head_has_gone) sent = co_await client_.connection.wait_to_send();
    co_return sent;
}

asio::awaitable<bool> BodySender::run() {
    for (;;) {
        if (send_now()) co_return true;
        if (step_ == Step::blocked) {
            if (what_.stored_as) client_.frontend.cache.shared.store.pin(*what_.stored_as);
            const auto sent = co_await send_rest();
            piece_sent(sent);
        } else if (step_ == Step::starved) {
            const auto news = co_await client_.wait_for_news(Clock::now() + kFollowAtMost);
            if (news == ClientContext::News::client_left) co_return false;
            step_ = news == ClientContext::News::late ? Step::broken_off : Step::go_on;
        } else {
            if (step_ == Step::broken_off)
                client_.transaction.cut_short();  // never a short body passed as whole
            else
                client_.transaction.aborted = true;
            co_return false;
        }
    }
}

/// Books it, and what comes next follows. `whole`: all of it went out; else the client is gone.
void BodySender::piece_sent(bool whole) {
    auto& from = client_.transaction.from;
    const auto bytes = client_.book(chunk_.size(), piece_.bytes);
    if (what_.fetched) {
        const auto of_peer = std::min(bytes, piece_.peer_bytes);
        from.add(Source::peer, of_peer);
        from.add(Source::origin, bytes - of_peer);
    } else {
        from.add(what_.stored_in, bytes);
    }
    if (!whole) {
        step_ = Step::client_gone;
        return;
    }
    body_.consume(piece_.bytes);
    if (what_.bytes) *what_.bytes -= piece_.bytes;
    if (what_.bytes ? *what_.bytes == 0 : piece_.end)
        step_ = Step::done;
    else if (piece_.file)
        step_ = Step::go_on;
    else if (piece_.end)
        step_ = Step::broken_off;  // shorter than its head has promised
    else
        step_ = piece_.bytes > 0 ? Step::go_on : Step::starved;
}

/// The piece becomes a chunk; the buffer at `at` is for its size (RFC 9112 §7.1).
void BodySender::frame(std::size_t at) {
    static constexpr std::string_view kEnd = "\r\n", kLast = "0\r\n\r\n",
                                      kEndAndLast = "\r\n0\r\n\r\n";
    auto& buffers = client_.buffers;
    chunk_.clear();
    if (piece_.bytes > 0) {
        append_chunk_size(chunk_, piece_.bytes);
        buffers[at] = asio::buffer(chunk_);
        buffers.push_back(asio::buffer(piece_.end ? kEndAndLast : kEnd));
    } else {
        buffers.erase(buffers.begin() + static_cast<std::ptrdiff_t>(at));
        if (piece_.end) buffers.push_back(asio::buffer(kLast));
    }
}

}  // namespace proxy
