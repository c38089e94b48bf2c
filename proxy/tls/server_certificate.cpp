#include "proxy/tls/server_certificate.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/tls/new_tls_context.hpp"
#include "proxy/tls/pem_fault.hpp"
#include "proxy/tls/server_name.hpp"

namespace proxy {
namespace {

/// OpenSSL's question for a passphrase. A node has no terminal, so an encrypted key is an error:
/// sets the bool at `asked`.
int no_passphrase(char*, int, int, void* asked) {
    *static_cast<bool*>(asked) = true;
    return -1;
}

std::int64_t nanoseconds_of(const timespec& time) {
    constexpr std::int64_t kPerSecond = 1'000'000'000;
    return std::int64_t{time.tv_sec} * kPerSecond + time.tv_nsec;
}

FileStamp file_stamp(const std::string& file) {
    struct stat found {};
    if (::stat(file.c_str(), &found) != 0) return {};
    return {found.st_dev, found.st_ino, static_cast<std::uint64_t>(found.st_size),
            nanoseconds_of(found.st_mtim), nanoseconds_of(found.st_ctim)};
}

std::chrono::sys_seconds time_of(const ASN1_TIME* time) {
    std::tm utc{};
    if (ASN1_TIME_to_tm(time, &utc) != 1) return {};
    return std::chrono::sys_seconds(std::chrono::seconds(::timegm(&utc)));
}

/// subjectAltName as DNS names, but those that no client can ask for. `any`: it has a DNS name or
/// an address.
std::vector<std::string> dns_names(X509* certificate, bool& any) {
    std::vector<std::string> names;
    const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> all(
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
        GENERAL_NAMES_free);
    any = false;
    for (int i = 0; i < sk_GENERAL_NAME_num(all.get()); ++i) {
        const auto* const each = sk_GENERAL_NAME_value(all.get(), i);
        any = any || each->type == GEN_DNS || each->type == GEN_IPADD;
        if (each->type != GEN_DNS) continue;
        const auto* const text = ASN1_STRING_get0_data(each->d.dNSName);
        const auto size = static_cast<std::size_t>(ASN1_STRING_length(each->d.dNSName));
        auto name = plain_server_name({reinterpret_cast<const char*>(text), size});
        const auto is_known = std::find(names.begin(), names.end(), name) != names.end();
        if (!name.empty() && !is_known) names.push_back(std::move(name));
    }
    return names;
}

CertificateFacts certificate_facts(X509* certificate, const std::string& file) {
    CertificateFacts facts;
    facts.file = file;
    facts.names = dns_names(certificate, facts.has_san);
    const auto* const type = EVP_PKEY_get0_type_name(X509_get0_pubkey(certificate));
    facts.key_type = type ? type : "unknown";
    facts.not_before = time_of(X509_get0_notBefore(certificate));
    facts.not_after = time_of(X509_get0_notAfter(certificate));
    return facts;
}

}  // namespace

PairStamp stamp_of(const CertificateFiles& files) {
    return {file_stamp(files.certificate), file_stamp(files.key)};
}

std::shared_ptr<const ServerCertificate> read_server_certificate(const CertificateFiles& files,
                                                                 const std::string& setting,
                                                                 std::vector<ConfigError>& errors) {
    auto read = std::make_shared<ServerCertificate>();
    read->files = files;
    read->stamp = stamp_of(files);
    read->holder = base::new_tls_context(base::TlsSide::server);
    auto* const raw = read->holder.get();
    bool failed = false, encrypted = false;
    const auto fail = [&](const char* member, std::string message) {
        errors.push_back({setting + member, std::move(message)});
        failed = true;
    };
    SSL_CTX_set_default_passwd_cb(raw, no_passphrase);
    SSL_CTX_set_default_passwd_cb_userdata(raw, &encrypted);
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(raw, files.certificate.c_str()) != 1)
        fail(".certificate", pem_fault(files.certificate, PemBlock::certificate));
    ERR_clear_error();
    const auto mismatch = files.key + " is not the key of " + files.certificate;
    if (SSL_CTX_use_PrivateKey_file(raw, files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
        if (encrypted)
            fail(".key", files.key +
                             " is encrypted, and nobody could be asked for its "
                             "passphrase: openssl pkey -in " +
                             files.key + " -out FILE writes it in the clear");
        else if (ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH)
            fail(".key", mismatch);
        else
            fail(".key", pem_fault(files.key, PemBlock::key));
    } else if (!failed && SSL_CTX_check_private_key(raw) != 1) {
        fail(".key", mismatch);
    }
    ERR_clear_error();
    SSL_CTX_set_default_passwd_cb_userdata(raw, nullptr);  // no file is read any more
    if (failed) return nullptr;
    read->facts = certificate_facts(SSL_CTX_get0_certificate(raw), files.certificate);
    return read;
}

}  // namespace proxy
