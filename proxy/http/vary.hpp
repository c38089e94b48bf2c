#pragma once

#include "proxy/http/fields.hpp"

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace proxy {

inline constexpr std::size_t kMaxVaryNames = 32;

/// What vary_names() answers for a response that matches no request without validation.
inline constexpr std::string_view kVaryAny = "*";

/// The names in Vary over all its lines: lower case, sorted, each once, joined by commas. Empty:
/// the response does not vary. kVaryAny: `*` stands anywhere among them, a member is no field name,
/// or there are more than kMaxVaryNames. Source: RFC 9111 §4.1.
std::string vary_names(Fields response);

/// Appends the request's values of the fields in `names` (as vary_names() wrote them): two requests
/// select the same variant exactly when this text is equal. Absent differs from empty. Lines of one
/// field are joined, white space around commas does not count; for Accept-Encoding and
/// Accept-Language letter case, order and ways to write a weight do not either.
void append_variant(std::string& out, std::string_view names, Fields request);

class HashedFields;

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

/// Does a response stored under `names` and `variant` (from append_variant()) answer this request?
/// False for kVaryAny. `scratch` is overwritten.
bool variant_matches(std::string_view names, std::string_view variant, const Selecting& request,
                     std::string& scratch);

}  // namespace proxy
