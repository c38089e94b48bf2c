#include "base/tls/tls_line.hpp"

#include <openssl/bio.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <new>

namespace base {
namespace {

/// OpenSSL's own socket BIO uses write(), which raises SIGPIPE in the embedding process.
struct SocketBio {
    static TlsLine& line(BIO* bio) { return *static_cast<TlsLine*>(BIO_get_data(bio)); }

    static int write(BIO* bio, const char* data, int size) {
        BIO_clear_retry_flags(bio);
        auto& to = line(bio);
        const auto bytes = static_cast<std::size_t>(size);
        if (to.batch) return collect(*to.batch, data, bytes) ? size : -1;
        auto n = to.held.empty() ? ssize_t{0} : send_held_records(to);
        if (n >= 0) n = to.held.empty() ? send_to_line(to, data, bytes) : stop();
        if (n < 0 && would_block()) BIO_set_retry_write(bio);
        return static_cast<int>(n);
    }

    static bool collect(std::string& batch, const char* data, std::size_t size) {
        try {
            batch.append(data, size);
            return true;
        } catch (const std::bad_alloc&) {  // OpenSSL is C
            errno = ENOMEM;
            return false;
        }
    }

    static ssize_t stop() {
        errno = EAGAIN;
        return -1;
    }

    static int read(BIO* bio, char* data, int size) {
        BIO_clear_retry_flags(bio);
        auto& from = line(bio);
        const auto room = static_cast<std::size_t>(size);
        if (!from.received.empty()) {
            const auto n = from.received.copy(data, room, from.taken);
            from.taken += n;
            if (from.taken == from.received.size()) from.received = {};
            return static_cast<int>(n);
        }
        if (from.messages > kTlsMostMessages) {
            errno = EPROTO;
            return -1;
        }
        const auto n = from.carrier ? from.carrier->receive(data, room)
                                    : ::recv(from.socket, data, room, MSG_DONTWAIT);
        if (n < 0 && would_block()) BIO_set_retry_read(bio);
        if (n == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
        return static_cast<int>(n);
    }

    static long control(BIO* bio, int command, long, void*) {
        if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0;
        return command == BIO_CTRL_FLUSH;
    }
};

}  // namespace

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

ssize_t send_to_line(TlsLine& to, const char* data, std::size_t size) {
    if (to.carrier) return to.carrier->send(data, size);
    return ::send(to.socket, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t send_held_records(TlsLine& to) {
    const auto n = send_to_line(to, to.held.data(), to.held.size());
    if (n > 0) to.held.erase(0, static_cast<std::size_t>(n));
    return n;
}

BIO* make_bio(TlsLine& line) {
    static const auto method = [] {
        std::unique_ptr<BIO_METHOD, decltype(&BIO_meth_free)> made(
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hearsay socket"),
            BIO_meth_free);
        if (!made) throw std::bad_alloc();
        BIO_meth_set_write(made.get(), SocketBio::write);
        BIO_meth_set_read(made.get(), SocketBio::read);
        BIO_meth_set_ctrl(made.get(), SocketBio::control);
        return made;
    }();
    auto* const bio = BIO_new(method.get());
    if (!bio) throw std::bad_alloc();
    BIO_set_data(bio, &line);
    BIO_set_init(bio, 1);
    return bio;
}

}  // namespace base
