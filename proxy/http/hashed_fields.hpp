#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tls/crypto.hpp"
#include "proxy/http/fields.hpp"

namespace proxy {

// Client request fields in a peer request. A field may be a credential, which a peer shall not
// learn even over an encrypted link, so most values travel as keyed hashes. Format and example:
// protocol/FORMAT.md, Peer requests.

/// Maximum length of kFieldsField. A request that needs more asks no peer.
inline constexpr std::size_t kMaxHashedFieldsBytes = 8 * 1024;

/// Whether a peer request carries the value of this field, in lower case, as it is. That holds
/// for fields that negotiate content and identify no user.
bool sent_in_clear(std::string_view name);

/// Hashes field values of requests for one URI, which must outlive it. Any thread. Throws
/// std::bad_alloc if OpenSSL has no memory.
class FieldHasher {
public:
    FieldHasher(const base::SipKey& key, std::string_view uri) : key_(key), uri_(uri) {}
    /// 32 lower-case hex digits; `name` in lower case, `value` as append_variant() writes it,
    /// without its end.
    std::string operator()(std::string_view name, std::string_view value) const;

private:
    base::SipKey key_;
    std::string_view uri_;
};

/// The value of kFieldsField for these end-to-end fields, whose names are tokens: names and hashes
/// of all fields outside sent_in_clear(). Empty if there are none; nullopt if it is too long.
std::optional<std::string> hashed_fields(Fields request, const FieldHasher& hasher);

/// A received kFieldsField. Views the head. One thread at a time.
class HashedFields {
public:
    HashedFields(std::string_view text, const FieldHasher& hasher);

    /// Whether the client sent this field with this value, or left it out if `value` is empty. A
    /// malformed text gives false for all fields.
    bool matches(std::string_view name, std::optional<std::string_view> value);
    /// The credentials that the client sent: credential_fields() as a number in digits. A malformed
    /// text has none that a stored response could be for.
    std::string credentials() const;

private:
    std::vector<std::pair<std::string_view, std::string_view>> hashes_;
    FieldHasher hasher_;
    bool usable_ = true;
};

}  // namespace proxy
