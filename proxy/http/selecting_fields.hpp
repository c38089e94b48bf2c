#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/hashed_fields.hpp"

namespace proxy {

/// The request fields by which a stored variant is selected (RFC 9111 §4.1).
struct SelectingFields {
    SelectingFields() = default;
    template <class List>
    requires std::convertible_to<const List&, Fields> SelectingFields(const List& request)
        : fields(request) {}

    Fields fields;
    /// Set for a peer request, which has the values of a few fields only. Other fields compare by
    /// these hashes.
    HashedFields* hashed = nullptr;
};

/// Selects the responses stored for one target that answer a request. Responses that vary by the
/// same fields share one computation of the request's values.
class VariantMatcher {
public:
    /// Overwrites `scratch`. Both arguments outlive this object.
    VariantMatcher(const SelectingFields& request, std::string& scratch)
        : request_(request), scratch_(scratch) {}

    /// Whether a response stored under `names` and `variant` (from append_variant(), vary.hpp)
    /// answers the request. False for kVaryAny. `names` outlives this object.
    bool operator()(std::string_view names, std::string_view variant);

private:
    const SelectingFields& request_;
    std::string& scratch_;    // the request's values of `names_`
    std::string_view names_;  // empty: scratch_ has no values
};

/// The same for one response.
bool variant_matches(std::string_view names, std::string_view variant,
                     const SelectingFields& request, std::string& scratch);

}  // namespace proxy
