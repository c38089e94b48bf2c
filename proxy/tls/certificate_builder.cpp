#include "proxy/tls/certificate_builder.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/tls/crypto.hpp"
#include "base/tls/new_tls_context.hpp"

namespace proxy {
namespace {

constexpr std::size_t kSerialBytes = 16;
// RFC 5280 §4.2.1.3.
constexpr int kDigitalSignature = 0, kKeyCertSign = 5, kCrlSign = 6;

void must(bool good, const char* what) {
    if (good) return;
    throw std::runtime_error(std::string("cannot make a certificate (") + what +
                             "): " + base::tls_reason());
}

template <class T, void (*Free)(T*)>
struct OpenSslDeleter {
    void operator()(T* object) const { Free(object); }
};
template <class T, void (*Free)(T*)>
using Owned = std::unique_ptr<T, OpenSslDeleter<T, Free>>;
using OwnedName = Owned<GENERAL_NAME, GENERAL_NAME_free>;

OwnedName dns_name(std::string_view host) {
    OwnedName name(GENERAL_NAME_new());
    Owned<ASN1_IA5STRING, ASN1_IA5STRING_free> text(ASN1_IA5STRING_new());
    must(name && text && ASN1_STRING_set(text.get(), host.data(), static_cast<int>(host.size())),
         "name");
    GENERAL_NAME_set0_value(name.get(), GEN_DNS, text.release());
    return name;
}

/// An address and mask of zero bits: all addresses of a family (RFC 5280 §4.2.1.10).
OwnedName all_addresses(std::size_t address_bytes) {
    OwnedName name(GENERAL_NAME_new());
    Owned<ASN1_OCTET_STRING, ASN1_OCTET_STRING_free> bytes(ASN1_OCTET_STRING_new());
    const std::vector<unsigned char> zeros(2 * address_bytes);
    must(name && bytes &&
             ASN1_OCTET_STRING_set(bytes.get(), zeros.data(), static_cast<int>(zeros.size())),
         "addresses");
    GENERAL_NAME_set0_value(name.get(), GEN_IPADD, bytes.release());
    return name;
}

void add_tree(STACK_OF(GENERAL_SUBTREE) * &trees, OwnedName base) {
    if (!trees) trees = sk_GENERAL_SUBTREE_new_null();
    Owned<GENERAL_SUBTREE, GENERAL_SUBTREE_free> tree(GENERAL_SUBTREE_new());
    must(trees && tree, "constraint");
    GENERAL_NAME_free(tree->base);
    tree->base = base.release();
    must(sk_GENERAL_SUBTREE_push(trees, tree.get()) > 0, "constraint");
    tree.release();
}

}  // namespace

std::shared_ptr<EVP_PKEY> new_p256_key() {
    ERR_clear_error();
    std::shared_ptr<EVP_PKEY> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    must(key != nullptr, "key");
    return key;
}

CertificateBuilder::CertificateBuilder(EVP_PKEY* key, std::chrono::sys_seconds from,
                                       std::chrono::sys_seconds to)
    : made_(X509_new(), X509_free) {
    ERR_clear_error();
    auto* const raw = made_.get();
    must(raw && X509_set_version(raw, X509_VERSION_3) == 1, "version");
    std::array<std::byte, kSerialBytes> random;
    base::random_bytes(random);
    const Owned<BIGNUM, BN_free> number(BN_bin2bn(reinterpret_cast<unsigned char*>(random.data()),
                                                  static_cast<int>(random.size()), nullptr));
    must(number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(raw)), "serial number");
    must(ASN1_TIME_set(X509_getm_notBefore(raw), from.time_since_epoch().count()) &&
             ASN1_TIME_set(X509_getm_notAfter(raw), to.time_since_epoch().count()),
         "time");
    must(X509_set_pubkey(raw, key) == 1, "key");
    // RFC 5280 §4.2.1.2, method 1.
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
    unsigned size = 0;
    const Owned<ASN1_OCTET_STRING, ASN1_OCTET_STRING_free> id(ASN1_OCTET_STRING_new());
    must(id && X509_pubkey_digest(raw, EVP_sha1(), hash.data(), &size) == 1 &&
             ASN1_OCTET_STRING_set(id.get(), hash.data(), static_cast<int>(size)) == 1,
         "key identifier");
    add(NID_subject_key_identifier, id.get(), false);
}

