#pragma once

#include <openssl/types.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace base {

/// A key that both ends of a TLS connection have beforehand, and its name in the handshake.
struct Psk {
    std::string identity;
    std::array<std::byte, 32> secret{};
};

/// TLS 1.3 by pre-shared keys, without certificates (RFC 8446 §4.2.11). A handshake succeeds only
/// between two sides that have the same key, and each connection gets keys of its own from a
/// Diffie-Hellman exchange. FORMAT.md has the parameters. Any thread; outlives its connections.
class PskContext {
public:
    /// The server's side takes any of `keys`, of which there is at least one.
    explicit PskContext(std::vector<Psk> keys);
    PskContext(const PskContext&) = delete;
    PskContext& operator=(const PskContext&) = delete;

    SSL_CTX& server() const { return *server_; }
    /// Offers one key, the last one by default.
    SSL_CTX& client(std::size_t key) const { return *clients_[key]; }
    SSL_CTX& client() const { return *clients_.back(); }

private:
    const std::vector<Psk> keys_;
    std::shared_ptr<SSL_CTX> server_;
    std::vector<std::shared_ptr<SSL_CTX>> clients_;  // by key
};

}  // namespace base
