#include "proxy/upstream/exchange.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>

#include "base/net/acknowledged.hpp"
#include "base/net/quick_recovery.hpp"
#include "proxy/http/connection_login.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/hop_by_hop.hpp"
#include "proxy/http/retry_after.hpp"
#include "proxy/http/wall_clock.hpp"

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

std::size_t ReadWindow::next(base::MemoryBudget& windows) {
    if (std::exchange(first_, false)) return kFirstReadBytes;
    if (charge_.bytes() == 0) {
        auto room = base::read_ahead(windows, kUpstreamReadBytes);
        if (!room) return kFirstReadBytes;
        charge_ = std::move(*room);
    }
    return kUpstreamReadBytes;
}

Exchange::~Exchange() {
    if (span_ && reader_.is_partial()) span_.fail("incomplete");
    if (terms_.with_peer) give_up();
}

ReceivedHead Exchange::received() const {
    const auto server = terms_.with_peer ? server_of_peer(head().fields) : sender_.mark;
    return {head(), asked_.wall,      arrival_,         {}, false, time_to_head(),
            server, redirects_.get(), sender_.of_client};
}

asio::awaitable<FetchError> Exchange::run(const UpstreamTarget& target, const Request& request,
                                          Patience patience) {
    for (bool first = true;; first = false) {
        // A kept connection that has vanished has taken no time from the new one.
        const auto connect_by = delivery_.has_vanished()
                                    ? Clock::now() + (patience.connect - asked_.steady)
                                    : patience.connect;
        const auto kept = first ? ConnectionReuse::any : ConnectionReuse::none;
        // Most requests find a kept connection, and need no coroutine to take it.
        auto error = FetchError::none;
        if (take_kept(target, kept))
            error = begin_on_connection(target, kept);
        else
            error = co_await acquire(target, connect_by, kept);
        // A TLS handshake may be cut as well as the bytes behind it.
        const auto refused = error == FetchError::connect_failed || error == FetchError::reset;
        if (refused && first && request.may_retry) continue;
        if (error != FetchError::none) co_return error;
        const auto deadline = std::min(asked_.steady + patience.head, patience.latest);
        error = co_await send(request.head, deadline);
        if (error == FetchError::none) error = co_await receive_head(request.is_head, deadline);
        // A server that ends an idle connection may say so, and the request that crossed this
        // answer may go out again (RFC 9110 §15.5.9).
        const auto was_idle = error == FetchError::none && reused() && head().status == 408;
        if (was_idle && request.may_retry && first && !terms_.with_peer) {
            sent_twice_ = delivery_.was_sent();
            continue;
        }
        if (error == FetchError::none) co_return error;
        // A kept connection may have ended before the request. On a new one, the server has chosen
        // to end it, and may do so again.
        const auto unanswered = reused() && !heard_answer() && error == FetchError::reset;
        if (error == FetchError::head_timeout || terms_.with_peer) give_up();
        connection_.reset();
        // After the silence, nobody waits for this peer any more.
        const auto too_late = delivery_.has_vanished() && terms_.with_peer;
        if (!unanswered || !request.may_retry || !first || too_late) co_return error;
        sent_twice_ = delivery_.was_sent();
    }
}

asio::awaitable<FetchError> Exchange::connect(const UpstreamTarget& target,
                                              Clock::time_point deadline, ConnectionReuse kept) {
    if (take_kept(target, kept)) co_return begin_on_connection(target, kept);
    const auto error = co_await acquire(target, deadline, kept);
    co_return error;
}

/// Gets a connection after take_kept() has found none.
asio::awaitable<FetchError> Exchange::acquire(const UpstreamTarget& target,
                                              Clock::time_point deadline, ConnectionReuse kept) {
    auto acquired = co_await pool_.acquire(target, deadline, kept);
    if (!acquired) co_return acquired.error();
    connection_ = std::move(*acquired);
    co_return begin_on_connection(target, kept);
}

/// False: there is none that the request may use, or it takes a wait to find out.
bool Exchange::take_kept(const UpstreamTarget& target, ConnectionReuse kept) {
    delivery_ = {};
    reader_.begin();
    connection_.reset();
    auto* const owned = terms_.owned;
    if (kept != ConnectionReuse::none && owned && *owned) connection_ = pool_.take(target, *owned);
    if (!connection_) connection_ = pool_.take_kept(target, kept);
    return connection_ != nullptr;
}

