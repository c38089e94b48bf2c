#include "proxy/http/connection_login.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using boost::beast::http::field;

constexpr std::array<std::string_view, 4> kSchemes{"NTLM", "Negotiate", "Nego2", "Kerberos"};

/// The first word of a challenge or of credentials.
std::string_view scheme_of(std::string_view text) {
    return text.substr(0, text.find_first_of(" \t"));
}

bool is_of_connections(std::string_view text) {
    return std::ranges::any_of(
        kSchemes, [&](std::string_view scheme) { return iequals(scheme, scheme_of(text)); });
}

/// A member of the list that begins a challenge, and is no further parameter of the one before:
/// `name = value` may have blanks around its sign.
bool begins_challenge(std::string_view member) {
    const auto scheme = scheme_of(member);
    return is_token(scheme) && !trim(member.substr(scheme.size())).starts_with('=');
}

}  // namespace

bool logs_connection_in(Fields request) {
    return std::ranges::any_of(request, [](const Field& line) {
        return line.id == field::authorization && is_of_connections(trim(line.value));
    });
}

bool offers_connection_login(unsigned status, Fields response) {
    if (status != 401) return false;
    FieldMembers challenges(response, field::www_authenticate);
    while (const auto member = challenges.next())
        if (begins_challenge(*member) && is_of_connections(*member)) return true;
    return false;
}

std::string challenges_for_requests(std::string_view value) {
    std::string kept;
    auto drops = false;
    ListMembers members(value);
    while (const auto member = members.next()) {
        if (begins_challenge(*member)) drops = is_of_connections(*member);
        if (!drops) kept.append(kept.empty() ? "" : ", ").append(*member);
    }
    return kept;
}

}  // namespace proxy
