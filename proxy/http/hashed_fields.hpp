#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/tls/crypto.hpp"
#include "proxy/http/fields.hpp"

namespace proxy {

// Client request fields in a peer request. A field may be a credential, which a peer shall not
// learn even over an encrypted link, so most fields travel as names, and those that select a
// variant with a keyed hash of their value. Format and example: protocol/FORMAT.md, Peer requests.

/// Maximum length of kFieldsField. A request that needs more asks no peer.
inline constexpr std::size_t kMaxHashedFieldsBytes = 8 * 1024;

/// Whether a peer request carries the value of this field, in lower case, as it is. That holds
/// for fields that negotiate content and identify no user.
bool sent_in_clear(std::string_view name);
bool sent_in_clear(const Field& line);

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

/// The value of kFieldsField for these end-to-end fields, whose names are tokens: the names of all
/// fields outside sent_in_clear(), and the hashes of those among `selecting`, a list of names in
/// lower case. Empty if there are none; nullopt if it is too long.
std::optional<std::string> hashed_fields(Fields request, std::string_view selecting,
                                         const FieldHasher& hasher);

/// A received kFieldsField. Views the head. One thread at a time.
class HashedFields {
public:
    HashedFields(std::string_view text, const FieldHasher& hasher);

    /// Whether the client sent this field with this value, or left it out if `value` is empty.
    /// `unknown`: it sent the field, and the hash lacks; unknown_names() has the name from now on.
    /// A malformed text gives `no` for all fields.
    enum class Match : std::uint8_t { no, yes, unknown };
    Match match(std::string_view name, std::optional<std::string_view> value);
    /// Joined by commas.
    const std::string& unknown_names() const { return unknown_names_; }
    /// The credentials that the client sent: credential_fields() as a number in digits. A malformed
    /// text has none that a stored response could be for.
    std::string credentials() const;

private:
    std::vector<std::pair<std::string_view, std::string_view>> hashes_;  // empty: a name alone
    std::string unknown_names_;
    FieldHasher hasher_;
    bool usable_ = true;
};

}  // namespace proxy
