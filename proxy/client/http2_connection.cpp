#include "proxy/client/http2_connection.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <new>
#include <utility>

#include "base/memory/kept_memory.hpp"
#include "proxy/client/http2_limits.hpp"

namespace proxy {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::uint64_t kNoLimit = 1'000'000'000;
/// Streams that a connection keeps for its next requests, while it has some and while it has none.
constexpr std::size_t kUnusedStreams = 16, kRestingStreams = 1;
/// Memory that each of them keeps in the two cases.
constexpr std::size_t kUnusedBytes = 16 * 1024, kRestingBytes = 4 * 1024;
/// Streams that begin or end in one turn. Other connections have their turn then.
constexpr std::size_t kStreamsPerTurn = 16;
/// RFC 9113 §4.1.
constexpr std::size_t kFrameHead = 9;
/// More than the head of a response may have, with the bytes that nghttp2 counts for its lines.
constexpr std::size_t kMostHeadBytes = 64 * 1024 * 1024;

Http2Stream* stream_of(nghttp2_session* session, std::int32_t id) {
    return static_cast<Http2Stream*>(nghttp2_session_get_stream_user_data(session, id));
}

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

bool ends_stream(const nghttp2_frame& frame) {
    return (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

}  // namespace

/// The calls of nghttp2 into the connection. None lets an exception through, because nghttp2 is C:
/// without memory the connection ends.
struct Http2Connection::Callbacks {
    static Http2Connection& self(void* user) { return *static_cast<Http2Connection*>(user); }

    template <class Act>
    static int guarded(const Act& act) {
        try {
            return act();
        } catch (...) {
            return NGHTTP2_ERR_CALLBACK_FAILURE;
        }
    }

    static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
        if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
        return guarded([&] { return self(user).begin_stream(frame->hd.stream_id); });
    }

    static int on_header(nghttp2_session* session, const nghttp2_frame* frame,
                         const std::uint8_t* name, std::size_t name_size, const std::uint8_t* value,
                         std::size_t value_size, std::uint8_t, void* user) {
        if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;  // trailers are dropped
        auto* const stream = stream_of(session, frame->hd.stream_id);
        if (!stream) return 0;
        return guarded([&] {
            stream->head.add(text_of(name, name_size), text_of(value, value_size),
                             self(user).service_.upstream.head_limits());
            return 0;
        });
    }

    /// nghttp2 would drop the line, and serve a request that the client has not made.
    static int on_invalid_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t*,
                                 std::size_t, const std::uint8_t*, std::size_t, std::uint8_t,
                                 void*) {
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }

