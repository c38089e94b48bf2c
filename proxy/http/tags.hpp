#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "proxy/http/fields.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// Names that responses carry so that many can be invalidated at once: Surrogate-Key (separated by
/// blanks, of the whole cluster) and Cache-Groups (RFC 9875: a list of strings, each for the
/// response's origin alone). Kept as hashes of texts that no cache key equals; the texts are part
/// of protocol/FORMAT.md.

inline constexpr std::size_t kMaxTags = 1024;  // of one response, both kinds together

/// `origin` as in a cache key: http://host[:port]. None when there are more than kMaxTags: then a
/// purge could miss the response. Sorted, each once.
std::optional<std::vector<summary::KeyHash>> tags_of(Fields response, std::string_view origin,
                                                     const summary::KeyHasher& hasher);

/// The groups that Cache-Group-Invalidation names, at most kMaxTags.
std::vector<summary::KeyHash> invalidated_groups(Fields response, std::string_view origin,
                                                 const summary::KeyHasher& hasher);

/// A tag of Surrogate-Key.
summary::KeyHash surrogate_tag(std::string_view tag, const summary::KeyHasher& hasher);

/// For sorting.
bool precedes(const summary::KeyHash& a, const summary::KeyHash& b);

}  // namespace proxy
