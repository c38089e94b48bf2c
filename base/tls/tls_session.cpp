#include "base/tls/tls_session.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <initializer_list>
#include <new>
#include <system_error>
#include <tuple>
#include <utility>

namespace base {
namespace {

namespace asio = boost::asio;
using Socket = TlsSession::Socket;
using Step = TlsSession::Step;

constexpr std::string_view kHttp2Name = "h2";
/// What TLS adds to the records of a batch, with room to spare.
constexpr std::size_t kRecordFrames = 1024;

/// OpenSSL's callback for each message.
void count_message(int is_written, int, int type, const void*, std::size_t, SSL*, void* line) {
    auto& of = *static_cast<TlsLine*>(line);
    if (!is_written && type == SSL3_RT_HANDSHAKE && of.open) ++of.messages;
}

/// Where the records of one write() are collected, for all sessions of the thread. A session below
/// another one makes records of the other's batch.
std::string& batch_of_thread(bool is_above) {
    static thread_local std::string batches[2];
    auto& batch = batches[is_above ? 1 : 0];
    if (batch.capacity() == 0) batch.reserve(kTlsBatch + kRecordFrames);
    return batch;
}

bool is_one_of(unsigned long code, std::initializer_list<int> reasons) {
    return std::ranges::find(reasons, ERR_GET_REASON(code)) != reasons.end();
}

/// SSL_get_error() reads the queue of the thread, which is empty nearly always.
void forget_errors() {
    if (ERR_peek_error() != 0) ERR_clear_error();
}

/// Keeps OpenSSL's first error of this thread while the session below works, which clears them.
class KeptTlsError {
public:
    KeptTlsError() : code_(ERR_peek_error()) {}
    KeptTlsError(const KeptTlsError&) = delete;
    ~KeptTlsError() {
        if (code_ == 0 || ERR_peek_error() != 0) return;
        ERR_new();
        ERR_set_error(ERR_GET_LIB(code_), ERR_GET_REASON(code_), nullptr);
    }

private:
    unsigned long code_;
};

/// Of a certificate that came alone, without the one of its issuer. Many servers are set up so,
/// because browsers find the missing one by themselves.
std::string why_not_verified(SSL* ssl, long verified) {
    std::string why = X509_verify_cert_error_string(verified);
    const auto* const chain = SSL_get_peer_cert_chain(ssl);
    const auto is_without_issuer = verified == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
                                   verified == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
    if (!is_without_issuer || !chain || sk_X509_num(chain) != 1) return why;
    std::array<char, 256> issuer{};  // with escapes for what is not printable
    X509_NAME_oneline(X509_get_issuer_name(sk_X509_value(chain, 0)), issuer.data(),
                      static_cast<int>(issuer.size()));
    return why
        .append(": the server sends its own certificate alone, and no certificate of its issuer ")
        .append(issuer.data())
        .append(
            " is known here. An intermediate certificate is missing in what the server sends, "
            "or that issuer is a CA that this node does not trust");
}

/// The result of send() or recv() that a step of the session below stands for.
ssize_t result_of(Step step, std::size_t bytes) {
    if (step == Step::end) return 0;
    if (step != Step::failed && (bytes > 0 || step == Step::done))
        return static_cast<ssize_t>(bytes);
    errno = step == Step::failed ? ECONNRESET : EAGAIN;
    return -1;
}

}  // namespace

void SslFree::operator()(SSL* ssl) const {
    SSL_free(ssl);
}
void SslFree::operator()(SSL_SESSION* session) const {
    SSL_SESSION_free(session);
}

TlsSession::TlsSession(SSL_CTX& context, TlsSide side, TlsLine line)
    : line_(std::move(line)), ssl_(SSL_new(&context)) {
    if (!ssl_) throw std::bad_alloc();
    auto* const bio = make_bio(line_);
    SSL_set_bio(ssl_.get(), bio, bio);
    SSL_set_msg_callback(ssl_.get(), count_message);
    SSL_set_msg_callback_arg(ssl_.get(), &line_);
    side == TlsSide::server ? SSL_set_accept_state(ssl_.get()) : SSL_set_connect_state(ssl_.get());
}

TlsSession::TlsSession(SSL_CTX& context, TlsSide side, Socket& socket, std::string received)
    : TlsSession(context, side, TlsLine{socket.native_handle(), std::move(received)}) {}

TlsSession::TlsSession(SSL_CTX& context, std::string name, SslSessionPtr resumed, Socket& socket)
    : TlsSession(context, TlsSide::client, socket) {
    expect(std::move(name), std::move(resumed));
}

TlsSession::TlsSession(SSL_CTX& context, std::string name, SslSessionPtr resumed,
                       std::unique_ptr<TlsSession> below)
    : TlsSession(context, TlsSide::client, TlsLine{-1, {}, 0, below.get()}) {
    below_ = std::move(below);
    expect(std::move(name), std::move(resumed));
}

void TlsSession::expect(std::string name, SslSessionPtr resumed) {
    auto* const ssl = ssl_.get();
    if (name.ends_with('.')) name.pop_back();  // DNS names may end in a dot, names in TLS may not
    auto* const rules = SSL_get0_param(ssl);
    boost::system::error_code is_name;
    asio::ip::make_address(name, is_name);
    if (is_name) {
        X509_VERIFY_PARAM_set_hostflags(
            rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        failed_ = SSL_set_tlsext_host_name(ssl, name.c_str()) != 1 ||
                  X509_VERIFY_PARAM_set1_host(rules, name.c_str(), name.size()) != 1;
    } else {  // RFC 6066 §3: no address in SNI
        failed_ = X509_VERIFY_PARAM_set1_ip_asc(rules, name.c_str()) != 1;
    }
    if (failed_) why_ = "the name to verify is unusable";
    if (resumed) SSL_set_session(ssl, resumed.get());
    // The callback of the context finds the session by this.
    SSL_set_app_data(ssl, this);
}

TlsSession::~TlsSession() {
    // Otherwise OpenSSL discards the ticket, as that of a broken connection.
    if (!failed_) SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

int TlsSession::keep_ticket(SSL* ssl, SSL_SESSION* ticket) {
    static_cast<TlsSession*>(SSL_get_app_data(ssl))->ticket_.reset(ticket);
    return 1;  // takes the ticket
}

bool TlsSession::present(X509* certificate, EVP_PKEY* key, std::string_view session_context) {
    static_assert(kTlsSessionContext == SSL_MAX_SID_CTX_LENGTH);
    forget_errors();
    auto* const ssl = ssl_.get();
    const auto good = SSL_set_session_id_context(
                          ssl, reinterpret_cast<const unsigned char*>(session_context.data()),
                          static_cast<unsigned>(session_context.size())) == 1 &&
                      SSL_use_cert_and_key(ssl, certificate, key, nullptr, 1) == 1;
    if (!good) ERR_clear_error();
    return good;
}

std::string TlsSession::asked_name() const {
    const auto* const name = SSL_get_servername(ssl_.get(), TLSEXT_NAMETYPE_host_name);
    return name ? name : "";
}

Step TlsSession::after(int result) {
    auto* const ssl = ssl_.get();
    const auto error = SSL_get_error(ssl, result);
    switch (error) {
        case SSL_ERROR_NONE:
            return Step::done;
        case SSL_ERROR_WANT_READ:
            return Step::wait_read;
        case SSL_ERROR_WANT_WRITE:
            return Step::wait_write;
        case SSL_ERROR_ZERO_RETURN:
            return Step::end;
        default:
            break;
    }
    failed_ = true;
    const auto system = errno;
    const auto code = ERR_peek_error();
    const auto* const text = ERR_reason_error_string(code);
    was_cut_ =
        error == SSL_ERROR_SYSCALL || ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
    met_plain_http_ = ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST;
    nothing_in_common_ = ERR_GET_REASON(code) == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE ||
                         ERR_GET_REASON(code) == SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM;
    met_no_tls_ = is_one_of(code, {SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTPS_PROXY_REQUEST,
                                   SSL_R_UNEXPECTED_MESSAGE, SSL_R_PACKET_LENGTH_TOO_LONG});
    // Alert decrypt_error: the client knows another CA of the same name.
    was_mistrusted_ = is_one_of(
        code, {SSL_R_TLSV1_ALERT_UNKNOWN_CA, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
               SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
               SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, SSL_R_TLSV1_ALERT_ACCESS_DENIED,
               SSL_R_TLSV1_ALERT_DECRYPT_ERROR});
    no_version_ =
        nothing_in_common_ ||
        is_one_of(code, {SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_NO_SHARED_CIPHER,
                         SSL_R_TLSV1_ALERT_PROTOCOL_VERSION, SSL_R_NO_APPLICATION_PROTOCOL});
    // A bad signature leaves errors of libcrypto first; that of the verification is the last.
    if (const auto verified = SSL_get_verify_result(ssl);
        verified != X509_V_OK &&
        ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED)
        why_ = why_not_verified(ssl, verified);
    else if (line_.messages > kTlsMostMessages)
        why_ = "too many messages of a handshake";
    else if (text)
        why_ = text;
    else
        why_ = system != 0 ? std::generic_category().message(system) : "the connection ended";
    ERR_clear_error();
    return Step::failed;
}

Step TlsSession::handshake() {
    if (failed_) return Step::failed;
    forget_errors();
    errno = 0;
    const auto step = after(SSL_do_handshake(ssl_.get()));
    line_.open = step == Step::done;
    return step;
}

Step TlsSession::read(asio::mutable_buffer into, std::size_t& got) {
    got = 0;
    auto* at = static_cast<char*>(into.data());
    do {  // a record at a time
        forget_errors();
        errno = 0;
        std::size_t n = 0;
        const auto result = SSL_read_ex(ssl_.get(), at + got, into.size() - got, &n);
        if (result != 1) {
            if (got > 0) {  // the next call meets it again
                after(result);
                break;
            }
            return after(result);
        }
        got += n;
        line_.messages = 0;
    } while (got < into.size() && SSL_has_pending(ssl_.get()));
    return Step::done;
}

Step TlsSession::write(asio::const_buffer from, std::size_t& sent) {
    return write(std::span(&from, 1), kTlsRecord, sent);
}

Step TlsSession::write(std::span<const asio::const_buffer> from, std::size_t most,
                       std::size_t& sent) {
    sent = 0;
    if (failed_) return Step::failed;
    if (unsent_ > 0 || !line_.held.empty()) return send_held(sent);
    auto& batch = batch_of_thread(below_ != nullptr);
    batch.clear();
    line_.batch = &batch;
    const auto step = write_records(from, most);
    line_.batch = nullptr;
    if (batch.empty()) return step;
    const auto n = send_to_line(line_, batch.data(), batch.size());
    if (n < 0 && !would_block()) return fail_by_system();
    const auto gone = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
    if (gone == batch.size()) {
        sent = std::exchange(unsent_, 0);
        return step;
    }
    line_.held.assign(batch, gone);
    sent = count_sent(gone);
    return Step::wait_write;
}

/// Small buffers share a record.
Step TlsSession::write_records(std::span<const asio::const_buffer> from, std::size_t most) {
    auto next = from.begin();
    std::size_t skipped = 0;  // bytes of *next that are in records
    auto step = Step::done;
    while (step == Step::done && next != from.end() && unsent_ < most) {
        std::array<char, kTlsRecord> gathered;
        auto record = asio::buffer(*next + skipped, gathered.size());
        if (record.size() < gathered.size() && next + 1 != from.end()) {
            auto bytes = asio::buffer_copy(asio::buffer(gathered), record);
            for (auto more = next + 1; more != from.end() && bytes < gathered.size(); ++more)
                bytes += asio::buffer_copy(asio::buffer(gathered) + bytes, *more);
            record = asio::buffer(gathered, bytes);
        }
        if (record.size() == 0) break;  // the buffers are empty
        forget_errors();
        errno = 0;
        std::size_t written = 0;
        step = after(SSL_write_ex(ssl_.get(), record.data(), record.size(), &written));
        unsent_ += written;
        skipped += written;
        while (next != from.end() && skipped >= next->size()) skipped -= (next++)->size();
    }
    return step;
}

Step TlsSession::send_held(std::size_t& sent) {
    if (!line_.held.empty()) {
        const auto n = send_held_records(line_);
        if (n < 0 && !would_block()) return fail_by_system();
        if (!line_.held.empty()) {
            sent = count_sent(static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
            return Step::wait_write;
        }
    }
    line_.held = {};
    sent = std::exchange(unsent_, 0);
    return Step::done;
}

/// A wait follows. The caller learns of `gone` bytes of records, which are about as many of its
/// own; of the last byte it learns when all have gone, so that it comes again.
std::size_t TlsSession::count_sent(std::size_t gone) {
    const auto sent = unsent_ > 0 ? std::min(gone, unsent_ - 1) : 0;
    unsent_ -= sent;
    return sent;
}

ssize_t TlsSession::send(const char* data, std::size_t size) {
    const KeptTlsError kept;
    const asio::const_buffer bytes(data, size);
    std::size_t sent = 0;
    try {
        const auto step = write(std::span(&bytes, 1), size, sent);
        return result_of(step, sent);
    } catch (const std::bad_alloc&) {  // OpenSSL is C
        errno = ENOMEM;
        return -1;
    }
}

ssize_t TlsSession::receive(char* data, std::size_t size) {
    const KeptTlsError kept;
    std::size_t got = 0;
    const auto step = read(asio::buffer(data, size), got);
    return result_of(step, got);
}

Step TlsSession::fail_by_system() {
    failed_ = was_cut_ = true;
    why_ = std::generic_category().message(errno);
    return Step::failed;
}

void TlsSession::keep_buffers() {
    SSL_clear_mode(ssl_.get(), SSL_MODE_RELEASE_BUFFERS);
}

void TlsSession::free_buffers() {
    // Before 3.0.14 OpenSSL frees a buffer with the head of a record in it (CVE-2024-4741).
    const auto within_record = std::string_view(SSL_rstate_string(ssl_.get())) == "RB";
    if (!within_record) std::ignore = SSL_free_buffers(ssl_.get());
}

void TlsSession::keep_no_buffers() {
    SSL_set_mode(ssl_.get(), SSL_MODE_RELEASE_BUFFERS);
    free_buffers();
}

bool TlsSession::chose_http2() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl_.get(), &name, &size);
    return size == kHttp2Name.size() &&
           std::equal(name, name + size, kHttp2Name.begin(), kHttp2Name.end());
}

void TlsSession::close_notify() {
    if (failed_ || !SSL_is_init_finished(ssl_.get())) return;
    forget_errors();
    SSL_shutdown(ssl_.get());
    forget_errors();
    if (below_) below_->close_notify();
}

bool TlsSession::has_pending() const {
    // OpenSSL may have read the end behind the last bytes; the socket then stays unreadable.
    return SSL_has_pending(ssl_.get()) == 1 || failed_ ||
           (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0 ||
           (below_ && below_->has_pending());
}

namespace {

/// `result`: that of recv() or send().
Step step_after(ssize_t result, std::size_t& bytes, Step wait) {
    bytes = static_cast<std::size_t>(std::max<ssize_t>(result, 0));
    if (result > 0) return Step::done;
    if (result == 0) return Step::end;
    return would_block() ? wait : Step::failed;
}

}  // namespace

Step read_now(Socket& socket, TlsSession* tls, asio::mutable_buffer into, std::size_t& got) {
    if (tls) return tls->read(into, got);
    return step_after(::recv(socket.native_handle(), into.data(), into.size(), MSG_DONTWAIT), got,
                      Step::wait_read);
}

Step write_now(Socket& socket, TlsSession* tls, asio::const_buffer from, std::size_t& sent) {
    if (tls) return tls->write(from, sent);
    return step_after(
        ::send(socket.native_handle(), from.data(), from.size(), MSG_DONTWAIT | MSG_NOSIGNAL), sent,
        Step::wait_write);
}

asio::awaitable<bool> wait_for_step(Socket& socket, Step step) {
    boost::system::error_code ec;
    co_await socket.async_wait(step == Step::wait_write ? Socket::wait_write : Socket::wait_read,
                               asio::redirect_error(asio::use_awaitable, ec));
    // OpenSSL would use a descriptor that may be another's by now.
    co_return !ec && socket.is_open();
}

namespace {

boost::system::error_code error_of(Step step) {
    switch (step) {
        case Step::done:
            return {};
        case Step::end:
            return asio::error::eof;
        case Step::failed:
            return asio::error::connection_reset;
        default:
            return asio::error::operation_aborted;  // the wait was cancelled
    }
}

}  // namespace

asio::awaitable<void> tls_handshake(Socket& socket, TlsSession& tls,
                                    boost::system::error_code& ec) {
    auto step = tls.handshake();
    while (waits(step)) {
        const auto ready = co_await wait_for_step(socket, step);
        if (!ready) break;
        step = tls.handshake();
    }
    ec = error_of(step);
}

asio::awaitable<std::size_t> tls_read_some(Socket& socket, TlsSession& tls,
                                           asio::mutable_buffer into,
                                           boost::system::error_code& ec) {
    std::size_t got = 0;
    auto step = tls.read(into, got);
    while (waits(step)) {
        const auto ready = co_await wait_for_step(socket, step);
        if (!ready) break;
        step = tls.read(into, got);
    }
    ec = error_of(step);
    co_return got;
}

asio::awaitable<std::size_t> tls_write(Socket& socket, TlsSession& tls, asio::const_buffer from,
                                       boost::system::error_code& ec) {
    const auto size = from.size();
    for (;;) {
        std::size_t sent = 0;
        const auto step = tls.write(from, sent);
        from += sent;
        ec = error_of(step);
        if (from.size() == 0 || !waits(step)) {
            if (!ec && from.size() > 0) continue;
            co_return size - from.size();
        }
        const auto ready = co_await wait_for_step(socket, step);
        if (!ready) co_return size - from.size();
    }
}

}  // namespace base
