#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

namespace base {

/// Collects short texts and appends them to a string at once: a call of std::string::append()
/// takes 45 to 60 instructions, and a text that the compiler knows takes a few here. The string has
/// all of them after flush(), or when this ends; nobody else may change it until then. Longer texts
/// than fit go to the string directly. Errors are those of the string, also when this ends.
class ShortText {
public:
    explicit ShortText(std::string& out) : out_(out) {}
    ShortText(const ShortText&) = delete;
    ShortText& operator=(const ShortText&) = delete;
    ~ShortText() noexcept(false) { flush(); }

    ShortText& append(std::string_view text) {
        if (text.size() > bytes_.size() - used_) return append_long(text);
        if (!text.empty()) std::memcpy(bytes_.data() + used_, text.data(), text.size());
        used_ += text.size();
        return *this;
    }
    ShortText& append(char) = delete;  // no number
    ShortText& append(std::integral auto number) {
        std::array<char, 20> digits;  // enough for 64 bits in base 10
        const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
        return append({digits.data(), static_cast<std::size_t>(end - digits.data())});
    }

    /// The length of the string with all that is collected.
    std::size_t size() const { return out_.size() + used_; }
    void flush() {
        const auto bytes = std::exchange(used_, 0);  // none is left if this fails
        out_.append(bytes_.data(), bytes);
    }

private:
    ShortText& append_long(std::string_view text) {
        flush();
        out_.append(text);
        return *this;
    }

    std::string& out_;
    std::size_t used_ = 0;
    std::array<char, 192> bytes_;
};

}  // namespace base