    static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
        return guarded([&] {
            self(user).take_frame(*frame, stream_of(session, frame->hd.stream_id));
            return 0;
        });
    }

    static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id,
                       const std::uint8_t* bytes, std::size_t size, void*) {
        nghttp2_session_consume_connection(session, size);
        auto* const stream = stream_of(session, id);
        if (!stream) return 0;
        return guarded([&] {
            stream->body.put(text_of(bytes, size));
            return 0;
        });
    }

    static int on_frame_sent(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
        self(user).count_frame(*frame, stream_of(session, frame->hd.stream_id));
        return 0;
    }

    /// nghttp2 has dropped a frame that it was given. A response without its head ends with an
    /// error.
    static int on_frame_not_sent(nghttp2_session* session, const nghttp2_frame* frame, int, void*) {
        auto* const stream = stream_of(session, frame->hd.stream_id);
        if (!stream || frame->hd.type != NGHTTP2_HEADERS) return 0;
        return guarded([&] {
            stream->writer.reset(NGHTTP2_INTERNAL_ERROR);
            return 0;
        });
    }

    static int on_stream_close(nghttp2_session* session, std::int32_t id, std::uint32_t,
                               void* user) {
        auto* const stream = stream_of(session, id);
        if (!stream) return 0;
        return guarded([&] {
            self(user).close_stream(*stream);
            return 0;
        });
    }

    /// Takes a DATA frame whose body stays where it is (Http2Writer::offer()).
    static int send_data(nghttp2_session* session, nghttp2_frame* frame, const std::uint8_t* head,
                         std::size_t size, nghttp2_data_source*, void* user) {
        auto& windows = self(user).service_.cache.shared.windows;
        if (!self(user).unsent_.has_room_for_frames(windows)) return NGHTTP2_ERR_WOULDBLOCK;
        return guarded([&] {
            auto& out = self(user).unsent_.out;
            out.append(text_of(head, kFrameHead));
            auto* const stream = stream_of(session, frame->hd.stream_id);
            if (!stream) return static_cast<int>(NGHTTP2_ERR_CALLBACK_FAILURE);
            stream->writer.move_to(out, size);
            return 0;
        });
    }

    /// The callbacks and options of every session. They live as long as the process.
    static const nghttp2_session_callbacks* all() {
        static const auto* const made = [] {
            nghttp2_session_callbacks* to = nullptr;
            if (nghttp2_session_callbacks_new(&to) != 0) throw std::bad_alloc();
            nghttp2_session_callbacks_set_on_begin_headers_callback(to, on_begin_headers);
            nghttp2_session_callbacks_set_on_header_callback(to, on_header);
            nghttp2_session_callbacks_set_on_invalid_header_callback(to, on_invalid_header);
            nghttp2_session_callbacks_set_on_frame_recv_callback(to, on_frame);
            nghttp2_session_callbacks_set_on_data_chunk_recv_callback(to, on_data);
            nghttp2_session_callbacks_set_on_frame_send_callback(to, on_frame_sent);
            nghttp2_session_callbacks_set_on_frame_not_send_callback(to, on_frame_not_sent);
            nghttp2_session_callbacks_set_on_stream_close_callback(to, on_stream_close);
            nghttp2_session_callbacks_set_send_data_callback(to, send_data);
            return to;
        }();
        return made;
    }
    static const nghttp2_option* options() {
        static const auto* const made = [] {
            nghttp2_option* to = nullptr;
            if (nghttp2_option_new(&to) != 0) throw std::bad_alloc();
            nghttp2_option_set_no_auto_window_update(to, 1);
            nghttp2_option_set_no_closed_streams(to, 1);
            // Http2FrameBudget has the limit of resets.
            nghttp2_option_set_stream_reset_rate_limit(to, kNoLimit, kNoLimit);
            nghttp2_option_set_builtin_recv_extension_type(to, NGHTTP2_PRIORITY_UPDATE);
            // `limits.head` has the limit of responses. nghttp2 counts more bytes for each line.
            nghttp2_option_set_max_send_header_block_length(to, kMostHeadBytes);
            return to;
        }();
        return made;
    }
};

Http2Connection::Http2Connection(ClientService& service, ClientConnection& connection)
    : service_(service),
      connection_(connection),
      tasks_(service.executor),
      to_send_(std::make_shared<base::Wakeup>(service.executor)),
      all_sent_(std::make_shared<base::Wakeup>(service.executor)),
      watch_(*this),
      streams_(service.wheel) {
    nghttp2_session* made = nullptr;
    if (nghttp2_session_server_new2(&made, Callbacks::all(), this, Callbacks::options()) != 0)
        throw std::bad_alloc();
    session_.reset(made);
    connection_.wake_at_end(to_send_);
}

Http2Connection::~Http2Connection() {
    connection_.wake_at_end(nullptr);
}

