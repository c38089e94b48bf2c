#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/storage/stored_response.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The version of a body that its blocks are parts of. A strong tag should identify it (RFC 9110
/// §8.8.3), but origins give one tag to several representations, so `form` adds to it.
struct BodyVersion {
    std::string etag;  // strong
    /// Stands for everything else that the bytes may depend on: the length of the body, its coding
    /// and language, the server of a group, and the request, if the body varies by more than
    /// content negotiation, or by a language that it does not name. It is the hash under the
    /// cluster's secret, in kFormDigits lower-case hex digits, so it keeps these properties secret.
    std::string form;
    /// The mark of the server in a group that gave it, which is a part of `form`; 0: of no group.
    /// Only that server is asked for more of the body.
    std::uint32_t server = 0;
    std::string source = {};  // source_of() of redirects.hpp; part of `form`, too
    bool by_client = false;   // varies_by_client(); part of `form`, too

    bool operator==(const BodyVersion&) const = default;
};
inline constexpr std::size_t kFormDigits = 16;

/// Requests select the response by more than content negotiation. `vary_names`: as vary_names()
/// writes them.
bool varies_by_client(std::string_view vary_names);

/// `length` is that of the complete body of `response`.
BodyVersion version_of(const StoredMetadata& response, std::uint64_t length,
                       const summary::KeyHasher& hasher);

}  // namespace proxy
