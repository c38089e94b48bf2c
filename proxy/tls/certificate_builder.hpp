#pragma once

#include <openssl/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace proxy {

/// Makes one X.509 certificate of version 3 (RFC 5280): a key, a time, a random serial number of
/// 128 bits, and the extensions that are asked for. Each function throws std::runtime_error or
/// std::bad_alloc if OpenSSL fails. One thread.
class CertificateBuilder {
public:
    CertificateBuilder(EVP_PKEY* key, std::chrono::sys_seconds from, std::chrono::sys_seconds to);

    /// The subject. Without this call it is empty.
    void name(const std::string& common_name);
    /// Critical subjectAltName: an empty subject needs it so (§4.1.2.6).
    void for_host(const std::string& host);
    /// A CA that signs for no other CA, and for servers alone.
    void for_authority();
    /// Critical name constraints: these DNS names with all below them, and no address.
    void permit(const std::vector<std::string>& hosts);
    /// No CA, but a server that signs handshakes.
    void for_server();

    /// Signs with the key of `issuer`; null: with its own key, as its own issuer.
    std::shared_ptr<X509> sign(X509* issuer, EVP_PKEY* by);

private:
    /// `value`: the structure of OpenSSL that belongs to the extension `id`.
    void add(int id, void* value, bool critical);
    void basic_constraints(bool is_ca);
    void key_usage(std::vector<int> bits);
    void for_servers_alone();

    std::shared_ptr<X509> made_;
};

/// A new key on the curve P-256.
std::shared_ptr<EVP_PKEY> new_p256_key();

}  // namespace proxy
