#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace base {

using ByteView = std::span<const std::byte>;
using Mac = std::array<std::byte, 32>;

inline ByteView bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// Lower-case digits, two for each byte.
std::string hex(ByteView bytes);

/// HMAC-SHA-256 (RFC 2104, FIPS 180-4) under one key, for many messages. One thread at a time.
/// Throws std::bad_alloc when OpenSSL is out of memory.
class HmacSha256 {
public:
    explicit HmacSha256(ByteView key);
    ~HmacSha256();
    HmacSha256(HmacSha256&&) noexcept;
    HmacSha256& operator=(HmacSha256&&) noexcept;

    /// The MAC of the concatenated parts.
    Mac operator()(std::initializer_list<ByteView> parts);

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

using SipKey = std::array<std::byte, 16>;
using SipHash = std::array<std::byte, 16>;

/// SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012) of the concatenated parts: for short
/// texts of which nobody without the key shall learn anything. Any thread. Throws std::bad_alloc
/// when OpenSSL is out of memory.
SipHash sip_hash(const SipKey& key, std::initializer_list<ByteView> parts);

/// HKDF-SHA-256 (RFC 5869), extract and expand; `out` at most 255 * 32 bytes.
void hkdf_sha256(ByteView secret, ByteView salt, ByteView info, std::span<std::byte> out);

/// Random bytes of the kernel, fit for nonces and keys. (OpenSSL's generator takes 3 ms to set up
/// in each process.) Throws boost::system::system_error where the kernel has none.
void random_bytes(std::span<std::byte> out);

/// The time depends on the lengths only.
bool equal_in_constant_time(ByteView a, ByteView b);

}  // namespace base
