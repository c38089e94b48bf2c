#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/hashed_fields.hpp"

namespace proxy {

/// The request fields by which a stored variant is selected (RFC 9111 §4.1).
struct Selecting {
    Selecting() = default;
    template <class List>
    requires std::convertible_to<const List&, Fields> Selecting(const List& request)
        : fields(request) {}

    Fields fields;
    /// Set for a peer's question, which has the values of a few fields only. All others are
    /// compared by the hashes in here.
    HashedFields* hashed = nullptr;
};

/// Does a response stored under `names` and `variant` (from append_variant(), vary.hpp) answer this
/// request? False for kVaryAny. `scratch` is overwritten.
bool variant_matches(std::string_view names, std::string_view variant, const Selecting& request,
                     std::string& scratch);

}  // namespace proxy
