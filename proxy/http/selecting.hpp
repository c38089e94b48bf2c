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

/// Which of the responses stored for one target answer a request. What the request selects by is
/// worked out once for those that vary by the same fields.
class VariantMatcher {
public:
    /// `scratch` is overwritten; both must outlive this.
    VariantMatcher(const Selecting& request, std::string& scratch)
        : request_(request), scratch_(scratch) {}

    /// Does a response stored under `names` and `variant` (from append_variant(), vary.hpp) answer
    /// the request? False for kVaryAny. `names` must outlive this.
    bool operator()(std::string_view names, std::string_view variant);

private:
    const Selecting& request_;
    std::string& scratch_;    // the request's values of `names_`
    std::string_view names_;  // empty: of none
};

/// The same for one response.
bool variant_matches(std::string_view names, std::string_view variant, const Selecting& request,
                     std::string& scratch);

}  // namespace proxy
