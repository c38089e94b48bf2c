#include "proxy/config_access.hpp"

#include <algorithm>

namespace proxy {
namespace {

namespace ip = boost::asio::ip;

/// A name counts as loopback only when it says so.
bool is_beyond_loopback(const Endpoint& listen) {
    boost::system::error_code not_literal;
    const auto address = ip::make_address(listen.host, not_literal);
    if (not_literal) return listen.host != "localhost";
    return !plain_address(address).is_loopback();
}

bool has_everybody(const PrefixList& list) {
    return std::any_of(list.texts().begin(), list.texts().end(),
                       [](const std::string& text) { return text.ends_with("/0"); });
}

}  // namespace

std::vector<ConfigError> access_doubts(const Config& config) {
    std::vector<ConfigError> found;
    if (config.admin && config.admin->token.empty() && is_beyond_loopback(config.admin->listen))
        found.push_back({"$.admin",
                         "listens beyond loopback without a token: purge, drain, reload and "
                         "/api/v1/config are answered on loopback only, the rest to everybody"});
    if (config.forward.enabled && has_everybody(config.forward.clients))
        found.push_back({"$.forward.clients",
                         "lets everybody use this node as a forward proxy; clients.allow may say "
                         "who can ask at all"});
    if (has_everybody(config.clients.trusted_proxies))
        found.push_back(
            {"$.clients.trusted_proxies",
             "takes everybody's word for who they are: X-Forwarded-For can be made up"});
    return found;
}

}  // namespace proxy
