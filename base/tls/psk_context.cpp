#include "base/tls/psk_context.hpp"

#include <openssl/ssl.h>

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "base/tls/new_tls_context.hpp"

namespace base {
namespace {

constexpr unsigned char kAes128GcmSha256[] = {0x13, 0x01};

/// OpenSSL takes a key of TLS 1.3 as a session. Null without memory.
SSL_SESSION* new_session(SSL* ssl, const Psk& key) {
    std::unique_ptr<SSL_SESSION, decltype(&SSL_SESSION_free)> session(SSL_SESSION_new(),
                                                                      SSL_SESSION_free);
    const auto* const cipher = SSL_CIPHER_find(ssl, kAes128GcmSha256);
    const auto* const secret = reinterpret_cast<const unsigned char*>(key.secret.data());
    const auto is_made =
        session && SSL_SESSION_set1_master_key(session.get(), secret, key.secret.size()) == 1 &&
        SSL_SESSION_set_cipher(session.get(), cipher) == 1 &&
        SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
    return is_made ? session.release() : nullptr;
}

void* data_of(SSL* ssl) {
    return SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl));
}

int offer_key(SSL* ssl, const EVP_MD* digest, const unsigned char** identity, std::size_t* size,
              SSL_SESSION** session) {
    *identity = nullptr;
    *size = 0;
    *session = nullptr;
    // The server has chosen another digest in its request to begin again, so the key does not fit.
    if (digest != nullptr && EVP_MD_is_a(digest, "SHA256") != 1) return 1;
    const auto& key = *static_cast<const Psk*>(data_of(ssl));
    *session = new_session(ssl, key);
    *identity = reinterpret_cast<const unsigned char*>(key.identity.data());
    *size = key.identity.size();
    return *session != nullptr;
}

/// Without a known key the handshake fails, since there are no certificates either.
int find_key(SSL* ssl, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
    *session = nullptr;
    const std::string_view wanted(reinterpret_cast<const char*>(identity), size);
    const auto& keys = *static_cast<const std::vector<Psk>*>(data_of(ssl));
    const auto key = std::ranges::find(keys, wanted, &Psk::identity);
    if (key == keys.end()) return 1;
    *session = new_session(ssl, *key);
    return *session != nullptr;
}

/// `data` is for the callbacks.
std::shared_ptr<SSL_CTX> new_context(TlsSide side, const void* data) {
    auto context = new_tls_context(side);
    auto* const raw = context.get();
    const auto is_set = SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION) == 1 &&
                        SSL_CTX_set_ciphersuites(raw, "TLS_AES_128_GCM_SHA256") == 1 &&
                        SSL_CTX_set1_groups_list(raw, "X25519") == 1 &&
                        SSL_CTX_set_num_tickets(raw, 0) == 1;
    if (!is_set) throw std::bad_alloc();
    SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
    // Nothing is trusted, so no server's certificate can take the place of the key.
    if (side == TlsSide::client) SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_app_data(raw, const_cast<void*>(data));
    return context;
}

}  // namespace

PskContext::PskContext(std::vector<Psk> keys) : keys_(std::move(keys)) {
    server_ = new_context(TlsSide::server, &keys_);
    SSL_CTX_set_psk_find_session_callback(server_.get(), find_key);
    for (const auto& key : keys_) {
        clients_.push_back(new_context(TlsSide::client, &key));
        SSL_CTX_set_psk_use_session_callback(clients_.back().get(), offer_key);
    }
}

}  // namespace base
