#include "proxy/client/client_connection.hpp"

#include <linux/sockios.h>
#include <openssl/evp.h>
#include <spdlog/spdlog.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "base/net/plain_address.hpp"
#include "base/net/quick_recovery.hpp"
#include "proxy/blocklists/normal_url.hpp"
#include "proxy/client/proxy_header.hpp"
#include "proxy/disk/record_body.hpp"
#include "proxy/tls/tls_contexts.hpp"

namespace proxy {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::milliseconds kDrainIdle{300};  // for a request already on its way
constexpr std::chrono::milliseconds kLinger{1000};
constexpr std::size_t kMaxLingerBytes = 256 * 1024;
// For a client that reads the response only when it has sent all of its body.
constexpr std::chrono::seconds kLingerForBody{30};
constexpr std::chrono::seconds kLingerForMore{2};
constexpr std::size_t kMaxBuffersPerCall = 64;

/// No server name is none of another host.
bool is_name_of(const InterceptedConnect& inside, std::string_view asked) {
    std::string buffer;
    return asked.empty() || normal_host(asked, buffer).text == inside.name;
}

/// One for each host: a ticket for one host resumes no session for another.
std::string session_context(std::string_view host) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
    unsigned size = 0;
    EVP_Digest(host.data(), host.size(), hash.data(), &size, EVP_sha256(), nullptr);
    return {reinterpret_cast<const char*>(hash.data()), base::kTlsSessionContext};
}

/// Drops the first `bytes` of `buffers`.
void advance(std::vector<asio::const_buffer>& buffers, std::size_t bytes) {
    auto it = buffers.begin();
    while (it != buffers.end() && bytes >= it->size()) bytes -= (it++)->size();
    if (it != buffers.end()) *it += bytes;
    buffers.erase(buffers.begin(), it);
}

}  // namespace

ClientConnection::ClientConnection(ClientService& service, AcceptedConnection&& client)
    : service_(service),
      socket_(std::move(client.socket)),
      scheme_(client.scheme),
      tls_(service.wheel),
      remote_(client.remote),
      retirement_{service.connections.retiring()} {
    ticket_ = std::move(client.ticket);
    stranger_ = std::move(client.stranger);
    waits_since_ = base::TimerWheel::Clock::now();
    boost::system::error_code ec;
    if (!socket_.non_blocking()) socket_.non_blocking(true, ec);
    if (scheme_ == Scheme::https)
        tls_.open(std::make_unique<base::TlsSession>(*service.settings.files().tls->server,
                                                     base::TlsSide::server, socket_));
    service_.add(*this);
}

ClientConnection::~ClientConnection() {
    // Else the kernel would keep what the client does not take, for minutes and beyond every limit.
    if (output_ == Output::too_slow) reset();
    service_.remove(*this);
}

void ClientConnection::peer_proven() {
    stranger_ = {};
    base::recover_quickly(socket_.native_handle());
}

void ClientConnection::expire() {
    expired_ = true;
    boost::system::error_code ignored;
    socket_.cancel(ignored);
}

void ClientConnection::retire() {
    retirement_.begin();
}

void ClientConnection::drain() {
    retirement_.begin();
    if (idle_) arm(kDrainIdle);
}

void ClientConnection::begin_idle() {
    idle_ = true;
    waits_since_ = service_.wheel.now();
    arm(ending() ? std::chrono::nanoseconds(kDrainIdle) : service_.config().timeouts.keep_alive);
}

void ClientConnection::end_idle() {
    idle_ = false;
    waits_since_ = kServed;
    service_.wheel.disarm(*this);
}

void ClientConnection::expect_head() {
    idle_ = false;
    arm(service_.config().timeouts.client_head);
}

void ClientConnection::arm(std::chrono::nanoseconds timeout) {
    service_.wheel.arm(*this, base::TimerWheel::Clock::now() + timeout);
}

/// The socket's own operation in the clear, without a coroutine.
asio::awaitable<std::size_t> ClientConnection::read(boost::system::error_code& ec) {
    if (tls_) return tls_read_some(socket_, *tls_, input_.prepare(1024), ec);
    return socket_.async_read_some(input_.prepare(1024),
                                   asio::redirect_error(asio::use_awaitable, ec));
}

bool ClientConnection::end_read(std::size_t bytes, const boost::system::error_code& ec) {
    tls_.note_use();
    input_.commit(bytes);
    return !ec && !expired_;
}

