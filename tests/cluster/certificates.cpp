#include "tests/cluster/certificates.hpp"

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace proxy::test {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::seconds;

void must(bool good, const char* what) {
    if (!good) throw std::runtime_error(what);
}

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()), X509_EXTENSION_free);
    must(extension != nullptr, "extension");
    X509_add_ext(certificate, extension.get(), -1);
}

template <class Write>
void write_file(const std::filesystem::path& path, Write&& write) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "w"),
                                                               std::fclose);
    must(file && write(file.get()) == 1, "write PEM");
}

}  // namespace

Certificates::Certificates() {
    authority_ = make("tests", "", nullptr, -days(2), days(2));
    ca_ = write(authority_);
    strange_ = write(make("strangers", "", nullptr, -days(2), days(2)));
}

Certificates::Files Certificates::issue(const std::string& names, hours from, hours to,
                                        KeyType type) {
    return write(make("server", names, &authority_, from, to, type));
}

Certificates::Pair Certificates::make(const std::string& subject, const std::string& names,
                                      const Pair* issuer, hours from, hours to, KeyType type) {
    constexpr unsigned kRsaBits = 2048;
    Pair pair;
    pair.key.reset(type == KeyType::rsa ? EVP_RSA_gen(kRsaBits) : EVP_EC_gen("P-256"),
                   EVP_PKEY_free);
    pair.certificate.reset(X509_new(), X509_free);
    auto* const certificate = pair.certificate.get();
    must(pair.key && certificate, "key");
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++made_);
    X509_gmtime_adj(X509_getm_notBefore(certificate), seconds(from).count());
    X509_gmtime_adj(X509_getm_notAfter(certificate), seconds(to).count());
    X509_set_pubkey(certificate, pair.key.get());
    auto* const name = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(subject.c_str()), -1, -1, 0);
    auto* const by = issuer ? issuer->certificate.get() : certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(by));
    add_extension(certificate, by, NID_basic_constraints,
                  issuer ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (!names.empty()) add_extension(certificate, by, NID_subject_alt_name, names);
    must(X509_sign(certificate, (issuer ? issuer->key : pair.key).get(), EVP_sha256()) > 0, "sign");
    return pair;
}

Certificates::Files Certificates::write(const Pair& pair) {
    const auto base = directory_.path() / std::to_string(made_);
    Files files{base.string() + ".crt", base.string() + ".key"};
    write_file(files.certificate,
               [&](std::FILE* file) { return PEM_write_X509(file, pair.certificate.get()); });
    write_file(files.key, [&](std::FILE* file) {
        return PEM_write_PrivateKey(file, pair.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    return files;
}

std::string Certificates::encrypted(const std::string& key) const {
    const std::shared_ptr<BIO> in(BIO_new_file(key.c_str(), "r"), BIO_free);
    const std::shared_ptr<EVP_PKEY> plain(
        PEM_read_bio_PrivateKey(in.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    const unsigned char passphrase[] = {'p', 'a', 's', 's'};
    write_file(key + ".encrypted", [&](std::FILE* file) {
        return PEM_write_PKCS8PrivateKey(file, plain.get(), EVP_aes_256_cbc(),
                                         reinterpret_cast<const char*>(passphrase),
                                         sizeof passphrase, nullptr, nullptr);
    });
    return key + ".encrypted";
}

}  // namespace proxy::test
