#include "proxy/http/credentials.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "proxy/http/field_list.hpp"
#include "proxy/http/rule.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

/// The bits follow this order, so new names go to the end. Sources: the services' own manuals.
constexpr std::array<std::string_view, 20> kCredentials{"Authorization",
                                                        "X-Api-Key",
                                                        "Api-Key",
                                                        "X-Api-Token",
                                                        "X-Auth-Token",
                                                        "X-Auth-Key",
                                                        "X-Access-Token",
                                                        "Private-Token",
                                                        "Job-Token",
                                                        "Deploy-Token",
                                                        "X-JFrog-Art-Api",
                                                        "X-NuGet-ApiKey",
                                                        "X-Goog-Api-Key",
                                                        "Ocp-Apim-Subscription-Key",
                                                        "X-Functions-Key",
                                                        "X-Vault-Token",
                                                        "X-Consul-Token",
                                                        "X-Shopify-Access-Token",
                                                        "X-Amz-Security-Token",
                                                        "DD-Api-Key"};
static_assert(kCredentials.size() <= 32);

/// The lengths of the names as bits: most fields of a request are sorted out by them.
constexpr std::uint32_t kCredentialLengths = [] {
    std::uint32_t lengths = 0;
    for (const auto name : kCredentials) lengths |= 1U << name.size();
    return lengths;
}();
static_assert(std::ranges::all_of(kCredentials,
                                  [](std::string_view name) { return name.size() < 32; }));

/// Words in names of such fields, as services choose the names as they like.
constexpr std::array<std::string_view, 10> kWordsOfCredentials{
    "auth", "token", "key", "api", "secret", "cookie", "session", "passw", "cred", "sign"};

}  // namespace

bool may_be_credential(std::string_view name) {
    std::string lower;
    append_lower(lower, name);
    return std::ranges::any_of(kWordsOfCredentials, [&](std::string_view word) {
        return lower.find(word) != std::string::npos;
    });
}

CredentialFields credential_field(std::string_view name) {
    if (name.size() >= 32 || (kCredentialLengths >> name.size() & 1) == 0) return 0;
    for (std::size_t i = 0; i < kCredentials.size(); ++i)
        if (kCredentials[i].size() == name.size() && same_variable(kCredentials[i], name))
            return CredentialFields{1} << i;
    return 0;
}

CredentialFields credential_field(const Field& line) {
    if (line.id == field::authorization) return 1;
    return line.id == field::unknown ? credential_field(line.name) : 0;
}

CredentialFields credential_fields(Fields request) {
    CredentialFields fields = 0;
    for (const auto& line : request) fields |= credential_field(line);
    return fields;
}

bool has_credential(Fields request, const StoringRule* rule, std::string_view vary) {
    return std::ranges::any_of(request, [&](const Field& line) {
        if (credential_field(line) == 0 || (rule && rule->keys_by(line.name))) return false;
        return line.id == field::authorization || !has_name(vary, line.name);
    });
}

}  // namespace proxy
