#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace base {

/// The text of an address with its port, like `10.0.0.7:8080` or `[::1]:80`, in place: most of them
/// are too long for the space within a std::string, and each fetch makes five copies. A longer text
/// is cut.
class AddressText {
public:
    static constexpr std::size_t kMost = 47;  // brackets, an IPv6 address, a colon, five digits

    AddressText() = default;
    AddressText(std::string_view text)
        : size_(static_cast<std::uint8_t>(std::min(text.size(), kMost))) {
        std::copy_n(text.data(), size_, bytes_.data());
    }

    std::string_view text() const { return {bytes_.data(), size_}; }
    operator std::string_view() const { return text(); }
    bool empty() const { return size_ == 0; }
    bool operator==(std::string_view other) const { return text() == other; }

private:
    std::array<char, kMost> bytes_{};
    std::uint8_t size_ = 0;
};

}  // namespace base
