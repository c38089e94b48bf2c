#pragma once

#include "proxy/http/fields.hpp"
#include "proxy/http/http_date.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// An entity tag, RFC 9110 §8.8.3. `opaque` keeps its quotes.
struct EntityTag {
    bool weak = false;
    std::string_view opaque;
};
std::optional<EntityTag> parse_entity_tag(std::string_view text);
bool weak_match(const EntityTag& a, const EntityTag& b);
bool strong_match(const EntityTag& a, const EntityTag& b);
/// Does one of two tags name the other with a content coding: `"x"` and `"x-gzip"`? Servers that
/// compress on the fly mark the tag of what they have compressed so, and leave that out of the 304
/// that answers a question for the marked tag (Apache's mod_deflate and mod_brotli, Jetty).
bool same_but_for_coding(const EntityTag& a, const EntityTag& b);

/// The validators of a stored response, as received; views into its fields, empty when absent.
struct Validators {
    std::string_view etag, last_modified, date;

    bool any() const { return !etag.empty() || !last_modified.empty(); }
    /// A strong tag: parts of two such responses may be combined (RFC 9110 §8.8.3.2).
    bool strong() const;
};

/// A malformed date counts as absent, and so does a field that came twice with different values. A
/// tag without quotes is kept and compared byte for byte, as its origin will recognise it.
Validators validators_of(Fields response);
/// validators_of(response).any(), without reading dates that do not matter for it.
bool has_validator(Fields response);

/// Has the request a condition that a cache answers: If-None-Match or If-Modified-Since?
bool is_conditional(Fields request);

/// Fields that make a request conditional or partial; left out when the whole response is fetched
/// for the store.
bool is_condition_or_range(const Field& field);

/// For a stored response that is about to be served to GET or HEAD: is 304 the answer instead (RFC
/// 9111 §4.3.2)? Only for a stored status 200. If-None-Match compares weakly and, when present,
/// alone counts. Without Last-Modified the Date stands in for it.
bool answers_not_modified(Fields request, unsigned stored_status, const Validators& stored,
                          WallTime now);

/// Appends the field lines that validate a stored response, tag and date verbatim (RFC 9111
/// §4.3.1). Each line ends in CRLF. Appends nothing without a validator.
void append_validation(std::string& out, const Validators& stored);

/// Does this field of the stored 200 belong in a 304 made from it (RFC 9110 §15.4.5)? All but the
/// metadata of the body that is not sent; Last-Modified only where there is no tag.
bool belongs_in_304(const Field& field, bool has_etag);

}  // namespace proxy