asio::awaitable<void> Http2Connection::run(std::string_view received) {
    state_settings();  // the first frame, also of a node that leaves
    auto sending = send_loop();
    tasks_.spawn(std::move(sending));
    std::exception_ptr fault;
    try {
        co_await serve(received);
    } catch (...) {
        fault = std::current_exception();
    }
    const auto state = co_await asio::this_coro::cancellation_state;
    auto stopped = state.cancelled() != asio::cancellation_type::none;
    over_ = true;
    to_send_->notify();
    // A node that stops ends the streams, whose timers have stopped, too. This coroutine waits.
    const auto note = [this, &stopped](asio::cancellation_type_t) {
        stopped = true;
        tasks_.cancel();
        return asio::cancellation_type::none;
    };
    co_await asio::this_coro::throw_if_cancelled(false);
    co_await asio::this_coro::reset_cancellation_state(note);
    co_await end_streams();
    if (fault || stopped) tasks_.cancel();
    co_await tasks_.wait();
    while (!streams_.empty()) end_stream(streams_.back());
    co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
    if (fault) std::rethrow_exception(fault);
    if (!stopped && !connection_.broken()) co_await connection_.linger();
}

asio::awaitable<void> Http2Connection::serve(std::string_view received) {
    wait_for_client();  // ends with the first request, which may be in these bytes already
    auto goes_on = take(received);
    for (;;) {
        serve_ready();
        send();
        while (streams_.any_ready() && !over_) {
            co_await asio::post(service_.executor, asio::use_awaitable);
            serve_ready();
            send();
        }
        if (!goes_on || over_ || !nghttp2_session_want_read(session())) break;
        if (unsent_.head_bytes > kHttp2UnsentHeads) co_await wait_until_sent();
        if (streams_.leaving() >= kStreamsPerTurn)
            co_await asio::post(service_.executor, asio::use_awaitable);
        const auto more = co_await connection_.receive_some();
        if (!more || over_) break;
        auto& input = connection_.input();
        goes_on = take(input.data());
        input.clear();
    }
    // Also to a client that waits for its next request: it learns which requests were served.
    nghttp2_session_terminate_session(session(), NGHTTP2_NO_ERROR);
    send();
}

void Http2Connection::state_settings() {
    const auto& config = service_.config();
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
         static_cast<std::uint32_t>(config.protocols.http2.streams)},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kHttp2FirstWindow},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(config.limits.head)},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
    };
    nghttp2_submit_settings(session(), NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session(), NGHTTP2_FLAG_NONE, 0, kHttp2ConnectionWindow);
}

/// False when the connection cannot go on.
bool Http2Connection::take(std::string_view bytes) {
    if (!meter_.charge(bytes)) {
        calm();
        return true;
    }
    busy_ = true;
    const auto* const data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    const auto taken = nghttp2_session_mem_recv(session(), data, bytes.size());
    busy_ = false;
    if (taken < 0) {
        nghttp2_session_terminate_session(session(), NGHTTP2_PROTOCOL_ERROR);
        return false;
    }
    if (nghttp2_session_get_outbound_queue_size(session()) > kHttp2QueuedFrames) calm();
    return true;
}

/// Ends the connection of a client that makes work without an end.
void Http2Connection::calm() {
    if (std::exchange(calmed_, true)) return;
    ++service_.counters.refusals[RequestRefusal::http2_flood];
    nghttp2_session_terminate_session(session(), NGHTTP2_ENHANCE_YOUR_CALM);
}

bool Http2Connection::FrameMeter::charge(std::string_view bytes) {
    const auto now = Clock::now();
    auto within = true;
    heads_.read(bytes, [&](const Http2FrameHead& frame) {
        const auto price = price_of(frame);
        if (price > 0 && !budget_.spend(now, price)) within = false;
    });
    return within;
}

void Http2Connection::take_frame(const nghttp2_frame& frame, Http2Stream* stream) {
    if (!stream) return;
    if (frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
        take_no_head();
        stream->take_head(ends_stream(frame));
        if (!stream->find_room()) {
            nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, stream->id(),
                                      NGHTTP2_REFUSED_STREAM);
            return;
        }
        if (stream->expects_end()) return stream->wait_for_end();
        streams_.make_ready(*stream);
    } else if (frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) {
        if (ends_stream(frame)) stream->body.end();
        if (stream->stop_waiting()) streams_.make_ready(*stream);
    }
}

