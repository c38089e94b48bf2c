#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace proxy {

/// The CA certificates for the verification of origins. Any thread.
class TlsTrust {
public:
    enum class Reads { all_now, system_when_needed };

    /// `system_when_needed`: reads the system's certificates at the first connection, because most
    /// nodes make none.
    TlsTrust(std::shared_ptr<SSL_CTX> context, Reads reads);

    /// For a new connection.
    SSL_CTX& context() const;

private:
    std::shared_ptr<SSL_CTX> context_;
    Reads reads_;
    mutable std::once_flag read_;
};

/// Parameters of TLS connections to one kind of origin.
struct TlsClient {
    std::shared_ptr<const TlsTrust> trust;
    std::string name;      // for SNI and the certificate; empty: the target's host
    std::uint64_t id = 0;  // unique in this process; part of the pool's key
};

}  // namespace proxy
