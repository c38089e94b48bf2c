#include "proxy/tls/tls_trust.hpp"

#include <openssl/ssl.h>

#include <utility>

namespace proxy {

TlsTrust::TlsTrust(std::shared_ptr<SSL_CTX> context, Reads reads)
    : context_(std::move(context)), reads_(reads) {}

SSL_CTX& TlsTrust::context() const {
    // After a failure every handshake refuses its certificate and reports that.
    if (reads_ == Reads::system_when_needed)
        std::call_once(read_, [this] { SSL_CTX_set_default_verify_paths(context_.get()); });
    return *context_;
}

}  // namespace proxy
