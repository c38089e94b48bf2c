#pragma once

#include <string>

#include "proxy/storage/stored_response.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// Which body the blocks of a target are parts of. A strong tag should tell (RFC 9110 §8.8.3), but
/// origins give one to several representations, so it is not taken at its word.
struct BodyVersion {
    std::string etag;  // strong
    /// Stands for what else the bytes may depend on: the whole's length, its coding and language,
    /// and, where it varies by more than content negotiation, for whom it is. kFormDigits
    /// lower-case hex digits of a hash under the cluster's secret, so it tells nobody else.
    std::string form;

    bool operator==(const BodyVersion&) const = default;
};
inline constexpr std::size_t kFormDigits = 16;

/// `length`: of the whole body of `response`.
BodyVersion version_of(const StoredMetadata& response, std::uint64_t length,
                       const summary::KeyHasher& hasher);

}  // namespace proxy