void CertificateBuilder::add(int id, void* value, bool critical) {
    must(X509_add1_ext_i2d(made_.get(), id, value, critical ? 1 : 0, X509V3_ADD_DEFAULT) == 1,
         OBJ_nid2sn(id));
}

void CertificateBuilder::name(const std::string& common_name) {
    must(X509_NAME_add_entry_by_txt(X509_get_subject_name(made_.get()), "CN", MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(common_name.data()),
                                    static_cast<int>(common_name.size()), -1, 0) == 1,
         "subject");
}

void CertificateBuilder::for_host(const std::string& host) {
    const Owned<GENERAL_NAMES, GENERAL_NAMES_free> names(GENERAL_NAMES_new());
    auto name = dns_name(host);
    must(names && sk_GENERAL_NAME_push(names.get(), name.get()) > 0, "host");
    name.release();
    add(NID_subject_alt_name, names.get(), true);
}

void CertificateBuilder::basic_constraints(bool is_ca) {
    const Owned<BASIC_CONSTRAINTS, BASIC_CONSTRAINTS_free> basic(BASIC_CONSTRAINTS_new());
    must(basic != nullptr, "constraints");
    if (is_ca) {
        basic->ca = 0xff;  // TRUE in DER; clients in Go refuse any other byte (X.690 §11.1)
        basic->pathlen = ASN1_INTEGER_new();
        must(basic->pathlen && ASN1_INTEGER_set(basic->pathlen, 0) == 1, "path length");
    }
    add(NID_basic_constraints, basic.get(), true);
}

void CertificateBuilder::key_usage(std::vector<int> bits) {
    const Owned<ASN1_BIT_STRING, ASN1_BIT_STRING_free> usage(ASN1_BIT_STRING_new());
    must(usage != nullptr, "usage");
    for (const auto bit : bits) must(ASN1_BIT_STRING_set_bit(usage.get(), bit, 1) == 1, "usage");
    add(NID_key_usage, usage.get(), true);
}

void CertificateBuilder::for_servers_alone() {
    const Owned<EXTENDED_KEY_USAGE, EXTENDED_KEY_USAGE_free> usage(EXTENDED_KEY_USAGE_new());
    // An object of OpenSSL's table, which nobody frees.
    must(usage && sk_ASN1_OBJECT_push(usage.get(), OBJ_nid2obj(NID_server_auth)) > 0, "usage");
    add(NID_ext_key_usage, usage.get(), false);
}

void CertificateBuilder::for_authority() {
    basic_constraints(true);
    key_usage({kKeyCertSign, kCrlSign});
    for_servers_alone();
}

void CertificateBuilder::for_server() {
    basic_constraints(false);
    key_usage({kDigitalSignature});
    for_servers_alone();
}

void CertificateBuilder::permit(const std::vector<std::string>& hosts) {
    const Owned<NAME_CONSTRAINTS, NAME_CONSTRAINTS_free> constraints(NAME_CONSTRAINTS_new());
    must(constraints != nullptr, "constraints");
    for (const auto& host : hosts) add_tree(constraints->permittedSubtrees, dns_name(host));
    // Names of types without a constraint would be free.
    constexpr std::size_t kIpv4Bytes = 4, kIpv6Bytes = 16;
    for (const auto bytes : {kIpv4Bytes, kIpv6Bytes})
        add_tree(constraints->excludedSubtrees, all_addresses(bytes));
    add(NID_name_constraints, constraints.get(), true);
}

std::shared_ptr<X509> CertificateBuilder::sign(X509* issuer, EVP_PKEY* by) {
    auto* const raw = made_.get();
    auto* const from = issuer ? issuer : raw;
    must(X509_set_issuer_name(raw, X509_get_subject_name(from)) == 1, "issuer");
    if (const auto* const id = X509_get0_subject_key_id(from)) {
        const Owned<AUTHORITY_KEYID, AUTHORITY_KEYID_free> authority(AUTHORITY_KEYID_new());
        must(authority != nullptr, "issuer's key");
        authority->keyid = ASN1_OCTET_STRING_dup(id);
        add(NID_authority_key_identifier, authority.get(), false);
    }
    int digest = NID_undef;
    const auto fixed = EVP_PKEY_get_default_digest_nid(by, &digest) == 2 && digest == NID_undef;
    must(X509_sign(raw, by, fixed ? nullptr : EVP_sha256()) > 0, "signature");
    return std::exchange(made_, nullptr);
}

}  // namespace proxy
