#include "proxy/tls/interception.hpp"

#include <openssl/ssl.h>

#include <new>
#include <utility>

namespace proxy {

std::shared_ptr<const Interception> make_interception(
    std::shared_ptr<const SigningAuthority> authority, OfferedProtocols protocols) {
    auto made = std::make_shared<Interception>();
    made->context = new_server_context(protocols);
    auto* const raw = made->context.get();
    // OpenSSL would look for issuers in the store of the context, which is empty.
    SSL_CTX_set_mode(raw, SSL_MODE_NO_AUTO_CHAIN);
    const auto add = [raw](X509* certificate) {
        X509_up_ref(certificate);
        if (SSL_CTX_add_extra_chain_cert(raw, certificate) == 1) return;
        X509_free(certificate);
        throw std::bad_alloc();
    };
    if (!authority->is_root) add(authority->certificate());
    STACK_OF(X509)* above = nullptr;
    SSL_CTX_get0_chain_certs(authority->pair->holder.get(), &above);
    for (int i = 0; i < sk_X509_num(above); ++i) add(sk_X509_value(above, i));
    made->authority = std::move(authority);
    return made;
}

}  // namespace proxy
