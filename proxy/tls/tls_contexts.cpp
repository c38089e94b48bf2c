#include "proxy/tls/tls_contexts.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "base/tls/new_tls_context.hpp"
#include "base/tls/tls_session.hpp"
#include "protocol/wire/keys.hpp"
#include "proxy/config/config_certificates.hpp"
#include "proxy/http/wall_clock.hpp"
#include "proxy/tls/pem_fault.hpp"
#include "proxy/tls/server_context.hpp"

namespace proxy {
namespace {

constexpr auto kAuthoritySetting = "$.forward.intercept.ca";

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

OfferedProtocols offered_protocols(const Config& config) {
    return config.protocols.http2.enabled ? OfferedProtocols::http2_too : OfferedProtocols::http1;
}

/// Null after an error.
std::shared_ptr<const Interception> read_interception(const Config& config,
                                                      std::vector<ConfigError>& errors) {
    const auto& intercept = *config.forward.intercept;
    auto authority = read_signing_authority(intercept.ca, kAuthoritySetting, errors);
    if (!authority) return nullptr;
    auto faults = authority_faults(*authority, intercept, wall_now());
    if (faults.empty()) return make_interception(std::move(authority), offered_protocols(config));
    std::move(faults.begin(), faults.end(), std::back_inserter(errors));
    return nullptr;
}

class Loader {
public:
    explicit Loader(const Config& config) : config_(config) {}

    TlsRead load() {
        auto contexts = std::make_shared<TlsContexts>();
        auto trusts = std::make_shared<UpstreamTrust>();
        if (config_.tls) {
            contexts->certificates = certificates(*config_.tls);
            if (errors_.empty())
                contexts->server =
                    make_server_context(contexts->certificates, offered_protocols(config_));
        }
        if (config_.cluster && config_.cluster->encrypt)
            contexts->peers =
                std::make_shared<const base::PskContext>(protocol::tls_keys(config_.cluster->keys));
        for (std::size_t i = 0; i < config_.origins.size(); ++i) {
            const auto& origin = config_.origins[i];
            std::shared_ptr<const TlsClient> client;
            if (origin.tls) {
                const auto path = "$.origins[" + std::to_string(i) + "].tls.ca";
                // Each server of a group proves its own host, unless one name is given for all.
                const auto& name = origin.tls->name.empty() && !origin.group ? origin.server.host
                                                                             : origin.tls->name;
                client = make_client(origin.tls->verify, origin.tls->ca, name, path,
                                     TlsTrust::Reads::all_now);
            }
            trusts->origins.push_back(std::move(client));
        }
        const auto follows = std::ranges::any_of(
            config_.rules.all(), [](const Rule& rule) { return rule.storing.follow_redirects; });
        if (config_.forward.enabled || follows)
            trusts->forward =
                make_client(true, {}, {}, "$.forward", TlsTrust::Reads::system_when_needed);
        if (config_.forward.enabled && config_.forward.intercept)
            contexts->interception = read_interception(config_, errors_);
        if (!errors_.empty()) return {nullptr, nullptr, std::move(errors_)};
        return {std::move(contexts), std::move(trusts), {}};
    }

private:
    std::vector<std::shared_ptr<const ServerCertificate>> certificates(const TlsConfig& tls) {
        std::vector<std::shared_ptr<const ServerCertificate>> read;
        const auto pairs = certificate_pairs(tls);
        if (pairs.empty()) fail("$.tls.certificate", "missing");
        for (std::size_t i = 0; i < pairs.size(); ++i)
            read.push_back(read_server_certificate(pairs[i], certificate_setting(tls, i), errors_));
        return read;
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
        const auto context = base::new_tls_context(base::TlsSide::client);
        known = std::make_shared<const TlsTrust>(context, reads);
        auto* const raw = context.get();
        // Before TLS 1.3 an origin asks for a certificate of the client so, in the middle of a
        // connection. RFC 5746 secures it, and kTlsMostMessages bounds it.
        SSL_CTX_clear_options(raw, SSL_OP_NO_RENEGOTIATION);
        SSL_CTX_set_alpn_protos(raw,
                                reinterpret_cast<const unsigned char*>(base::kAlpnHttp1.data()),
                                static_cast<unsigned>(base::kAlpnHttp1.size()));
        SSL_CTX_set_session_cache_mode(raw, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(raw, base::TlsSession::keep_ticket);
        SSL_CTX_set_verify(raw, verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
        ERR_clear_error();
        if (ca.empty()) {
            const auto now = verify && reads == TlsTrust::Reads::all_now;
            if (now && SSL_CTX_set_default_verify_paths(raw) != 1)
                fail(path, "cannot read the system's certificates: " + base::tls_reason());
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
            fail(path, pem_fault(ca, PemBlock::certificate));
        }
        return known;
    }

    void fail(std::string path, std::string message) {
        errors_.push_back({std::move(path), std::move(message)});
        ERR_clear_error();
    }

    const Config& config_;
    std::vector<ConfigError> errors_;
    std::map<std::tuple<bool, std::string, std::string>, std::shared_ptr<const TlsClient>> clients_;
    std::map<std::pair<bool, std::string>, std::shared_ptr<const TlsTrust>> trusts_;
};

/// Reads the CA of `now` again if its files have changed.
void renew_authority(const Config& config, const std::map<std::string, PairStamp>& failed_before,
                     TlsContexts& now, CertificatesRead& read) {
    if (!now.interception) return;
    const auto& pair = *now.interception->authority->pair;
    const auto stamp = stamp_of(pair.files);
    if (stamp == pair.stamp) return;
    const auto failed = failed_before.find(pair.files.certificate);
    if (failed != failed_before.end() && failed->second == stamp) {
        read.failed.insert(*failed);
        return;
    }
    if (auto renewed = read_interception(config, read.news)) {
        now.interception = std::move(renewed);
        read.renewed_authority = true;
    } else {
        read.failed.emplace(pair.files.certificate, stamp);
    }
}

}  // namespace

TlsRead load_tls(const Config& config) {
    return Loader(config).load();
}

CertificatesRead read_changed_certificates(const Config& config, const TlsContexts& was,
                                           const std::map<std::string, PairStamp>& failed_before) {
    CertificatesRead read;
    auto now = std::make_shared<TlsContexts>(was);
    for (std::size_t i = 0; i < now->certificates.size(); ++i) {
        auto& certificate = now->certificates[i];
        const auto& files = certificate->files;
        const auto stamp = stamp_of(files);
        if (stamp == certificate->stamp) continue;
        const auto failed = failed_before.find(files.certificate);
        if (failed != failed_before.end() && failed->second == stamp) {
            read.failed.insert(*failed);
            continue;
        }
        auto renewed =
            read_server_certificate(files, certificate_setting(*config.tls, i), read.news);
        if (renewed) {
            certificate = std::move(renewed);
            read.renewed.push_back(i);
        } else {
            read.failed.emplace(files.certificate, stamp);
        }
    }
    renew_authority(config, failed_before, *now, read);
    if (read.renewed.empty() && !read.renewed_authority) return read;
    if (!read.renewed.empty())
        now->server = make_server_context(now->certificates, offered_protocols(config));
    read.value = std::move(now);
    return read;
}

}  // namespace proxy