FetchError Exchange::begin_on_connection(const UpstreamTarget& target, ConnectionReuse kept) {
    if (terms_.logs_in) connection_->login = ConnectionLogin::done;
    sender_.of_client = connection_->is_of_client();
    sender_.mark = target.mark;
    if (kept == ConnectionReuse::recent && connection_->is_used()) delivery_.begin_on(socket());
    if (terms_.with_peer) base::recover_quickly(socket());
    if (abandoned_) return FetchError::abandoned;
    asked_ = {Clock::now(), wall_now()};
    return FetchError::none;
}

asio::awaitable<FetchError> Exchange::send(std::string_view bytes, Clock::time_point deadline) {
    connection_->deadline.set(deadline);
    boost::system::error_code ec;
    auto sent = connection_->write_now(asio::buffer(bytes), ec);
    if (!ec && sent < bytes.size()) {
        const auto later = co_await connection_->write(asio::buffer(bytes.substr(sent)), ec);
        sent += later;
    }
    delivery_.sent(sent, ec, connection_->tls != nullptr);
    if (abandoned_) co_return FetchError::abandoned;
    if (!ec) co_return FetchError::none;
    co_return connection_->deadline.expired() ? FetchError::head_timeout : why_ended(ec);
}

bool Exchange::was_unread() const {
    return reused() && delivery_.was_unread(socket());
}

/// No byte of the request on this kept connection has been acknowledged.
bool Exchange::has_vanished() const {
    return reused() && delivery_.is_unacknowledged(socket(), Clock::now() - asked_.steady);
}

/// Ends a connection on which a request has had no response. It is aborted, because the packets of
/// a connection that closes in order are repeated for minutes. A request that this node has
/// replaced or given up could still be executed then.
void Exchange::give_up() {
    if (!connection_ || heard_answer() || !delivery_.was_sent()) return;
    base::abort_at_close(socket());
}

/// Its siblings went the same way.
FetchError Exchange::vanish() {
    delivery_.vanished();
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
    delivery_.sent(sent, ec, connection_->tls != nullptr);
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
        if (reader_.has_head(buffer, scanned)) return Said::head;
        std::size_t got = 0;
        const auto step = connection_->read_now(buffer.prepare(2048), got);
        buffer.commit(got);
        if (got > 0) {
            delivery_.answered();
            continue;
        }
        if (step == base::TlsSession::Step::wait_read || step == base::TlsSession::Step::wait_write)
            return Said::nothing;
        delivery_.ended(step == base::TlsSession::Step::end);
        return Said::end;
    }
}

asio::awaitable<FetchError> Exchange::read_some(std::size_t least) {
    if (abandoned_) co_return FetchError::abandoned;
    auto& buffer = connection_->buffer;
    boost::system::error_code ec;
    const auto n = co_await connection_->read_some(buffer.prepare(least), ec);
    buffer.commit(n);
    if (n > 0) delivery_.answered();
    if (abandoned_) co_return FetchError::abandoned;
    if (!ec) co_return FetchError::none;
    if (connection_->deadline.expired()) co_return FetchError::head_timeout;
    if (ec != asio::error::operation_aborted) delivery_.ended(ec == asio::error::eof);
    co_return why_ended(ec);
}

asio::awaitable<FetchError> Exchange::receive_head(bool is_head, Clock::time_point deadline) {
    for (;;) {
        const auto error = co_await receive_any_head(is_head, deadline);
        if (error == FetchError::head_timeout && !heard_answer()) pool_.distrust(*connection_);
        if (error != FetchError::none || head().status >= 200 || head().status == 101)
            co_return error;
        if (terms_.on_interim) co_await terms_.on_interim(head());
    }
}

asio::awaitable<FetchError> Exchange::receive_any_head(bool is_head, Clock::time_point deadline) {
    const auto silent_at = asked_.steady + kSilenceOfSystem;
    auto looks =
        reused() && !heard_answer() && !terms_.waits_for_late_packets && silent_at < deadline;
    connection_->deadline.set(looks ? silent_at : deadline);
    std::size_t scanned = 0;
    for (;;) {
        const auto step =
            reader_.take_head(connection_->buffer, scanned, is_head, !terms_.with_peer);
        if (step == ResponseReader::Step::malformed) co_return FetchError::malformed;
        if (step == ResponseReader::Step::head) break;
        const auto error = co_await read_some(2048);
        if (error == FetchError::head_timeout && std::exchange(looks, false)) {
            if (has_vanished()) co_return vanish();
            connection_->deadline.set(deadline);
            continue;
        }
        if (error != FetchError::none) co_return error;
    }
    if (head().status == 101 && !terms_.may_upgrade) co_return FetchError::malformed;
    if (offers_connection_login(head().status, head().fields)) {
        connection_->login = std::max(connection_->login, ConnectionLogin::asked);
        sender_.of_client = true;
    }
    sender_.address = connection_->address;
    arrival_ = {Clock::now(), wall_now()};
    co_return FetchError::none;
}

