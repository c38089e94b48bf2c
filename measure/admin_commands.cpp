#include "measure/admin_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <optional>
#include <stdexcept>
#include <utility>

#include "measure/commands.hpp"
#include "measure/fail.hpp"
#include "measure/report/explanation_text.hpp"
#include "measure/run/http_get.hpp"
#include "measure/run/node_addresses.hpp"
#include "measure/run/node_counters.hpp"
#include "measure/status_text.hpp"
#include "proxy/config/parse_config.hpp"
#include "proxy/net/load_config.hpp"

namespace measure {
namespace {

using namespace std::chrono_literals;

constexpr auto kAdminTimeout = 3s;

/// Without the line ends it came with.
std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(" \r\n") + 1);
    return text;
}

/// What a node that is not ready says, or whoever else is there.
std::string why_not(const HttpAnswer& answer) {
    const auto said = trimmed(answer.body.substr(0, answer.body.find('\n')));
    return said.empty() ? "not ready" : said;
}

/// Where to ask and the token to give, if there is one.
struct AdminPort {
    HostPort at;
    std::string token;
};

/// The admin port to ask, or a reason why there is none. The environment's token comes before that
/// of the configuration.
std::optional<AdminPort> admin_of(const NodeChoice& choice, std::string& why) {
    if (!choice.url.empty())
        return AdminPort{parse_address(choice.url, proxy::kAdminPort), admin_token()};
    if (choice.config.empty()) return AdminPort{proxy::AdminConfig{}.listen, admin_token()};
    const auto loaded = proxy::load_settings(choice.config);
    if (!loaded.config) {
        why = trimmed(proxy::describe(loaded.errors));
        return std::nullopt;
    }
    if (!loaded.config->admin) {
        why = choice.config + " has no admin port";
        return std::nullopt;
    }
    AdminPort port{loaded.config->admin->listen, admin_token()};
    if (port.token.empty()) port.token = loaded.config->admin->token;
    auto& out = port.at;
    // Listening everywhere includes loopback; the wildcard itself is no address to connect to.
    if (out.host == "0.0.0.0" || out.host.empty()) out.host = "127.0.0.1";
    if (out.host == "::") out.host = "::1";
    return port;
}

/// What a 401 asks of the user.
std::string token_hint(const HttpAnswer& answer, const AdminPort& admin) {
    if (answer.status != 401) return {};
    return admin.token.empty() ? " (set HEARSAY_ADMIN_TOKEN)"
                               : " (it has another token: set HEARSAY_ADMIN_TOKEN)";
}

}  // namespace

int status_command(const std::vector<NodeChoice>& choices, bool json) {
    try {
        std::vector<AdminPort> admins;
        NodeAddresses addresses;
        for (const auto& choice : choices) {
            if (!choice.url.empty()) {
                for (auto& at : addresses.expand({choice.url}, proxy::kAdminPort))
                    admins.push_back({std::move(at), admin_token()});
                continue;
            }
            std::string why;
            const auto admin = admin_of(choice, why);
            if (!admin) return fail(kBadConfig, "{}", why);
            admins.push_back(*admin);
        }
        std::vector<NodeCounters> nodes;
        std::vector<std::string> answers, answered_at;
        int code = kOk;
        for (const auto& port : admins) {
            const auto& admin = port.at;
            std::string why;
            const auto answer = http_get(admin, "/api/v1/status", kAdminTimeout, port.token);
            if (!answer) {
                code = fail(kFailed, "no node answers at http://{}: {}{}", admin.text(),
                            answer.error().message(),
                            admins.size() == 1 ? " (give its admin address, or --config)" : "");
                continue;
            }
            if (answer->status == 401 || answer->status == 403) {
                code = fail(kFailed, "http://{}: status {}: {}{}", admin.text(), answer->status,
                            trimmed(answer->body), token_hint(*answer, port));
                continue;
            }
            const auto counters = parse_status(answer->body, why);
            if (!counters) {
                code = fail(kFailed,
                            "http://{}: {} (status {}); it must be the admin port, 9128 by default",
                            admin.text(), why, answer->status);
                continue;
            }
            if (!json) {
                print_status(*counters);
                if (admins.size() > 1) fmt::print("\n");
            }
            nodes.push_back(*counters);
            answered_at.push_back(admin.text());
            answers.push_back(answer->body);
        }
        if (json && admins.size() == 1 && !answers.empty()) fmt::print("{}\n", answers.front());
        if (json && admins.size() > 1) fmt::print("[{}]\n", fmt::join(answers, ","));
        const auto missing = admins.size() - nodes.size();
        const auto doubles = drop_repeats(nodes, answered_at);
        if (!json && admins.size() > 1 && !nodes.empty()) print_together(nodes, missing);
        for (const auto& each : doubles) fmt::print(stderr, "hearsay: warning: {}\n", each);
        return code;
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::runtime_error& error) {
        return fail(kFailed, "{}", error.what());
    }
}

int healthcheck_command(const NodeChoice& choice) {
    try {
        std::string why;
        const auto admin = admin_of(choice, why);
        if (!admin) return fail(kBadConfig, "{}", why);
        const auto answer = http_get(admin->at, "/readyz", kAdminTimeout, admin->token);
        const auto where = admin->at.text();
        if (!answer)
            return fail(kFailed, "no node answers at {}: {}", where, answer.error().message());
        if (answer->status != 200) {
            return fail(kFailed, "{}: {} (http://{}/readyz: status {}){}", where, why_not(*answer),
                        where, answer->status, token_hint(*answer, *admin));
        }
        return kOk;
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    }
}

int explain_command(const NodeChoice& choice, const std::string& url, bool json) {
    try {
        std::string why;
        const auto admin = admin_of(choice, why);
        if (!admin) return fail(kBadConfig, "{}", why);
        const auto where = admin->at.text();
        const auto answer = http_get(admin->at, "/api/v1/explain?url=" + percent_encoded(url),
                                     kAdminTimeout, admin->token);
        if (!answer)
            return fail(kFailed, "no node answers at http://{}: {} (give its admin address, --at)",
                        where, answer.error().message());
        if (answer->status == 400) return fail(kUsage, "{}", trimmed(answer->body));
        if (answer->status != 200)
            return fail(kFailed, "http://{}: status {}: {}{}", where, answer->status,
                        trimmed(answer->body), token_hint(*answer, *admin));
        const auto text = json ? answer->body : explanation_text(answer->body, why);
        if (text.empty())
            return fail(kFailed, "http://{}: {}; it must be the admin port, 9128 by default", where,
                        why);
        fmt::print("{}", text);
        return kOk;
    } catch (const std::invalid_argument& error) {
        return fail(kUsage, "{}", error.what());
    } catch (const std::runtime_error& error) {
        return fail(kFailed, "{}", error.what());
    }
}

}  // namespace measure