asio::awaitable<bool> ClientConnection::read_some() {
    boost::system::error_code ec;
    const auto bytes = co_await read(ec);
    co_return end_read(bytes, ec);
}

/// Not one byte more, as what follows may be for OpenSSL, which reads from the socket itself.
asio::awaitable<bool> ClientConnection::read_exactly(std::string& out, std::size_t bytes) {
    auto at = out.size();
    out.resize(at + bytes);
    boost::system::error_code ec;
    while (at < out.size() && !ec && !expired_) {
        const auto rest = asio::buffer(out.data() + at, out.size() - at);
        const auto n =
            co_await socket_.async_read_some(rest, asio::redirect_error(asio::use_awaitable, ec));
        at += n;
    }
    out.resize(at);
    co_return !ec && !expired_;
}

bool ClientConnection::from_this_host() const {
    boost::system::error_code gone;
    const auto other_end = socket_.remote_endpoint(gone);
    return !gone && base::plain_address(other_end.address()).is_loopback();
}

/// Appends a line with its end, LF, and nothing behind it. False: it is longer than `most`.
asio::awaitable<bool> ClientConnection::read_line(std::string& out, std::size_t most) {
    while (out.size() < most) {
        std::array<char, kMaxProxyLine> seen;
        const auto room = asio::buffer(seen, most - out.size());
        boost::system::error_code ec;
        const auto n = socket_.receive(room, asio::socket_base::message_peek, ec);
        if (ec == asio::error::would_block) {
            co_await socket_.async_wait(asio::socket_base::wait_read,
                                        asio::redirect_error(asio::use_awaitable, ec));
            if (ec || expired_) co_return false;
            continue;
        }
        if (ec) co_return false;
        const std::string_view bytes(seen.data(), n);
        const auto end = bytes.find('\n');
        const auto read = co_await read_exactly(out, end == std::string_view::npos ? n : end + 1);
        if (!read || end != std::string_view::npos) co_return read;
    }
    co_return false;
}

asio::awaitable<ClientConnection::ProxyHeaderRead> ClientConnection::receive_proxy_header() {
    idle_ = false;
    arm(service_.config().timeouts.client_head);
    std::string header;
    auto came = co_await read_exactly(header, kProxySignature);
    const auto version = came ? proxy_header_version(header) : ProxyHeaderVersion::none;
    if (version == ProxyHeaderVersion::one) came = co_await read_line(header, kMaxProxyLine);
    if (version == ProxyHeaderVersion::two)
        came = co_await read_exactly(header, kProxyHeaderStart - kProxySignature);
    const auto rest =
        came && version == ProxyHeaderVersion::two ? proxy_header_rest(header) : std::nullopt;
    if (rest) came = co_await read_exactly(header, *rest);
    service_.wheel.disarm(*this);
    if (came && version == ProxyHeaderVersion::none) {
        asio::buffer_copy(input_.prepare(header.size()), asio::buffer(header));
        input_.commit(header.size());
        co_return ProxyHeaderRead::missing;
    }
    if (!came)
        co_return header.empty() && !expired_ ? ProxyHeaderRead::nothing : ProxyHeaderRead::bad;
    const auto parsed = parse_proxy_header(header);
    if (parsed && parsed->client) {
        remote_ = *parsed->client;
        if (!service_.config().clients.trusted_proxies.contains(remote_))
            ticket_ = service_.shared.addresses.take(remote_);
        if (ticket_.of_address() > service_.share_of_address()) {
            ++service_.counters.refusals[RequestRefusal::too_many_connections];
            co_return ProxyHeaderRead::refused;
        }
    }
    co_return parsed ? ProxyHeaderRead::good : ProxyHeaderRead::bad;
}

asio::awaitable<ClientConnection::Handshake> ClientConnection::handshake() {
    idle_ = false;
    arm(service_.config().timeouts.client_head);
    boost::system::error_code ec;
    co_await tls_handshake(socket_, *tls_, ec);
    service_.wheel.disarm(*this);
    if (!ec && !expired_) {
        if (inside_) inside_->asked_by_name = is_name_of(*inside_, tls_->asked_name());
        co_return Handshake::done;
    }
    if (inside_)
        note_failed_intercept();
    else
        ++service_.counters.refusals[RequestRefusal::tls];
    spdlog::debug("no TLS connection with the client {}: {}", remote_.to_string(),
                  expired_ ? "the handshake took too long" : tls_->why());
    const auto plain = tls_->met_plain_http();
    tls_.reset();
    co_return plain ? Handshake::plain_http : Handshake::failed;
}

