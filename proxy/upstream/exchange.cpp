#include "proxy/upstream/exchange.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "proxy/http/connection_login.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/mended_head.hpp"
#include "proxy/http/retry_after.hpp"
#include "proxy/net/acknowledged.hpp"
#include "proxy/net/quick_recovery.hpp"
#include "proxy/net/wall_clock.hpp"

namespace proxy {

namespace asio = boost::asio;

namespace {

/// The cause that ended an operation whose deadline has not passed. A cancellation is this node's
/// doing and says nothing about the other side.
FetchError why_ended(const boost::system::error_code& ec) {
    return ec == asio::error::operation_aborted ? FetchError::abandoned : FetchError::reset;
}

/// The mark of the server from which a peer has its copy; 0: of no group.
std::uint32_t server_of_peer(Fields response) {
    std::uint32_t mark = 0;
    for (const auto& line : response) {
        if (!iequals(line.name, kServerField)) continue;
        const auto* const end = line.value.data() + line.value.size();
        if (std::from_chars(line.value.data(), end, mark, 16).ptr != end) return 0;
    }
    return mark;
}

}  // namespace

Exchange::~Exchange() {
    if (span_ && parser_ && !came_whole()) span_.fail("incomplete");
    if (with_peer_) give_up();
}

Received Exchange::received() const {
    const auto server = with_peer_ ? server_of_peer(head_.fields) : mark_;
    return {head_,  request_time_,    arrival_,  {}, false, arrival_.steady - asked_at_,
            server, redirects_.get(), of_client_};
}

asio::awaitable<FetchError> Exchange::run(const UpstreamTarget& target, const Request& request,
                                          Patience patience) {
    for (bool first = true;; first = false) {
        // A kept connection that has vanished has taken no time from the new one.
        const auto connect_by =
            vanished_ ? Clock::now() + (patience.connect - asked_at_) : patience.connect;
        auto error = co_await connect(target, connect_by, first ? Kept::any : Kept::none);
        // A TLS handshake may be cut as well as the bytes behind it.
        const auto refused = error == FetchError::connect_failed || error == FetchError::reset;
        if (refused && first && request.may_retry) continue;
        if (error != FetchError::none) co_return error;
        const auto sent_at = Clock::now();
        const auto deadline = std::min(sent_at + patience.head, patience.latest);
        error = co_await send(request.head, deadline);
        if (error == FetchError::none) error = co_await receive_head(request.is_head, deadline);
        if (error == FetchError::none) {
            time_to_head_ = arrival_.steady - sent_at;
            co_return error;
        }
        // A kept connection may have ended before the request. On a new one, the server has chosen
        // to end it, and may do so again.
        const auto unanswered = reused() && !got_bytes_ && error == FetchError::reset;
        if (error == FetchError::head_timeout || with_peer_) give_up();
        connection_.reset();
        // After the silence, nobody waits for this peer any more.
        const auto too_late = vanished_ && with_peer_;
        if (!unanswered || !request.may_retry || !first || too_late) co_return error;
        sent_twice_ = wrote_;
    }
}

asio::awaitable<FetchError> Exchange::connect(const UpstreamTarget& target,
                                              Clock::time_point deadline, Kept kept) {
    got_bytes_ = eof_ = orderly_end_ = broken_ = wrote_ = vanished_ = false;
    interim_bytes_ = 0;
    connection_.reset();
    if (kept != Kept::none && owned_ && *owned_) connection_ = pool_.take(target, *owned_);
    if (!connection_) {
        auto acquired = co_await pool_.acquire(target, deadline, kept);
        if (!acquired) co_return acquired.error();
        connection_ = std::move(*acquired);
    }
    if (logs_in_) connection_->of_client = connection_->logged_in = true;
    of_client_ = connection_->of_client;
    mark_ = target.mark;
    if (kept == Kept::recent && connection_->used)
        acknowledged_ = bytes_acknowledged(connection_->socket.native_handle());
    if (with_peer_) recover_quickly(connection_->socket.native_handle());
    if (abandoned_) co_return FetchError::abandoned;
    request_time_ = wall_now();
    asked_at_ = Clock::now();
    co_return FetchError::none;
}

asio::awaitable<FetchError> Exchange::send(std::string_view bytes, Clock::time_point deadline) {
    connection_->deadline.set(deadline);
    boost::system::error_code ec;
    auto sent = connection_->write_now(asio::buffer(bytes), ec);
    if (!ec && sent < bytes.size()) {
        const auto later = co_await connection_->write(asio::buffer(bytes.substr(sent)), ec);
        sent += later;
    }
    note_write(sent, ec);
    if (abandoned_) co_return FetchError::abandoned;
    if (!ec) co_return FetchError::none;
    co_return connection_->deadline.expired() ? FetchError::head_timeout : why_ended(ec);
}

/// To a socket the other side's end is EPIPE only if it came before a reset: that stands for the
/// end, which is there to be read.
void Exchange::note_write(std::size_t sent, const boost::system::error_code& ec) {
    wrote_ = wrote_ || sent > 0 || connection_->tls;
    if (ec && ec != asio::error::operation_aborted && ec != asio::error::broken_pipe)
        broken_ = true;
}

void Exchange::note_end(bool orderly) {
    orderly_end_ = orderly && !broken_;
    broken_ = broken_ || !orderly;
}

bool Exchange::was_unread() const {
    if (!reused() || got_bytes_) return false;
    if (!wrote_) return true;
    // A used connection has had bytes acknowledged: none means that the system does not count.
    return orderly_end_ && acknowledged_.value_or(0) > 0 &&
           bytes_acknowledged(connection_->socket.native_handle()) == acknowledged_;
}

/// No byte of the request on this kept connection has been acknowledged.
bool Exchange::has_vanished() const {
    return reused() && !got_bytes_ &&
           is_unacknowledged_since(connection_->socket.native_handle(), Clock::now() - asked_at_);
}

/// Ends a connection on which a request has had no response. It is aborted, because the packets of
/// a connection that closes in order are repeated for minutes. A request that this node has
/// replaced or given up could still be executed then.
void Exchange::give_up() {
    if (!connection_ || got_bytes_ || !wrote_) return;
    abort_at_close(connection_->socket.native_handle());
}

/// Its siblings went the same way.
FetchError Exchange::vanish() {
    vanished_ = true;
    give_up();
    pool_.remove_siblings(*connection_);
    return FetchError::reset;
}

void Exchange::abandon() {
    abandoned_ = true;
    boost::system::error_code ignored;
    if (connection_) connection_->socket.cancel(ignored);
}

void Exchange::listen(std::function<void()> notify) {
    using Socket = asio::ip::tcp::socket;
    listener_ = std::make_shared<Listener>(Listener{std::move(notify)});
    auto& socket = connection_->socket;
    socket.async_wait(Socket::wait_read, [weak = std::weak_ptr(listener_),
                                          &socket](const boost::system::error_code& cancelled) {
        const auto listener = weak.lock();  // with it there is the socket
        if (cancelled || !listener) return;
        listener->heard = true;
        boost::system::error_code ignored;
        socket.cancel(ignored);
        listener->notify();
    });
}

asio::awaitable<FetchError> Exchange::send_some(std::string_view& bytes,
                                                Clock::time_point deadline) {
    connection_->deadline.set(deadline);
    boost::system::error_code ec;
    const auto sent = co_await connection_->write(asio::buffer(bytes), ec);
    note_write(sent, ec);
    bytes.remove_prefix(sent);
    if (!ec) co_return FetchError::none;
    if (connection_->deadline.expired()) co_return FetchError::head_timeout;
    const auto why = why_ended(ec);
    co_return why == FetchError::abandoned&& heard() ? FetchError::none : why;
}

Exchange::Said Exchange::look() {
    auto& buffer = connection_->buffer;
    std::size_t scanned = 0;
    for (;;) {
        // More than a head may have is receive_any_head()'s to refuse.
        if (find_head_end(buffer.data(), scanned) > 0 || buffer.size() > limits_.head_bytes)
            return Said::head;
        std::size_t got = 0;
        const auto step = connection_->read_now(buffer.prepare(2048), got);
        buffer.commit(got);
        if (got > 0) {
            got_bytes_ = true;
            continue;
        }
        if (step == protocol::TlsSession::Step::wait_read ||
            step == protocol::TlsSession::Step::wait_write)
            return Said::nothing;
        note_end(step == protocol::TlsSession::Step::end);
        return Said::end;
    }
}

asio::awaitable<FetchError> Exchange::read_some(std::size_t least) {
    if (abandoned_) co_return FetchError::abandoned;
    auto& buffer = connection_->buffer;
    boost::system::error_code ec;
    const auto n = co_await connection_->read_some(buffer.prepare(least), ec);
    buffer.commit(n);
    if (n > 0) got_bytes_ = true;
    if (abandoned_) co_return FetchError::abandoned;
    if (!ec) co_return FetchError::none;
    if (connection_->deadline.expired()) co_return FetchError::head_timeout;
    eof_ = ec == asio::error::eof;
    if (ec != asio::error::operation_aborted) note_end(eof_);
    co_return why_ended(ec);
}

asio::awaitable<FetchError> Exchange::receive_head(bool is_head, Clock::time_point deadline) {
    for (;;) {
        const auto error = co_await receive_any_head(is_head, deadline);
        if (error == FetchError::head_timeout && !got_bytes_) pool_.distrust(*connection_);
        if (error != FetchError::none || head_.status >= 200 || head_.status == 101)
            co_return error;
        if (on_interim_) co_await on_interim_(head_);
    }
}

asio::awaitable<FetchError> Exchange::receive_any_head(bool is_head, Clock::time_point deadline) {
    const auto silent_at = asked_at_ + kSilenceOfSystem;
    auto looks = reused() && !got_bytes_ && !waits_for_late_ && silent_at < deadline;
    connection_->deadline.set(looks ? silent_at : deadline);
    auto& buffer = connection_->buffer;
    std::size_t scanned = 0;
    for (;;) {
        const auto size = find_head_end(buffer.data(), scanned);
        if ((size > 0 ? size : buffer.size()) + interim_bytes_ > limits_.head_bytes)
            co_return refuse(ParseError::head_too_large);
        if (size > 0) {
            head_bytes_.assign(buffer.data().substr(0, size));
            buffer.consume(size);
            break;
        }
        const auto start = judge_response_start(buffer.data());
        if (start != ParseError::ok) co_return refuse(start);
        const auto error = co_await read_some(2048);
        if (error == FetchError::head_timeout && std::exchange(looks, false)) {
            if (has_vanished()) co_return vanish();
            connection_->deadline.set(deadline);
            continue;
        }
        if (error != FetchError::none) co_return error;
    }
    auto parsed = parse_head(is_head);
    if (parsed != ParseError::ok && !with_peer_) {
        const auto mended = mend_response_head(head_bytes_);
        if (mended != ParseError::ok) co_return refuse(mended);
        parsed = parse_head(is_head);
    }
    if (parsed == ParseError::ok && HopByHop(head_.fields).too_many())
        parsed = ParseError::bad_connection;
    if (parsed != ParseError::ok) co_return refuse(parsed);
    announces_a_body_ =
        is_head && !with_peer_ && (parser_->chunked() || parser_->content_length().value_or(0) > 0);
    if (head_.status == 101 && !may_upgrade_) co_return FetchError::malformed;
    if (offers_connection_login(head_.status, head_.fields))
        of_client_ = connection_->of_client = true;
    if (head_.status < 200) interim_bytes_ += head_bytes_.size();
    arrival_ = {Clock::now(), wall_now()};
    server_ = connection_->address;
    co_return FetchError::none;
}

ParseError Exchange::parse_head(bool is_head) {
    parser_.emplace(head_, limits_);
    if (is_head) parser_->skip(true);
    return parser_->parse_head(head_bytes_);
}

std::optional<Exchange::Clock::time_point> Exchange::not_before() const {
    const auto delay = retry_after(head_.status, head_.fields, arrival_.wall);
    if (!delay) return std::nullopt;
    return arrival_.steady + *delay;
}

std::optional<std::uint64_t> Exchange::content_length() const {
    if (!parser_ || !parser_->sized() || rewriter_) return std::nullopt;
    return *parser_->content_length();
}

FetchError Exchange::refuse(ParseError what) {
    malformed_ = what;
    return FetchError::malformed;
}

FetchError Exchange::decode() {
    const auto data = connection_->buffer.data();
    const auto consumed = parser_->parse_body(data, [this](std::string_view piece) {
        if (!piece.empty()) pieces_.push_back(piece);
        if (received_) *received_ += piece.size();
    });
    if (!consumed) return refuse(parser_->error());
    pending_ = *consumed;
    return FetchError::none;
}

std::size_t Exchange::next_read() {
    if (std::exchange(first_read_, false)) return kFirstReadBytes;
    if (read_ahead_.bytes() == 0) {
        auto room = proxy::read_ahead(pool_.windows(), kUpstreamReadBytes);
        if (!room) return kFirstReadBytes;
        read_ahead_ = std::move(*room);
    }
    return kUpstreamReadBytes;
}

asio::awaitable<FetchError> Exchange::read_received(Clock::time_point deadline) {
    pieces_.clear();
    connection_->buffer.consume(pending_);
    pending_ = 0;
    if (came_whole()) co_return FetchError::none;
    if (!connection_->buffer.empty()) {  // what came along with the head
        if (const auto error = decode(); error != FetchError::none) co_return error;
        if (!pieces_.empty() || came_whole()) co_return FetchError::none;
        connection_->buffer.consume(pending_);
        pending_ = 0;
    }
    // A chunk line or trailer that never ends.
    if (connection_->buffer.size() > limits_.head_bytes) co_return refuse(ParseError::bad_chunk);
    connection_->deadline.set(deadline);
    const auto error = co_await read_some(next_read());
    if (error == FetchError::head_timeout) co_return FetchError::body_timeout;
    if (error == FetchError::abandoned) co_return error;
    if (error != FetchError::none) {
        if (eof_ && parser_->finish_at_eof()) co_return FetchError::none;
        co_return error;
    }
    co_return decode();
}

void Exchange::take_head(std::shared_ptr<const HeadRewrite> head) {
    head_.fields = head->fields;
    rewritten_ = std::move(head);
}

void Exchange::rewrite_body(std::unique_ptr<BodyRewriter> rewriter, Charge charge) {
    rewriter_ = std::move(rewriter);
    rewriter_memory_ = std::move(charge);
    received_pieces_.assign(pieces_.begin(), pieces_.end());
    pieces_.clear();
}

/// A long run of coded bytes becomes much text, so other coroutines get a turn between the steps.
asio::awaitable<FetchError> Exchange::read_rewritten(Clock::time_point deadline) {
    if (received_pieces_.empty() && !came_whole()) {
        const auto error = co_await read_received(deadline);
        if (error != FetchError::none) co_return error;
        received_pieces_.swap(pieces_);
    } else {
        const auto executor = co_await asio::this_coro::executor;
        co_await asio::post(executor, asio::use_awaitable);
        if (abandoned_) co_return FetchError::abandoned;
    }
    pieces_.clear();
    co_return rewrite_some();
}

/// One step of the rewriter for the bytes that are here. There may be no result yet.
FetchError Exchange::rewrite_some() {
    auto none = std::string_view();
    auto& piece = received_pieces_.empty() ? none : received_pieces_.front();
    const auto last = came_whole() && received_pieces_.size() <= 1;
    const auto made = rewriter_->step(piece, last);
    if (!made) return refuse(ParseError::bad_coding);
    if (piece.empty() && !received_pieces_.empty())
        received_pieces_.erase(received_pieces_.begin());
    if (!made->empty()) pieces_.push_back(*made);
    return FetchError::none;
}

void Exchange::take(std::size_t bytes) {
    auto piece = pieces_.begin();
    for (; piece != pieces_.end() && piece->size() <= bytes; ++piece) bytes -= piece->size();
    if (bytes > 0) piece->remove_prefix(bytes);
    pieces_.erase(pieces_.begin(), piece);
}

asio::awaitable<void> Exchange::discard(Clock::time_point deadline) {
    const auto length = done() ? std::optional<std::uint64_t>(0) : content_length();
    auto error = length && *length <= kMaxDiscarded ? FetchError::none : FetchError::abandoned;
    while (error == FetchError::none && !done()) error = co_await read_body(deadline);
    finish();
}

UpstreamPtr Exchange::take_connection() {
    connection_->deadline.clear();
    return std::move(connection_);
}

void Exchange::finish() {
    if (span_ && parser_ && !came_whole()) span_.fail("incomplete");
    span_.end();
    if (!connection_) return;
    pool_.keep_ticket(*connection_);
    read_ahead_ = Charge();
    pieces_.clear();
    received_pieces_.clear();
    connection_->buffer.consume(pending_);
    pending_ = 0;
    // Bytes after the end of a response make the connection worthless (RFC 9112 §9.3).
    const auto reusable = came_whole() && !eof_ && parser_->keep_alive() &&
                          connection_->buffer.empty() && !connection_->deadline.expired();
    if (reusable && announces_a_body_) connection_->quiet_until = Clock::now() + kLateBody;
    if (reusable && connection_->of_client && owned_)
        UpstreamPool::release(std::move(connection_), *owned_);
    else if (reusable && !connection_->of_client)
        pool_.release(std::move(connection_));
    else
        connection_.reset();
}

}  // namespace proxy
