#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"
#include "summary/sizing/key_hash.hpp"
#include "summary/sizing/prefix_tag.hpp"

namespace proxy {

struct Rule;

// Tags: labels by which one purge ends many responses. Surrogate-Key lists tags of the whole
// cluster, separated by spaces; Cache-Groups lists strings that are valid for the response's origin
// (RFC 9875). The store keeps hashes of texts that differ from all cache keys; protocol/FORMAT.md
// specifies the texts.

inline constexpr std::size_t kMaxTags = 1024;  // of one response, both kinds together

/// The tags of a response, sorted, without duplicates. `origin` as in a cache key:
/// http://host[:port]. Returns nullopt for more than kMaxTags, because a purge could miss the
/// response.
std::optional<std::vector<summary::KeyHash>> tags_of(Fields response, std::string_view origin,
                                                     const summary::KeyHasher& hasher);

/// The groups in Cache-Group-Invalidation, at most kMaxTags.
std::vector<summary::KeyHash> invalidated_groups(Fields response, std::string_view origin,
                                                 const summary::KeyHasher& hasher);

/// A tag of Surrogate-Key.
summary::KeyHash surrogate_tag(std::string_view tag, const summary::KeyHasher& hasher);

/// The tag of all responses that the rule of this name judged.
summary::KeyHash rule_tag(std::string_view name, const summary::KeyHasher& hasher);

/// Adds the tag of `rule`, and those that it lists, to the sorted `tags`. False: too many.
bool add_rule_tags(std::vector<summary::KeyHash>& tags, const Rule& rule,
                   const summary::KeyHasher& hasher);

/// Slashes of a path at which a prefix may end; later ones are not looked at.
inline constexpr std::size_t kMaxUriPrefixes = 64;

/// The prefixes of a cache key that end with a slash of its path: `http://h/`, `http://h/a/`. The
/// key may be that of a block, which begins with the key of its target.
std::vector<std::string_view> prefixes_of(std::string_view uri);

/// The tag of all keys with this prefix. Responses do not have it among their tags: it is computed
/// where a purge by prefix is known. `hash`: of a text, by the hasher of keys.
template <class Hash>
summary::KeyHash prefix_tag(std::string_view prefix, const Hash& hash) {
    return summary::as_prefix_tag(hash(std::string("prefix ").append(prefix)));
}
template <class Hash>
std::vector<summary::KeyHash> prefix_tags_of(std::string_view uri, const Hash& hash) {
    std::vector<summary::KeyHash> tags;
    for (const auto prefix : prefixes_of(uri)) tags.push_back(prefix_tag(prefix, hash));
    return tags;
}

/// For sorting.
bool precedes(const summary::KeyHash& a, const summary::KeyHash& b);

}  // namespace proxy
