#include "proxy/http/basic_credentials.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

constexpr std::string_view kBasic = "Basic";
constexpr std::size_t kMaxEncodedBytes = (kMaxUserBytes + 1 + kMaxPasswordBytes + 2) / 3 * 4;

bool is_base64_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/';
}

/// Decodes base64 (RFC 4648 §4) with its padding. OpenSSL would pass over white space.
std::optional<std::string> from_base64(std::string_view text) {
    const auto digits = text.substr(0, text.find('='));
    const auto padding = text.substr(digits.size());
    if (text.empty() || text.size() % 4 != 0 || text.size() > kMaxEncodedBytes ||
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

bool is_control_character(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

}  // namespace

ProxyCredentials proxy_credentials(Fields request) {
    using State = ProxyCredentials::State;
    const auto* line = find(request, field::proxy_authorization);
    if (!line) return {};
    const auto count = std::count_if(request.begin(), request.end(), [](const Field& each) {
        return each.id == field::proxy_authorization;
    });
    if (count > 1) return {State::malformed};
    const auto space = line->value.find(' ');
    if (!iequals(line->value.substr(0, space), kBasic)) return {};
    if (space == std::string_view::npos) return {State::malformed};
    const auto pair = from_base64(trim(line->value.substr(space)));
    const auto colon = pair ? pair->find(':') : std::string::npos;
    if (colon == std::string::npos || std::ranges::any_of(*pair, is_control_character))
        return {State::malformed};
    ProxyCredentials given{State::given, pair->substr(0, colon), pair->substr(colon + 1)};
    if (given.user.empty() || given.user.size() > kMaxUserBytes ||
        given.password.size() > kMaxPasswordBytes)
        return {State::malformed};
    return given;
}

std::string basic_challenge(const std::string& realm) {
    std::string text("Basic realm=\"");
    for (const char c : realm) {
        if (c == '"' || c == '\\') text.push_back('\\');
        text.push_back(c);
    }
    return text.append("\", charset=\"UTF-8\"");
}

}  // namespace proxy
