#pragma once

#include <openssl/types.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

namespace base {

/// After its handshake a session fails at so many messages of a handshake in a row, without data
/// between them. OpenSSL would take key updates (RFC 8446 §4.6.3) for as long as bytes are there.
inline constexpr unsigned kTlsMostMessages = 32;

/// The bearer of a session's records in place of a socket. Both calls are like send() and recv() of
/// a socket that does not wait: -1 with errno, EAGAIN for a wait, 0 for the end.
class TlsCarrier {
public:
    virtual ~TlsCarrier() = default;
    virtual ssize_t send(const char* data, std::size_t size) = 0;
    virtual ssize_t receive(char* data, std::size_t size) = 0;
};

/// The input and output of one TLS session: it reads `received` from `taken` on first, and then the
/// socket, or the carrier. One thread at a time.
struct TlsLine {
    int socket;
    std::string received = {};
    std::size_t taken = 0;
    TlsCarrier* carrier = nullptr;  // in place of the socket
    std::string* batch = nullptr;   // takes the records of a write() in place of both
    std::string held = {};          // records that the socket has not taken yet
    bool open = false;              // the handshake is done
    unsigned messages = 0;          // of a handshake, after its end and since the last data
};

/// OpenSSL's way to `line`, which outlives it.
BIO* make_bio(TlsLine& line);

// Like send(): -1 with EAGAIN stands for a wait. After a part the next call has to begin with the
// bytes behind it.
ssize_t send_to_line(TlsLine& to, const char* data, std::size_t size);
/// Sends records that are held. They come before what OpenSSL makes of them afterwards, such as an
/// alert.
ssize_t send_held_records(TlsLine& to);

/// Whether errno says that a wait has to come first.
bool would_block();

}  // namespace base
