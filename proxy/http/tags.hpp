#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"
#include "summary/key_hash.hpp"

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

/// For sorting.
bool precedes(const summary::KeyHash& a, const summary::KeyHash& b);

}  // namespace proxy