bool ClientConnection::begin_intercepted(std::unique_ptr<InterceptedConnect> inside) {
    inside_ = std::move(inside);
    scheme_ = Scheme::https;
    remote_ = inside_->client;
    retirement_.begun = service_.connections.retiring();
    waits_since_ = service_.wheel.now();
    head_bytes_.clear();  // of the CONNECT: HTTP/2 would take it for the first bytes inside
    auto bytes = input_.take_all();
    tls_.open(std::make_unique<base::TlsSession>(*inside_->interception->context,
                                                 base::TlsSide::server, socket_, std::move(bytes)));
    const auto& leaf = *inside_->leaf;
    return tls_->present(leaf.certificate.get(), leaf.key.get(), session_context(inside_->name));
}

/// Counts a failed handshake. Clients that do not trust the CA cannot go on, so the log says what
/// to do.
void ClientConnection::note_failed_intercept() {
    const auto why = expired_                   ? InterceptFailure::timeout
                     : tls_->was_mistrusted()   ? InterceptFailure::untrusted
                     : tls_->met_no_tls()       ? InterceptFailure::no_tls
                     : tls_->found_no_version() ? InterceptFailure::version
                     : tls_->was_cut()          ? InterceptFailure::cut
                                                : InterceptFailure::other;
    ++service_.counters.intercept_failures[why];
    if (why != InterceptFailure::untrusted) return;
    if (const auto more =
            service_.logs.untrusted.admit(inside_->name, base::TimerWheel::Clock::now()))
        spdlog::warn(
            "{} does not trust the certificate for {} ({}): give it the CA {}, or take the host "
            "out of forward.intercept.hosts{}",
            remote_.to_string(), inside_->name, tls_->why(),
            inside_->interception->authority->facts.file, *more);
}

bool ClientConnection::begins_handshake(ReadResult received) const {
    const std::string_view first = received == ReadResult::head ? head_bytes_ : input_.data();
    return !tls_ && first.starts_with(base::kTlsHandshake);
}

asio::awaitable<ClientConnection::Handshake> ClientConnection::peer_handshake(ReadResult received) {
    const auto psk = service_.settings.files().tls->peers;  // the handshake looks the key up
    std::string bytes;
    if (received == ReadResult::head) bytes = head_bytes_;
    bytes.append(input_.data());
    input_.clear();
    tls_.open(std::make_unique<base::TlsSession>(psk->server(), base::TlsSide::server, socket_,
                                                 std::move(bytes)));
    co_return co_await handshake();
}

std::optional<ClientConnection::ReadResult> ClientConnection::begin_head() {
    if (expired_) return ReadResult::closed;  // others have its place by now
    scanned_ = 0;
    input_.trim();
    idle_ = input_.empty();
    waits_since_ = service_.wheel.now();
    const auto& timeouts = service_.config().timeouts;
    if (idle_ && service_.connections.draining())
        arm(kDrainIdle);
    else  // without a read of the clock
        service_.wheel.arm(*this,
                           waits_since_ + (idle_ ? timeouts.keep_alive : timeouts.client_head));
    // A first request that is there already does not wait behind all that is ready elsewhere.
    if (std::exchange(first_read_, false) && !tls_) {
        boost::system::error_code ignored;
        input_.commit(socket_.read_some(input_.prepare(1024), ignored));
    }
    return input_.empty() ? std::nullopt : take_head();
}

std::optional<ClientConnection::ReadResult> ClientConnection::go_on_with_head(
    std::size_t bytes, const boost::system::error_code& ec) {
    if (!end_read(bytes, ec))
        return expired_ && !idle_ ? ReadResult::timed_out : ReadResult::closed;
    return take_head();
}

/// Takes the head off the input, if it is all there.
std::optional<ClientConnection::ReadResult> ClientConnection::take_head() {
    // RFC 9112 §2.2: empty lines before a request are skipped.
    while (input_.size() >= 2 && input_.data().starts_with("\r\n")) {
        input_.consume(2);
        scanned_ = 0;
    }
    const auto begins = idle_ && !input_.empty();
    if (begins) idle_ = false;
    const auto size = find_head_end(input_.data(), scanned_);
    if (size > 0 && size <= service_.config().limits.head) {
        head_bytes_.assign(input_.data().substr(0, size));
        input_.consume(size);
        service_.wheel.disarm(*this);
        waits_since_ = kServed;
        return ReadResult::head;
    }
    if (!input_.empty() && refusal() != ParseError::ok) return ReadResult::refused;
    if (begins) arm(service_.config().timeouts.client_head);
    return std::nullopt;
}

