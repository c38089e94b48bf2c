#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/hashed_fields.hpp"

namespace proxy {

/// What a request selects a variant by.
struct Selecting {
    Selecting() = default;
    template <class List>
    requires std::convertible_to<const List&, Fields> Selecting(const List& request)
        : fields(request) {}

    Fields fields;
    /// Set for a peer's question: all but those that go in the clear count by their hashes, and
    /// `fields` says nothing of them.
    HashedFields* hashed = nullptr;
};

/// Does a response stored under `names` and `variant` (from append_variant(), vary.hpp) answer this
/// request? False for kVaryAny. `scratch` is overwritten.
bool variant_matches(std::string_view names, std::string_view variant, const Selecting& request,
                     std::string& scratch);

}  // namespace proxy
