#include "proxy/tls/server_context.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tls/new_tls_context.hpp"
#include "proxy/tls/server_name.hpp"

namespace proxy {
namespace {

constexpr std::string_view kAlpnWithHttp2 = "\x02h2\x08http/1.1";
static_assert(kAlpnWithHttp2.ends_with(base::kAlpnHttp1));

/// Chooses the first of the names in `ours`, a string_view, that the client has, too. HTTP/2 needs
/// one connection, so its client gets one ticket; others get the two that OpenSSL gives by default.
int choose_protocol(SSL* ssl, const unsigned char** out, unsigned char* size,
                    const unsigned char* in, unsigned in_size, void* ours) {
    const auto& names = *static_cast<const std::string_view*>(ours);
    unsigned char* chosen = nullptr;
    const auto found =
        SSL_select_next_proto(&chosen, size, reinterpret_cast<const unsigned char*>(names.data()),
                              static_cast<unsigned>(names.size()), in, in_size);
    *out = chosen;
    constexpr unsigned char kHttp2NameBytes = 2;
    if (found == OPENSSL_NPN_NEGOTIATED && *size == kHttp2NameBytes) SSL_set_num_tickets(ssl, 1);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/// The contexts of a listener. The default context, which is that of the first group, owns this
/// object. Every connection holds the default context, from which it began.
struct ContextsByName {
    explicit ContextsByName(CertificateChoice by_name) : choice(std::move(by_name)) {}

    CertificateChoice choice;
    std::vector<std::shared_ptr<SSL_CTX>> others;  // of the groups from the second on
};

/// The place of ContextsByName in the default context, which deletes it.
int place_in_context() {
    static const int index = SSL_CTX_get_ex_new_index(
        0, nullptr, nullptr, nullptr, [](void*, void* owned, CRYPTO_EX_DATA*, int, long, void*) {
            delete static_cast<ContextsByName*>(owned);
        });
    return index;
}

std::string asked_name(SSL* ssl) {
    const unsigned char* content = nullptr;
    std::size_t size = 0;
    if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &content, &size) != 1) return {};
    return server_name({reinterpret_cast<const char*>(content), size});
}

// This callback comes before OpenSSL looks at a ticket; that for the server's name comes after.
// Thus a ticket is judged by the session context of the group that serves this name.
int choose_certificate(SSL* ssl, int*, void* owned) {
    const auto& contexts = *static_cast<const ContextsByName*>(owned);
    const auto group = contexts.choice.find(asked_name(ssl));
    if (group && *group > 0) SSL_set_SSL_CTX(ssl, contexts.others[*group - 1].get());
    return SSL_CLIENT_HELLO_SUCCESS;
}

/// RFC 6066 §3: a server tells the client that it has used the name.
int confirm_name(SSL* ssl, int*, void* owned) {
    const auto& contexts = *static_cast<const ContextsByName*>(owned);
    const auto* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    const auto is_known = name && contexts.choice.find(plain_server_name(name));
    return is_known ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

void add_certificate(SSL_CTX* to, const ServerCertificate& certificate) {
    auto* const from = certificate.holder.get();
    STACK_OF(X509)* chain = nullptr;
    SSL_CTX_get0_chain_certs(from, &chain);
    ERR_clear_error();
    if (SSL_CTX_use_cert_and_key(to, SSL_CTX_get0_certificate(from), SSL_CTX_get0_privatekey(from),
                                 chain, 1) != 1)
        throw std::runtime_error("cannot use " + certificate.files.certificate + ": " +
                                 base::tls_reason());
}

}  // namespace

std::shared_ptr<SSL_CTX> new_server_context(OfferedProtocols protocols) {
    auto context = base::new_tls_context(base::TlsSide::server);
    // Tickets resume sessions on any worker; a session cache would need a shared lock.
    SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
    const auto& ours = protocols == OfferedProtocols::http2_too ? kAlpnWithHttp2 : base::kAlpnHttp1;
    SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol,
                               const_cast<std::string_view*>(&ours));
    return context;
}

std::shared_ptr<SSL_CTX> make_server_context(
    std::span<const std::shared_ptr<const ServerCertificate>> all, OfferedProtocols protocols) {
    std::vector<CertificateIdentity> identities;
    for (const auto& each : all) identities.push_back(each->facts);
    auto contexts = std::make_unique<ContextsByName>(CertificateChoice(identities));
    std::shared_ptr<SSL_CTX> first;
    std::uint32_t number = 0;
    for (const auto& group : contexts->choice.groups()) {
        auto context = new_server_context(protocols);
        auto* const raw = context.get();
        // The keys of all tickets are those of the default context.
        ++number;
        SSL_CTX_set_session_id_context(raw, reinterpret_cast<const unsigned char*>(&number),
                                       sizeof number);
        for (const auto index : group) add_certificate(raw, *all[index]);
        if (first)
            contexts->others.push_back(std::move(context));
        else
            first = std::move(context);
    }
    auto* const raw = first.get();
    SSL_CTX_set_client_hello_cb(raw, choose_certificate, contexts.get());
    SSL_CTX_set_tlsext_servername_callback(raw, confirm_name);
    SSL_CTX_set_tlsext_servername_arg(raw, contexts.get());
    if (SSL_CTX_set_ex_data(raw, place_in_context(), contexts.get()) != 1) throw std::bad_alloc();
    contexts.release();
    return first;
}

}  // namespace proxy