ParseError ClientConnection::refusal() const {
    const auto start = judge_request_start(input_.data(), service_.upstream.head_limits());
    const auto is_too_large =
        start == ParseError::ok && input_.size() > service_.config().limits.head;
    return is_too_large ? ParseError::head_too_large : start;
}

void ClientConnection::arm(base::Pace& pace, std::int64_t moved) {
    const auto window = service_.config().timeouts.body_idle;
    service_.wheel.arm(*this, pace.wait(base::TimerWheel::Clock::now(), moved, window));
}

/// After a wait: the client may go on.
template <class Moved>
bool ClientConnection::fast_enough(base::Pace& pace, Moved moved) {
    service_.wheel.disarm(*this);
    const auto& config = service_.config();
    const auto window = config.timeouts.body_idle;
    if (!pace.fast_enough(base::TimerWheel::Clock::now(), window,
                          base::least_bytes(config.limits.client_rate_min, window), moved))
        return false;
    expired_ = false;
    return true;
}

int ClientConnection::held_by_kernel() {
    int held = 0;
    if (::ioctl(socket_.native_handle(), SIOCOUTQ, &held) != 0) held = 0;
    return held;
}

std::int64_t ClientConnection::taken() {
    return static_cast<std::int64_t>(progress_.sent_bytes) - held_by_kernel();
}

bool ClientConnection::holds_response() {
    return !gave_way_ && !broken() && held_by_kernel() > 0;
}

asio::awaitable<bool> ClientConnection::receive_more() {
    for (;;) {
        arm(progress_.receiving, progress_.received_bytes);
        const auto before = input_.size();
        co_await read_some();
        const auto got = input_.size() - before;
        progress_.received_bytes += static_cast<std::int64_t>(got);
        const auto late = expired_;
        if (!fast_enough(progress_.receiving, [this] { return progress_.received_bytes; }))
            co_return false;
        if (got > 0 || !late) co_return got > 0;
    }
}

void ClientConnection::interrupt() {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
}

void ClientConnection::TlsLayer::note_use() {
    if (!session_) return;
    is_used_ = true;
    if (std::exchange(watches_, true)) return;
    session_->keep_buffers();
    wheel_.arm(*this, wheel_.now() + kKept);
}

void ClientConnection::TlsLayer::expire() {
    watches_ = session_ && std::exchange(is_used_, false);
    if (watches_)
        wheel_.arm(*this, wheel_.now() + kKept);
    else if (session_)
        session_->keep_no_buffers();
}

std::size_t ClientConnection::TlsLayer::most_of(const std::vector<asio::const_buffer>& buffers,
                                                base::MemoryBudget& windows) {
    if (batch_room_.bytes() == 0 && asio::buffer_size(buffers) > base::kTlsRecord)
        if (auto room = base::read_ahead(windows, base::kTlsBatch)) batch_room_ = std::move(*room);
    return batch_room_.bytes() > 0 ? base::kTlsBatch : base::kTlsRecord;
}

bool ClientConnection::send_tls_now(std::vector<asio::const_buffer>& buffers) {
    using Step = base::TlsSession::Step;
    tls_.note_use();
    const auto most = tls_.most_of(buffers, service_.cache.shared.windows);
    while (!buffers.empty()) {
        // After a wait the same bytes come here again, as the session wants it.
        std::size_t sent = 0;
        const auto wants = tls_.write(buffers, most, sent);
        progress_.sent_bytes += sent;
        advance(buffers, sent);
        if (wants == Step::done) continue;
        if (wants == Step::failed || wants == Step::end) {
            output_ = Output::broken;
            buffers.clear();
        } else {
            tls_->free_buffers();  // the client may be slow
            return false;
        }
        break;
    }
    tls_.end_batch();
    return !broken();
}

