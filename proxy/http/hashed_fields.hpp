#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/net/crypto.hpp"
#include "protocol/wire/keys.hpp"
#include "proxy/http/fields.hpp"

namespace proxy {

// What a question to a peer tells of the client's request fields: any of them may be a credential,
// and peers speak in the clear. Format and example: protocol/FORMAT.md, Peer requests.

/// Longer values of kFieldsField are not sent; such a request asks no peer.
inline constexpr std::size_t kMaxHashedFieldsBytes = 8 * 1024;

/// Names, in lower case, whose values a question carries as they are: those that negotiate content
/// and never tell who asks.
bool sent_in_clear(std::string_view name);

/// Stands for the value of one field of a request for one URI. One thread at a time. Throws
/// std::bad_alloc when OpenSSL has no memory.
class FieldHasher {
public:
    FieldHasher(const protocol::FieldKey& key, std::string_view uri) : hmac_(key), uri_(uri) {}
    /// 32 lower-case hex digits; `name` in lower case, `value` as append_variant() writes it,
    /// without its end.
    std::string operator()(std::string_view name, std::string_view value);

private:
    protocol::HmacSha256 hmac_;
    std::string uri_;
};

/// The value of kFieldsField for these end-to-end fields: names and hashes of all but those that go
/// in the clear. Their names are tokens. Empty when there are none; nothing when it would be too
/// long.
std::optional<std::string> hashed_fields(Fields request, FieldHasher hasher);

/// kFieldsField as it was received. Views the head. One thread at a time.
class HashedFields {
public:
    HashedFields(std::string_view text, FieldHasher hasher);

    /// Did the client send this field with this value, or, without one, not at all? Of a malformed
    /// text nothing is known, so the answer is always no.
    bool matches(std::string_view name, std::optional<std::string_view> value);

private:
    std::vector<std::pair<std::string_view, std::string_view>> hashes_;
    FieldHasher hasher_;
    bool usable_ = true;
};

}  // namespace proxy
