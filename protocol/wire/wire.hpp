#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/tls/crypto.hpp"

// Fields of messages as bytes. One thread per object.

namespace protocol {

/// Appends fields in network byte order.
class WireWriter {
public:
    explicit WireWriter(std::vector<std::byte>& out) : out_(out) {}

    void u8(std::uint8_t value) { out_.push_back(std::byte{value}); }
    void u32(std::uint32_t value) { integer(value, 4); }
    void u64(std::uint64_t value) { integer(value, 8); }
    void bytes(base::ByteView value) { out_.insert(out_.end(), value.begin(), value.end()); }
    /// Length in one byte, then the text. Precondition: at most 255 bytes.
    void text(std::string_view value) {
        u8(static_cast<std::uint8_t>(value.size()));
        bytes(base::bytes_of(value));
    }

private:
    void integer(std::uint64_t value, unsigned size) {
        while (size-- > 0) u8(static_cast<std::uint8_t>(value >> (8 * size)));
    }

    std::vector<std::byte>& out_;
};

/// Takes fields off the front. After a field that does not fit, all fields read as zero and done()
/// stays false, so a decoder checks once, at its end.
class WireReader {
public:
    explicit WireReader(base::ByteView in) : in_(in) {}

    std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
    std::uint64_t u64() { return integer(8); }
    template <std::size_t size>
    std::array<std::byte, size> array() {
        std::array<std::byte, size> value{};
        const auto taken = bytes(size);
        std::copy(taken.begin(), taken.end(), value.begin());
        return value;
    }
    base::ByteView bytes(std::size_t size) {
        if (size > in_.size()) {
            failed_ = true;
            in_ = {};
            return {};
        }
        const auto taken = in_.first(size);
        in_ = in_.subspan(size);
        return taken;
    }
    std::size_t left() const { return in_.size(); }
    base::ByteView rest() { return bytes(left()); }
    std::string text() {
        const auto taken = bytes(u8());
        return {reinterpret_cast<const char*>(taken.data()), taken.size()};
    }
    /// True when all fields fitted and the input ends with the last.
    bool done() const { return !failed_ && in_.empty(); }

private:
    std::uint64_t integer(std::size_t size) {
        std::uint64_t value = 0;
        for (const auto byte : bytes(size))
            value = value << 8 | std::to_integer<std::uint64_t>(byte);
        return value;
    }

    base::ByteView in_;
    bool failed_ = false;
};

}  // namespace protocol