/// A frame has gone to the socket's buffer.
void Http2Connection::count_frame(const nghttp2_frame& frame, Http2Stream* stream) {
    const auto responds = frame.hd.type == NGHTTP2_DATA || frame.hd.type == NGHTTP2_HEADERS;
    if (responds) meter_.earn();
    if (frame.hd.type == NGHTTP2_RST_STREAM && frame.rst_stream.error_code != NGHTTP2_NO_ERROR &&
        !meter_.charge_reset())
        calm();
    // nghttp2 ends the connection of a client that breaks the protocol.
    if (frame.hd.type == NGHTTP2_GOAWAY && frame.goaway.error_code != NGHTTP2_NO_ERROR && !calmed_)
        ++service_.counters.refusals[RequestRefusal::malformed];
    if (!stream) return;
    const auto ends = responds && ends_stream(frame);
    stream->writer.count_frame(frame.hd.length + kFrameHead, ends);
    if (ends) stream->response_sent();
}

/// No head of a request is on its way any more, so none is late.
void Http2Connection::take_no_head() {
    streams_.expect_no_head();
    connection_.end_idle();
}

/// Called with the first frame of a request's head. Streams whose code still runs count, so that a
/// client cannot have more of them by resets (CVE-2023-44487). Those whose response has ended are
/// over for the client, and serve() lets their code end.
int Http2Connection::begin_stream(std::int32_t id) {
    if (streams_.size() - streams_.leaving() >= service_.config().protocols.http2.streams) {
        nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
        return 0;
    }
    auto* stream = streams_.reuse();
    if (!stream) {
        Http2Output& output = *this;
        Http2Body::Windows& windows = *this;
        streams_.add(std::make_unique<Http2Stream>(service_, connection_, output, windows));
        stream = streams_.reuse();
    }
    stream->begin(id);
    nghttp2_session_set_stream_user_data(session(), id, stream);
    if (streams_.expect_head(*stream)) connection_.expect_head();
    return 0;
}

/// Begins with streams whose heads have come, as many as one turn may have. send() follows.
void Http2Connection::serve_ready() {
    const auto turn = streams_.take_turn();
    busy_ = true;  // send() follows
    for (auto* const stream : turn) {
        if (stream->is_closed()) {
            end_stream(*stream);
            continue;
        }
        stream->begin_serving();
        if (stream->serve_at_once()) continue;
        auto task = serve_stream(*stream);
        tasks_.spawn(std::move(task));
    }
    busy_ = false;
    free_ended();
}

asio::awaitable<void> Http2Connection::serve_stream(Http2Stream& stream) {
    co_await stream.serve();
    if (stream.is_closed() && !over_) end_stream(stream);
}

void Http2Connection::close_stream(Http2Stream& stream) {
    nghttp2_session_set_stream_user_data(session(), stream.id(), nullptr);
    if (streams_.expects_head_of(stream)) take_no_head();
    streams_.close(stream);
}

void Http2Connection::free_ended() {
    for (auto* const stream : streams_.take_ended()) end_stream(*stream);
}

void Http2Connection::end_stream(Http2Stream& stream) {
    stream.finish();
    streams_.end(stream);
    if (streams_.empty()) wait_for_client();
}

/// Closes all streams for their code, which ends soon then.
asio::awaitable<void> Http2Connection::end_streams() {
    for (std::size_t i = 0; i < streams_.size(); ++i) {
        if (i > 0 && i % kStreamsPerTurn == 0)
            co_await asio::post(service_.executor, asio::use_awaitable);
        streams_[i].close();
    }
}

/// No request is served.
void Http2Connection::wait_for_client() {
    if (streams_.expects_head()) return;
    connection_.begin_idle();
    streams_.watch_idle();
}

Http2Stream* Http2Connection::Streams::reuse() {
    if (unused_.empty()) return nullptr;
    used_.push_back(std::move(unused_.back()));
    unused_.pop_back();
    ++begun_;
    return used_.back().get();
}

