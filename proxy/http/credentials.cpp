#include "proxy/http/credentials.hpp"

#include <algorithm>
#include <array>
#include <bit>
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

/// The fields whose names have this length: a name is compared with a few of them, or with none.
constexpr std::array<CredentialFields, 32> kOfLength = [] {
    std::array<CredentialFields, 32> fields{};
    for (std::size_t i = 0; i < kCredentials.size(); ++i)
        fields.at(kCredentials[i].size()) |= CredentialFields{1} << i;
    return fields;
}();

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
    auto left = name.size() < kOfLength.size() ? kOfLength[name.size()] : 0;
    for (; left != 0; left &= left - 1) {  // without its lowest bit
        const auto i = std::countr_zero(left);
        if (same_variable(kCredentials[static_cast<std::size_t>(i)], name))
            return CredentialFields{1} << i;
    }
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
