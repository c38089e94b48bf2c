#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy {

struct StoringRule;

// Request fields by which a client proves who it is: Authorization, and the fields in which common
// services take a key or token in its place. Cookies are no part of them. Functions; any thread.

/// A set of these fields, one bit each. Stored variants have such numbers, so a bit keeps its
/// meaning for ever.
using CredentialFields = std::uint32_t;

/// The bit of a field; 0: it is none of them. A name is in lower case or as received.
CredentialFields credential_field(std::string_view name);
CredentialFields credential_field(const Field& line);
CredentialFields credential_fields(Fields request);

/// The request has a credential, and the response to it may be for its client alone. A field does
/// not count if each of its values has a response of its own: one of the rule's `key_fields`, or in
/// `vary`, from vary_names(). Authorization in Vary counts (RFC 9111 §3.5). `rule`: null: none.
bool has_credential(Fields request, const StoringRule* rule, std::string_view vary = {});

/// A field of this name, in any letter case, may hold a secret, because the name has a word such as
/// `key` or `token`. For fields that a rule sets: the wrong server must not read a secret, so this
/// set is wider than that of credential_field(). A field that is in it by mistake is left out of
/// some requests, and decides about the storing of none.
bool may_be_credential(std::string_view name);

/// Statuses that refuse the credentials of the request, or ask for some (RFC 9110 §15.5.2,
/// §15.5.4).
constexpr bool is_refusal(unsigned status) {
    return status == 401 || status == 403;
}

}  // namespace proxy
