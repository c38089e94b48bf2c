#include "proxy/http/basic_credentials.hpp"

#include <algorithm>
#include <string_view>

#include "base/text/base64.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

constexpr std::string_view kBasic = "Basic";
constexpr std::size_t kMaxEncodedBytes = (kMaxUserBytes + 1 + kMaxPasswordBytes + 2) / 3 * 4;

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
    const auto text = trim(line->value.substr(space));
    if (text.size() > kMaxEncodedBytes) return {State::malformed};
    const auto pair = base::from_base64(text);
    const auto colon = pair ? pair->find(':') : std::string::npos;
    if (colon == std::string::npos || has_control(*pair)) return {State::malformed};
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
