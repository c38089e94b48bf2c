#include "base/text/base64.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>

namespace base {
namespace {

bool is_base64_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

}  // namespace

std::string to_base64(std::string_view bytes) {
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with the NUL that OpenSSL writes
    const auto written = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                         reinterpret_cast<const unsigned char*>(bytes.data()),
                                         static_cast<int>(bytes.size()));
    text.resize(static_cast<std::size_t>(written));
    return text;
}

// OpenSSL would pass over white space.
std::optional<std::string> from_base64(std::string_view text) {
    const auto digits = text.substr(0, text.find('='));
    const auto padding = text.substr(digits.size());
    if (text.empty() || text.size() % 4 != 0 ||
        (padding != "" && padding != "=" && padding != "==") ||
        !std::all_of(digits.begin(), digits.end(), is_base64_digit))
        return std::nullopt;
    std::string out(text.size() / 4 * 3, '\0');
    const auto size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                      reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    out.resize(static_cast<std::size_t>(size) - padding.size());
    return out;
}

}  // namespace base