std::vector<Http2Stream*> Http2Connection::Streams::take_turn() {
    const auto count = std::min(ready_.size(), kStreamsPerTurn);
    const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Http2Stream*> turn(ready_.begin(), end);
    ready_.erase(ready_.begin(), end);
    return turn;
}

void Http2Connection::Streams::close(Http2Stream& stream) {
    const auto ready = std::ranges::find(ready_, &stream) != ready_.end();
    stream.close();
    if (stream.is_leaving()) ++leaving_;
    // A stream that is ready ends in serve_ready(), a running one in serve_stream().
    if (!ready && !stream.is_running()) ended_.push_back(&stream);
}

void Http2Connection::Streams::end(Http2Stream& stream) {
    if (stream.is_leaving()) --leaving_;
    const auto place = std::ranges::find_if(
        used_, [&](const std::unique_ptr<Http2Stream>& each) { return each.get() == &stream; });
    auto owned = std::move(*place);
    *place = std::move(used_.back());
    used_.pop_back();
    if (owned->kept_bytes() > kUnusedBytes) owned->give_back();
    if (unused_.size() < kUnusedStreams) unused_.push_back(std::move(owned));
}

void Http2Connection::Streams::watch_idle() {
    if (!watches_) watch();
}

void Http2Connection::Streams::watch() {
    watches_ = true;
    begun_then_ = begun_;
    wheel_.arm(*this, wheel_.now() + kIdleAfter);
}

/// A connection that is busy at the time has its next rest before it.
void Http2Connection::Streams::expire() {
    watches_ = false;
    if (!used_.empty()) return;
    if (begun_ == begun_then_)
        rest();
    else
        watch();
}

/// Gives back memory that is more than a next request needs.
void Http2Connection::Streams::rest() {
    if (unused_.size() > kRestingStreams) unused_.resize(kRestingStreams);
    for (const auto& stream : unused_)
        if (stream->kept_bytes() > kRestingBytes) stream->give_back();
}

void Http2Connection::send_soon() {
    if (!busy_ && !blocked_) to_send_->notify();
}

/// A client that takes nothing could collect heads of responses here, also those of streams that it
/// has reset.
void Http2Connection::submitted(std::size_t bytes) {
    if (blocked_ && !unsent_.note_heads(bytes, service_.cache.shared.windows)) calm();
}

bool Http2Connection::Unsent::note_heads(std::size_t bytes, base::MemoryBudget& windows) {
    head_bytes += bytes;
    if (head_bytes <= kHttp2UnsentHeads * (heads_room.size() + 1)) return true;
    auto room = base::read_ahead(windows, kHttp2UnsentHeads);
    if (room) heads_room.push_back(std::move(*room));
    return room.has_value();
}

bool Http2Connection::Unsent::forget_heads() {
    heads_room.clear();
    return std::exchange(head_bytes, 0) > 0;
}

asio::awaitable<void> Http2Connection::wait_until_sent() {
    while (unsent_.head_bytes > 0 && !over_)
        co_await all_sent_->wait_until(Clock::time_point::max());
}

void Http2Connection::serve_late(std::int32_t id) {
    auto* const stream = stream_of(session(), id);
    if (!stream || over_) return;
    streams_.make_ready(*stream);
    serve_ready();
    send_soon();
}

void Http2Connection::taken(std::int32_t stream, std::size_t bytes) {
    nghttp2_session_consume_stream(session(), stream, bytes);
    send_soon();
}

void Http2Connection::widen(std::int32_t stream, std::size_t bytes) {
    nghttp2_session_set_local_window_size(session(), NGHTTP2_FLAG_NONE, stream,
                                          static_cast<std::int32_t>(bytes));
}

void Http2Connection::refuse(std::int32_t stream) {
    nghttp2_submit_rst_stream(session(), NGHTTP2_FLAG_NONE, stream, NGHTTP2_ENHANCE_YOUR_CALM);
}

