#include "proxy/net/tls_contexts.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <new>
#include <string_view>
#include <utility>

#include "proxy/net/tls_session.hpp"

namespace proxy {
namespace {

constexpr unsigned char kAlpn[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr unsigned char kAlpnWithHttp2[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

/// The text of OpenSSL's first error, which is the cause.
std::string reason() {
    const auto code = ERR_peek_error();
    if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
    const auto* text = ERR_reason_error_string(code);
    return text ? text : "unknown error";
}

/// OpenSSL's question for a passphrase. A node has no terminal, so an encrypted key is an error:
/// sets the bool at `asked`.
int no_passphrase(char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
}

/// The first of the names in `ours` that the client has, too.
template <std::size_t kSize>
int choose_protocol(const unsigned char (&ours)[kSize], const unsigned char** out,
                    unsigned char* size, const unsigned char* in, unsigned in_size) {
    unsigned char* chosen = nullptr;
    const auto found = SSL_select_next_proto(&chosen, size, ours, kSize, in, in_size);
    *out = chosen;
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

int choose_http1(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                 unsigned in_size, void*) {
    return choose_protocol(kAlpn, out, size, in, in_size);
}

int choose_http2_or_1(SSL*, const unsigned char** out, unsigned char* size, const unsigned char* in,
                      unsigned in_size, void*) {
    return choose_protocol(kAlpnWithHttp2, out, size, in, in_size);
}

std::shared_ptr<SSL_CTX> new_context(const SSL_METHOD* method) {
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(method), SSL_CTX_free);
    if (!context) throw std::bad_alloc();
    auto* const raw = context.get();
    SSL_CTX_set_min_proto_version(raw, TLS1_2_VERSION);
    // Renegotiation would serve attacks only; compression enabled one (CRIME).
    SSL_CTX_set_options(raw, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    // Sockets are non-blocking: the system may take a part of a write, and the rest may come from
    // another address. Idle connections free their buffers.
    SSL_CTX_set_mode(raw, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                              SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(raw, 1);
    return context;
}

/// Whether a folder has a file that OpenSSL finds there, like `a1b2c3d4.0`.
bool has_hashed_names(const std::string& folder) {
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
        const auto name = entry.path().filename().string();
        constexpr std::size_t kHashDigits = 8;
        if (name.find_first_not_of("0123456789abcdef") == kHashDigits && name[kHashDigits] == '.' &&
            name.size() > kHashDigits + 1 &&
            name.find_first_not_of("0123456789", kHashDigits + 1) == std::string::npos)
            return true;
    }
    return false;
}

class Loader {
public:
    explicit Loader(const Config& config) : config_(config) {}

    std::shared_ptr<const TlsContexts> load() {
        auto contexts = std::make_shared<TlsContexts>();
        if (config_.tls) contexts->server = server(*config_.tls);
        for (std::size_t i = 0; i < config_.origins.size(); ++i) {
            const auto& origin = config_.origins[i];
            std::shared_ptr<const TlsClient> client;
            if (origin.tls) {
                const auto path = "$.origins[" + std::to_string(i) + "].tls.ca";
                const auto& name = origin.tls->name.empty() ? origin.server.host : origin.tls->name;
                client = make_client(origin.tls->verify, origin.tls->ca, name, path,
                                     TlsTrust::Reads::all_now);
            }
            origins.push_back(std::move(client));
        }
        if (config_.forward.enabled)
            contexts->forward =
                make_client(true, {}, {}, "$.forward", TlsTrust::Reads::system_when_needed);
        return contexts;
    }

    std::vector<ConfigError> errors;
    std::vector<std::shared_ptr<const TlsClient>> origins;  // by load(), in the order of `origins`

private:
    std::shared_ptr<SSL_CTX> server(const TlsConfig& tls) {
        auto context = new_context(TLS_server_method());
        auto* const raw = context.get();
        // Tickets resume sessions on any worker; a session cache would need a shared lock.
        SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_OFF);
        SSL_CTX_set_alpn_select_cb(raw, config_.http2.enabled ? choose_http2_or_1 : choose_http1,
                                   nullptr);
        bool encrypted = false;
        SSL_CTX_set_default_passwd_cb(raw, no_passphrase);
        SSL_CTX_set_default_passwd_cb_userdata(raw, &encrypted);
        ERR_clear_error();
        if (SSL_CTX_use_certificate_chain_file(raw, tls.certificate.c_str()) != 1) {
            fail("$.tls.certificate", "cannot read " + tls.certificate + ": " + reason());
        } else if (SSL_CTX_use_PrivateKey_file(raw, tls.key.c_str(), SSL_FILETYPE_PEM) != 1) {
            const auto mismatch = ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH;
            if (encrypted)
                fail("$.tls.key", tls.key +
                                      " is encrypted, and nobody could be asked for its "
                                      "passphrase: openssl pkey -in " +
                                      tls.key + " -out FILE writes it in the clear");
            else if (mismatch)
                fail("$.tls.key", tls.key + " is not the key of " + tls.certificate);
            else
                fail("$.tls.key", "cannot read " + tls.key + ": " + reason());
        } else if (SSL_CTX_check_private_key(raw) != 1) {
            fail("$.tls.key", tls.key + " is not the key of " + tls.certificate);
        }
        SSL_CTX_set_default_passwd_cb_userdata(raw, nullptr);  // no file is read any more
        return context;
    }

    /// Equal settings get one client, so they share connections.
    std::shared_ptr<const TlsClient> make_client(bool verify, const std::string& ca,
                                                 const std::string& name, const std::string& path,
                                                 TlsTrust::Reads reads) {
        static std::atomic<std::uint64_t> next_id{1};
        auto& known = clients_[{verify, ca, name}];
        if (!known) {
            auto client = std::make_shared<TlsClient>();
            client->trust = trust(verify, ca, path, reads);
            client->name = name;
            client->id = next_id++;
            known = std::move(client);
        }
        return known;
    }

    /// `reads`: for a new trust.
    std::shared_ptr<const TlsTrust> trust(bool verify, const std::string& ca,
                                          const std::string& path, TlsTrust::Reads reads) {
        auto& known = trusts_[{verify, ca}];
        if (known) return known;
        const auto context = new_context(TLS_client_method());
        known = std::make_shared<const TlsTrust>(context, reads);
        auto* const raw = context.get();
        SSL_CTX_set_alpn_protos(raw, kAlpn, sizeof kAlpn);
        SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(raw, TlsSession::keep_ticket);
        SSL_CTX_set_verify(raw, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
        ERR_clear_error();
        if (ca.empty()) {
            const auto now = verify && reads == TlsTrust::Reads::all_now;
            if (now && SSL_CTX_set_default_verify_paths(raw) != 1)
                fail(path, "cannot read the system's certificates: " + reason());
            return known;
        }
        std::error_code missing;
        const auto kind = std::filesystem::status(ca, missing).type();
        if (missing) {
            fail(path, "cannot read " + ca + ": " + missing.message());
        } else if (kind == std::filesystem::file_type::directory) {
            if (!verify || has_hashed_names(ca))
                SSL_CTX_load_verify_dir(raw, ca.c_str());
            else
                fail(path, ca +
                               " has no certificates by their hashes, so no origin could prove "
                               "itself: openssl rehash " +
                               ca + " makes them");
        } else if (SSL_CTX_load_verify_file(raw, ca.c_str()) != 1) {
            fail(path, "cannot read " + ca + ": " + reason());
        }
        return known;
    }

    void fail(std::string path, std::string message) {
        errors.push_back({std::move(path), std::move(message)});
        ERR_clear_error();
    }

    const Config& config_;
    std::map<std::tuple<bool, std::string, std::string>, std::shared_ptr<const TlsClient>> clients_;
    std::map<std::pair<bool, std::string>, std::shared_ptr<const TlsTrust>> trusts_;
};

}  // namespace

std::vector<ConfigError> load_tls(Config& config) {
    Loader loader(config);
    auto contexts = loader.load();
    if (!loader.errors.empty()) return std::move(loader.errors);
    config.tls_contexts = std::move(contexts);
    for (std::size_t i = 0; i < config.origins.size(); ++i)
        config.origins[i].trust = std::move(loader.origins[i]);
    return {};
}

}  // namespace proxy
