#include "proxy/admin/admin_access.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>

#include "base/net/plain_address.hpp"
#include "base/tls/crypto.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/forwarded.hpp"

namespace proxy {
namespace {

namespace http = boost::beast::http;

std::string_view view(boost::beast::string_view text) {
    return {text.data(), text.size()};
}

/// A request without Host passes, because every browser sends one.
bool knows_host(const AdminConfig& config, const http::fields& request) {
    const auto [first, last] = request.equal_range(http::field::host);
    if (first == last) return true;
    Authority authority;
    if (std::next(first) != last ||
        parse_authority(view(first->value()), authority) != TargetError::none)
        return false;
    const auto host = authority.address();
    boost::system::error_code not_literal;
    boost::asio::ip::make_address(std::string(host), not_literal);
    return !not_literal || iequals(host, "localhost") ||
           std::any_of(config.names.begin(), config.names.end(),
                       [&](const auto& name) { return iequals(host, name); });
}

bool came_through_a_proxy(const http::fields& request) {
    return std::any_of(request.begin(), request.end(), [](const auto& line) {
        return is_trace_of_proxy(line.name(), view(line.name_string()));
    });
}

bool has_token(const AdminConfig& config, const http::fields& request) {
    constexpr std::string_view kScheme = "Bearer ";
    const auto value = view(request[http::field::authorization]);
    if (request.count(http::field::authorization) != 1 || value.size() < kScheme.size() ||
        !iequals(value.substr(0, kScheme.size()), kScheme))
        return false;
    const auto given = trim(value.substr(kScheme.size()));
    return base::equal_in_constant_time(base::bytes_of(given), base::bytes_of(config.token));
}

}  // namespace

AdminVerdict admit(const AdminConfig& config, const http::fields& request, bool guarded,
                   const boost::asio::ip::address& from) {
    if (!knows_host(config, request)) return AdminVerdict::unknown_host;
    if (came_through_a_proxy(request)) return AdminVerdict::proxied;
    if (config.token.empty())
        return !guarded || base::plain_address(from).is_loopback() ? AdminVerdict::granted
                                                                   : AdminVerdict::needs_loopback;
    if (!guarded && config.token_for == TokenFor::changes) return AdminVerdict::granted;
    return has_token(config, request) ? AdminVerdict::granted : AdminVerdict::needs_token;
}

bool is_from_own_page(const http::fields& request) {
    if (request.count(http::field::origin) != 1 || request.count(http::field::host) != 1)
        return false;
    const auto origin = view(request[http::field::origin]);
    const auto host = trim(view(request[http::field::host]));
    for (const std::string_view scheme : {"http://", "https://"})
        if (origin.starts_with(scheme) && iequals(origin.substr(scheme.size()), host)) return true;
    return false;
}

std::string_view explain(AdminVerdict refused) {
    switch (refused) {
        case AdminVerdict::granted:
            break;
        case AdminVerdict::unknown_host:
            return "Ask by address, as localhost, or by a name in admin.names.";
        case AdminVerdict::proxied:
            return "Not through a proxy.";
        case AdminVerdict::needs_token:
            return "This needs Authorization: Bearer with the token of admin.token.";
        case AdminVerdict::needs_loopback:
            return "Without admin.token this is answered on loopback only.";
    }
    return {};
}

}  // namespace proxy