/// Makes frames of what is ready and sends them, as much as the socket takes.
void Http2Connection::send() {
    while (!blocked_ && !over_) {
        if (unsent_.rest.empty()) {
            if (!make_frames()) return abandon();
            if (unsent_.out.empty()) break;
            unsent_.rest.assign(1, asio::buffer(unsent_.out));
        }
        blocked_ = !connection_.send_now(unsent_.rest);
        if (connection_.broken()) return abandon();
    }
    if (blocked_) to_send_->notify();  // send_loop() waits for the socket
    if (unsent_.rest.empty()) return_frames();
    if (!blocked_ && unsent_.forget_heads()) all_sent_->notify();
    free_ended();
}

/// False when nghttp2 has failed.
bool Http2Connection::make_frames() {
    auto& out = unsent_.out;
    if (out.capacity() < service_.frames.capacity()) out.swap(service_.frames);
    out.clear();
    busy_ = true;
    auto made = true;
    while (unsent_.has_room_for_frames(service_.cache.shared.windows)) {
        const std::uint8_t* bytes = nullptr;
        const auto size = nghttp2_session_mem_send(session(), &bytes);
        made = size >= 0;
        if (size <= 0) break;
        out.append(text_of(bytes, static_cast<std::size_t>(size)));
    }
    busy_ = false;
    return made;
}

bool Http2Connection::Unsent::has_room_for_frames(base::MemoryBudget& windows) {
    if (out.size() < kHttp2Unsent) return true;
    if (out.size() >= kHttp2UnsentBatch) return false;
    if (frames_room.bytes() > 0) return true;
    auto room = base::read_ahead(windows, kHttp2UnsentBatch);
    if (!room) return false;
    frames_room = std::move(*room);
    return true;
}

/// The memory of frames is the worker's, unless they wait for the socket.
void Http2Connection::return_frames() {
    auto& out = unsent_.out;
    out.clear();
    if (service_.frames.capacity() < out.capacity()) out.swap(service_.frames);
    base::give_back(out);
    unsent_.frames_room = base::Charge();
}

/// The client takes nothing any more.
void Http2Connection::abandon() {
    over_ = true;
    connection_.give_way();
    to_send_->notify();
    all_sent_->notify();
}

asio::awaitable<void> Http2Connection::send_loop() {
    while (!over_) {
        if (connection_.ending()) announce_end();
        send();
        if (over_) break;
        if (!blocked_) {
            co_await to_send_->wait_until(Clock::time_point::max());
            continue;
        }
        watch_.begin();
        const auto ready = co_await wait_for_step(connection_.socket(), connection_.send_wants());
        const auto in_time = watch_.end();
        if (!in_time) connection_.cut_slow_client();
        if (!ready || !in_time) abandon();
        blocked_ = false;
    }
}

bool Http2Connection::SendWatch::is_fast_enough() {
    const auto& config = of_.service_.config();
    const auto window = config.timeouts.body_idle;
    return taking_.fast_enough(Clock::now(), window,
                               base::least_bytes(config.limits.client_rate_min, window),
                               [this] { return of_.connection_.taken(); });
}

void Http2Connection::SendWatch::begin() {
    const auto window = of_.service_.config().timeouts.body_idle;
    of_.service_.wheel.arm(*this, taking_.wait(Clock::now(), of_.connection_.taken(), window));
}

bool Http2Connection::SendWatch::end() {
    of_.service_.wheel.disarm(*this);
    return is_fast_enough();
}

void Http2Connection::SendWatch::expire() {
    if (is_fast_enough()) return begin();
    of_.connection_.cut_slow_client();
    of_.abandon();
}

/// Tells the client to make no further requests here. Those on their way are still served.
void Http2Connection::announce_end() {
    if (std::exchange(announced_, true)) return;
    nghttp2_submit_shutdown_notice(session());
    if (streams_.empty()) wait_for_client();
}

asio::awaitable<void> serve_http2(ClientService& service, ClientConnection& connection,
                                  std::string_view received) {
    Http2Connection http2(service, connection);
    co_await http2.run(received);
}

}  // namespace proxy
