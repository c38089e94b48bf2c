#include "protocol/crypto.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <cassert>
#include <new>

namespace protocol {
namespace {

constexpr char kDigest[] = "SHA256";

/// OpenSSL fails here only without memory or without its default provider.
void require(bool done) {
    if (!done) throw std::bad_alloc();
}

const unsigned char* data_of(ByteView bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

OSSL_PARAM digest_param(const char* key) {
    return OSSL_PARAM_construct_utf8_string(key, const_cast<char*>(kDigest), 0);
}

OSSL_PARAM octets(const char* key, ByteView bytes) {
    return OSSL_PARAM_construct_octet_string(key, const_cast<std::byte*>(bytes.data()),
                                             bytes.size());
}

struct KdfFree {
    void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
    void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

}  // namespace

struct HmacSha256::Context {
    EVP_MAC* mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    EVP_MAC_CTX* keyed = mac != nullptr ? EVP_MAC_CTX_new(mac) : nullptr;

    Context() = default;
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() {
        EVP_MAC_CTX_free(keyed);
        EVP_MAC_free(mac);
    }
};

HmacSha256::HmacSha256(ByteView key) : context_(std::make_unique<Context>()) {
    require(context_->keyed != nullptr);
    const OSSL_PARAM params[] = {digest_param(OSSL_MAC_PARAM_DIGEST), OSSL_PARAM_construct_end()};
    require(EVP_MAC_init(context_->keyed, data_of(key), key.size(), params) == 1);
}

HmacSha256::~HmacSha256() = default;
HmacSha256::HmacSha256(HmacSha256&&) noexcept = default;
HmacSha256& HmacSha256::operator=(HmacSha256&&) noexcept = default;

Mac HmacSha256::operator()(std::initializer_list<ByteView> parts) {
    EVP_MAC_CTX* const keyed = context_->keyed;
    require(EVP_MAC_init(keyed, nullptr, 0, nullptr) == 1);  // begins again with the same key
    for (const auto part : parts) require(EVP_MAC_update(keyed, data_of(part), part.size()) == 1);
    Mac mac;
    std::size_t size = 0;
    auto* const out = reinterpret_cast<unsigned char*>(mac.data());
    require(EVP_MAC_final(keyed, out, &size, mac.size()) == 1 && size == mac.size());
    return mac;
}

void hkdf_sha256(ByteView secret, ByteView salt, ByteView info, std::span<std::byte> out) {
    const std::unique_ptr<EVP_KDF, KdfFree> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
    require(kdf != nullptr);
    const std::unique_ptr<EVP_KDF_CTX, KdfFree> context(EVP_KDF_CTX_new(kdf.get()));
    require(context != nullptr);
    // OpenSSL refuses a null pointer for an empty salt; RFC 5869 takes zeros for an absent one,
    // which as an HMAC key is the same as an empty one.
    static constexpr std::byte kNoSalt{};
    const auto given = salt.empty() ? ByteView(&kNoSalt, 1) : salt;
    const OSSL_PARAM params[] = {
        digest_param(OSSL_KDF_PARAM_DIGEST), octets(OSSL_KDF_PARAM_KEY, secret),
        octets(OSSL_KDF_PARAM_SALT, given),  octets(OSSL_KDF_PARAM_INFO, info),
        OSSL_PARAM_construct_end(),
    };
    auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
    require(EVP_KDF_derive(context.get(), bytes, out.size(), params) == 1);
}

void random_bytes(std::span<std::byte> out) {
    auto* const bytes = reinterpret_cast<unsigned char*>(out.data());
    require(RAND_bytes(bytes, static_cast<int>(out.size())) == 1);
}

bool equal_in_constant_time(ByteView a, ByteView b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace protocol
