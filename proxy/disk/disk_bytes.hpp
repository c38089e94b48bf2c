#pragma once

#include <algorithm>
#include <boost/endian/conversion.hpp>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Numbers, texts and hashes in files, little endian. Code that reads them uses ByteCursor, which
/// stays within the bytes it was given.

using DiskBytes = std::vector<std::byte>;
using DiskView = std::span<const std::byte>;

template <typename Number, typename Bytes>
void put(Bytes& out, std::type_identity_t<Number> value) {
    value = boost::endian::native_to_little(value);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    out.insert(out.end(), bytes, bytes + sizeof value);
}

template <typename Bytes>
void put_text(Bytes& out, std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    out.insert(out.end(), bytes, bytes + text.size());
}

inline constexpr std::size_t kHashBytes = 16;

template <typename Bytes>
void put_hash(Bytes& out, summary::KeyHash hash) {
    put<std::uint64_t>(out, hash.low);
    put<std::uint64_t>(out, hash.high);
}

/// Overwrites the bytes at `at`. Precondition: the number lies inside `out`.
template <typename Number>
void put_at(std::span<std::byte> out, std::size_t at, std::type_identity_t<Number> value) {
    value = boost::endian::native_to_little(value);
    std::memcpy(out.data() + at, &value, sizeof value);
}

inline bool is_zeros(DiskView bytes) {
    return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

inline std::string_view as_text(DiskView bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Takes bytes from the front. A request beyond the end makes ok() false for good, and all further
/// values are 0 or empty.
class ByteCursor {
public:
    explicit ByteCursor(DiskView bytes) : rest_(bytes) {}

    template <typename Number>
    Number number() {
        Number value{};
        if (const auto bytes = take(sizeof value); ok_)
            std::memcpy(&value, bytes.data(), sizeof value);
        return boost::endian::little_to_native(value);
    }
    DiskView take(std::size_t count) {
        if (count > rest_.size()) ok_ = false;
        if (!ok_) return {};
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    std::string_view text(std::size_t count) { return as_text(take(count)); }
    summary::KeyHash hash() {
        const auto low = number<std::uint64_t>();
        return {low, number<std::uint64_t>()};
    }

    bool ok() const { return ok_; }
    DiskView rest() const { return rest_; }

private:
    DiskView rest_;
    bool ok_ = true;
};

}  // namespace proxy
