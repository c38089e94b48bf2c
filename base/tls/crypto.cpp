#include "base/tls/crypto.hpp"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <sys/random.h>

#include <algorithm>
#include <boost/system/system_error.hpp>
#include <cassert>
#include <cerrno>
#include <new>

namespace base {
namespace {

constexpr char kDigest[] = "SHA256";

/// OpenSSL fails here only when memory runs out, or when its default provider is missing.
void require(bool done) {
    if (!done) throw std::bad_alloc();
}

const unsigned char* data_of(ByteView bytes) {
    return reinterpret_cast<const unsigned char*>(bytes.data());
}

OSSL_PARAM digest_param(const char* key) {
    return OSSL_PARAM_construct_utf8_string(key, const_cast<char*>(kDigest), 0);
}

constexpr std::byte kZero{};

/// OpenSSL takes no null pointer for an empty key; an HMAC pads keys with zeros anyway.
ByteView not_null(ByteView key) {
    return key.empty() ? ByteView(&kZero, 1) : key;
}

/// Found once: finding an algorithm among OpenSSL's providers takes locks and compares names, which
/// takes longer than a hash.
EVP_MAC* sip_hash_of_provider() {
    static EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "SIPHASH", nullptr);
    require(mac != nullptr);
    return mac;
}

}  // namespace

struct HmacSha256::Context {
    explicit Context(EVP_MAC_CTX* context) : keyed(context) { require(keyed != nullptr); }
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;
    ~Context() { EVP_MAC_CTX_free(keyed); }

    /// A context under some key, to be copied.
    static const Context& pattern() {
        static const Context pattern(find());
        return pattern;
    }

    EVP_MAC_CTX* keyed;

private:
    static EVP_MAC_CTX* find() {
        EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
        EVP_MAC_CTX* const context = mac != nullptr ? EVP_MAC_CTX_new(mac) : nullptr;
        EVP_MAC_free(mac);  // the context keeps it
        const OSSL_PARAM params[] = {digest_param(OSSL_MAC_PARAM_DIGEST),
                                     OSSL_PARAM_construct_end()};
        require(context != nullptr && EVP_MAC_init(context, data_of({&kZero, 1}), 1, params) == 1);
        return context;
    }
};

HmacSha256::HmacSha256(ByteView key)
    : context_(std::make_unique<Context>(EVP_MAC_CTX_dup(Context::pattern().keyed))) {
    const auto given = not_null(key);
    require(EVP_MAC_init(context_->keyed, data_of(given), given.size(), nullptr) == 1);
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

SipHash sip_hash(const SipKey& key, std::initializer_list<ByteView> parts) {
    const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(
        EVP_MAC_CTX_new(sip_hash_of_provider()), &EVP_MAC_CTX_free);
    // Without parameters OpenSSL takes 2 and 4 rounds and gives 16 bytes.
    require(context && EVP_MAC_init(context.get(), data_of(key), key.size(), nullptr) == 1);
    for (const auto part : parts)
        require(EVP_MAC_update(context.get(), data_of(part), part.size()) == 1);
    SipHash hash;
    std::size_t size = 0;
    auto* const out = reinterpret_cast<unsigned char*>(hash.data());
    require(EVP_MAC_final(context.get(), out, &size, hash.size()) == 1 && size == hash.size());
    return hash;
}

void hkdf_sha256(ByteView secret, ByteView salt, ByteView info, std::span<std::byte> out) {
    assert(out.size() <= 255 * sizeof(Mac));
    auto extracted = HmacSha256(salt)({secret});
    HmacSha256 expand(extracted);
    Mac block;
    for (std::byte number{1}; !out.empty(); number = std::byte(std::to_integer<int>(number) + 1)) {
        const auto before = number == std::byte{1} ? ByteView() : ByteView(block);
        block = expand({before, info, {&number, 1}});
        const auto taken = std::min(out.size(), block.size());
        std::copy_n(block.begin(), taken, out.begin());
        out = out.subspan(taken);
    }
    OPENSSL_cleanse(extracted.data(), extracted.size());
    OPENSSL_cleanse(block.data(), block.size());
}

void random_bytes(std::span<std::byte> out) {
    while (!out.empty()) {
        const auto got = ::getrandom(out.data(), out.size(), 0);
        if (got > 0) out = out.subspan(static_cast<std::size_t>(got));
        if (got < 0 && errno != EINTR)
            throw boost::system::system_error(errno, boost::system::system_category(), "getrandom");
    }
}

bool equal_in_constant_time(ByteView a, ByteView b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string hex(ByteView bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text(bytes.size() * 2, '0');
    auto digit = text.begin();
    for (const auto byte : bytes) {
        const auto value = std::to_integer<unsigned>(byte);
        *digit++ = kDigits[value >> 4];
        *digit++ = kDigits[value & 15];
    }
    return text;
}

}  // namespace base