std::optional<Exchange::Clock::time_point> Exchange::not_before() const {
    const auto delay = retry_after(head().status, head().fields, arrival_.wall);
    if (!delay) return std::nullopt;
    return arrival_.steady + *delay;
}

std::optional<std::uint64_t> Exchange::content_length() const {
    return mirrored_.has_body() ? std::nullopt : reader_.content_length();
}

asio::awaitable<FetchError> Exchange::read_received(Clock::time_point deadline) {
    auto& buffer = connection_->buffer;
    reader_.drop_pieces(buffer);
    if (reader_.is_done()) co_return FetchError::none;
    if (!buffer.empty()) {  // what came along with the head
        if (!reader_.decode(buffer, terms_.received_bytes)) co_return FetchError::malformed;
        if (!pieces().empty() || reader_.is_done()) co_return FetchError::none;
        reader_.drop_pieces(buffer);
    }
    if (reader_.is_stuck(buffer)) co_return reader_.refuse(ParseError::bad_chunk);
    connection_->deadline.set(deadline);
    const auto error = co_await read_some(window_.next(pool_.windows()));
    if (error == FetchError::head_timeout) co_return FetchError::body_timeout;
    if (error == FetchError::abandoned) co_return error;
    if (error != FetchError::none) {
        const auto is_complete = delivery_.has_ended_orderly() && reader_.finish_at_end();
        co_return is_complete ? FetchError::none : error;
    }
    co_return reader_.decode(buffer, terms_.received_bytes) ? FetchError::none
                                                            : FetchError::malformed;
}

void Exchange::take_head(std::shared_ptr<const HeadRewrite> head) {
    reader_.head().fields = head->fields;
    mirrored_.take_head(std::move(head));
}

void Exchange::rewrite_body(std::unique_ptr<BodyRewriter> rewriter, base::Charge charge) {
    mirrored_.begin_body(std::move(rewriter), std::move(charge), reader_.pieces());
}

/// A long run of coded bytes becomes much text, so other coroutines get a turn between the steps.
asio::awaitable<FetchError> Exchange::read_rewritten(Clock::time_point deadline) {
    if (mirrored_.wants_more() && !reader_.is_done()) {
        const auto error = co_await read_received(deadline);
        if (error != FetchError::none) co_return error;
        mirrored_.take(reader_.pieces());
    } else {
        const auto executor = co_await asio::this_coro::executor;
        co_await asio::post(executor, asio::use_awaitable);
        if (abandoned_) co_return FetchError::abandoned;
    }
    reader_.pieces().clear();
    co_return mirrored_.step(reader_.is_done(), reader_.pieces())
        ? FetchError::none
        : reader_.refuse(ParseError::bad_coding);
}

void Exchange::take(std::size_t bytes) {
    auto& pieces = reader_.pieces();
    auto piece = pieces.begin();
    for (; piece != pieces.end() && piece->size() <= bytes; ++piece) bytes -= piece->size();
    if (bytes > 0) piece->remove_prefix(bytes);
    pieces.erase(pieces.begin(), piece);
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
    if (span_ && reader_.is_partial()) span_.fail("incomplete");
    span_.end();
    if (!connection_) return;
    pool_.keep_ticket(*connection_);
    auto& buffer = connection_->buffer;
    window_.close();
    mirrored_.drop_pieces();
    reader_.drop_pieces(buffer);
    // Bytes after the end of a response make the connection worthless (RFC 9112 §9.3).
    const auto reusable = reader_.is_done() && !delivery_.has_ended_orderly() && keep_alive() &&
                          buffer.empty() && !connection_->deadline.expired();
    if (reusable && !terms_.with_peer && reader_.announces_a_body())
        connection_->quiet_until = Clock::now() + kLateBody;
    if (reusable && connection_->is_of_client() && terms_.owned)
        UpstreamPool::release(std::move(connection_), *terms_.owned);
    else if (reusable && !connection_->is_of_client())
        pool_.release(std::move(connection_));
    else
        connection_.reset();
}

}  // namespace proxy
