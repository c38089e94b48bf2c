#include "app/admin_port.hpp"

#include <fmt/format.h>

#include "app/exit_codes.hpp"
#include "app/fail.hpp"
#include "measure/run/node_addresses.hpp"
#include "measure/trace/printable.hpp"
#include "proxy/config/parse_config.hpp"

namespace app {
namespace {

/// Removes trailing blanks and line ends.
std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(" \r\n") + 1);
    return text;
}

}  // namespace

bool may_be_of_a_node(const measure::HttpAnswer& answer) {
    const std::string_view type = answer.content_type;
    const auto known =
        type.empty() || type.starts_with("text/plain") || type.starts_with("application/json");
    const auto begin = answer.body.find_first_not_of(" \t\r\n");
    return known && (begin == std::string::npos || answer.body[begin] != '<');
}

int no_node(const std::string& where, const measure::HttpAnswer& answer) {
    return fail(kFailed,
                "http://{}: the answer is not that of a hearsay node (status {}); it must be the "
                "admin port, 9128 by default",
                where, answer.status);
}

std::string address_hint(const NodeChoice& choice, std::string_view options) {
    return choice.url.empty() && choice.config.empty()
               ? fmt::format(" (give its admin address, {})", options)
               : std::string();
}

std::string first_line(const measure::HttpAnswer& answer) {
    return measure::printable(trimmed(answer.body.substr(0, answer.body.find('\n'))));
}

std::string why_not(const measure::HttpAnswer& answer) {
    const auto said = first_line(answer);
    return said.empty() ? "not ready" : said;
}

std::optional<AdminPort> admin_of(const NodeChoice& choice, std::string& why) {
    if (!choice.url.empty())
        return AdminPort{measure::parse_address(choice.url, proxy::kAdminPort),
                         measure::admin_token()};
    if (choice.config.empty())
        return AdminPort{proxy::AdminConfig{}.listen, measure::admin_token()};
    const auto loaded = proxy::load_settings(choice.config);
    if (!loaded.config) {
        // The message about an unreadable file already names it.
        const auto is_unread = loaded.errors.size() == 1 && loaded.errors[0].path.empty();
        why = (is_unread ? "" : choice.config + ": not a valid configuration\n") +
              trimmed(proxy::describe(loaded.errors));
        return std::nullopt;
    }
    if (!loaded.config->admin) {
        why = choice.config + " has no admin port";
        return std::nullopt;
    }
    AdminPort port{loaded.config->admin->listen, measure::admin_token()};
    if (port.token.empty()) port.token = loaded.config->admin->token;
    auto& out = port.at;
    // A wildcard address includes loopback, and is itself unfit to connect to.
    if (out.host == "0.0.0.0" || out.host.empty()) out.host = "127.0.0.1";
    if (out.host == "::") out.host = "::1";
    return port;
}

std::string token_hint(const measure::HttpAnswer& answer, const AdminPort& admin) {
    if (answer.status != 401) return {};
    return admin.token.empty() ? " (set HEARSAY_ADMIN_TOKEN)"
                               : " (the token that was sent is not the node's: set "
                                 "HEARSAY_ADMIN_TOKEN)";
}

}  // namespace app