bool ClientConnection::send_now(std::vector<asio::const_buffer>& buffers) {
    if (broken()) {
        buffers.clear();
        return false;
    }
    if (tls_) return send_tls_now(buffers);
    while (!buffers.empty()) {
        std::array<iovec, kMaxBuffersPerCall> vectors;
        const auto count = std::min(buffers.size(), vectors.size());
        std::size_t wanted = 0;
        for (std::size_t i = 0; i < count; ++i) {
            vectors[i] = {const_cast<void*>(buffers[i].data()), buffers[i].size()};
            wanted += buffers[i].size();
        }
        msghdr message{};
        message.msg_iov = vectors.data();
        message.msg_iovlen = count;
        const auto sent = ::sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                output_ = Output::broken;
                buffers.clear();
            }
            return false;
        }
        progress_.sent_bytes += static_cast<std::size_t>(sent);
        advance(buffers, static_cast<std::size_t>(sent));
        if (static_cast<std::size_t>(sent) < wanted) return false;
    }
    return true;
}

ClientConnection::FileSent ClientConnection::send_file_now(const RecordBody& file,
                                                           std::uint64_t offset,
                                                           std::uint64_t bytes) {
    FileSent result;
    while (result.bytes < bytes && !broken()) {
        const auto sent = file.send_to(socket_.native_handle(), offset + result.bytes,
                                       static_cast<std::size_t>(bytes - result.bytes));
        if (sent > 0) {
            result.bytes += static_cast<std::uint64_t>(sent);
            continue;
        }
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (sent < 0 &&
            (errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT || errno == ENOTCONN))
            output_ = Output::broken;
        result.unreadable = !broken();
        break;
    }
    progress_.sent_bytes += result.bytes;
    return result;
}

asio::awaitable<bool> ClientConnection::wait_to_send(const Fill::Reader* reader) {
    const auto moved = [this] { return taken(); };
    const auto window = service_.config().timeouts.body_idle;
    service_.wheel.arm(
        *this, progress_.sending.wait(base::TimerWheel::Clock::now(), window, reader, moved));
    const auto ready = co_await wait_for_step(socket_, send_wants());
    service_.wheel.disarm(*this);
    const auto late = std::exchange(expired_, false);
    const auto least = base::least_bytes(service_.config().limits.client_rate_min, window);
    const auto is_fast =
        progress_.sending.fast_enough(base::TimerWheel::Clock::now(), window, least, reader, moved);
    if (!is_fast)
        output_ = Output::too_slow;
    else if (!ready && !late)
        output_ = Output::broken;
    co_return !broken();
}

asio::awaitable<bool> ClientConnection::send(std::vector<asio::const_buffer>& buffers) {
    while (!send_now(buffers) && !broken()) co_await wait_to_send();
    co_return !broken();
}

void ClientConnection::reset() {
    tls_.reset();  // it works on the descriptor
    boost::system::error_code ignored;
    socket_.set_option(asio::socket_base::linger(true, 0), ignored);
    socket_.close(ignored);  // the destructor would take the option back first
}

void ClientConnection::part() {
    if (tls_ && !broken()) tls_->close_notify();
    tls_.reset();  // what still comes is not for us to read
}

asio::awaitable<void> ClientConnection::linger(bool unread_body) {
    part();
    boost::system::error_code ec;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ec);
    if (ec) co_return;
    idle_ = false;
    unread_body = unread_body && !ending();
    base::Pace taking;
    std::size_t dropped = 0;
    auto end = base::TimerWheel::Clock::now() + (unread_body ? kLingerForBody : kLinger);
    // Most clients close at once, so the kernel is asked only about one that has not.
    for (auto first = true;; first = false) {
        const auto is_held = !first && holds_response();
        const auto now = base::TimerWheel::Clock::now();
        if (is_held) {
            expired_ = false;
            end = std::max(end, now + kLinger);
            taking.wait(now, taken(), service_.config().timeouts.body_idle);
        }
        const auto is_enough = !is_held && !unread_body && dropped >= kMaxLingerBytes;
        if (is_enough || now >= end) break;
        const auto most = is_held       ? std::chrono::nanoseconds(kLinger)
                          : unread_body ? std::chrono::nanoseconds(kLingerForMore)
                                        : std::chrono::nanoseconds::max();
        arm(std::min<std::chrono::nanoseconds>(end - now, most));
        const auto more = co_await read_some();
        const auto late = expired_;
        if (is_held && !fast_enough(taking, [this] { return taken(); })) {
            output_ = Output::too_slow;
            break;
        }
        if (!more && !(late && (is_held || (first && holds_response())))) break;
        dropped += input_.size();
        input_.clear();
    }
}

}  // namespace proxy
