#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace proxy {

/// The CA certificates that connections to origins are verified with. Any thread.
class TlsTrust {
public:
    enum class Reads { all_now, system_when_needed };

    /// `system_when_needed`: the system's certificates are read when the first connection is made,
    /// as most nodes that could need them never do.
    TlsTrust(std::shared_ptr<SSL_CTX> context, Reads reads);

    /// For a new connection.
    SSL_CTX& context() const;

private:
    std::shared_ptr<SSL_CTX> context_;
    Reads reads_;
    mutable std::once_flag read_;
};

/// How TLS connections to one kind of origin are made and verified.
struct TlsClient {
    std::shared_ptr<const TlsTrust> trust;
    std::string name;      // for SNI, and what the certificate must be for; empty: the host asked
    std::uint64_t id = 0;  // unique in this process; connections are pooled by it
};

}  // namespace proxy
