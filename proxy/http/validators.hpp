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
/// Whether the tags differ only in the mark of a content coding, as `"x"` and `"x-gzip"`. Servers
/// that compress on the fly mark the tag of a compressed body, and answer a validation of the
/// marked tag by a 304 with the plain one (Apache's mod_deflate and mod_brotli, Jetty).
bool same_but_for_coding(const EntityTag& a, const EntityTag& b);

/// The validators of a stored response, as received. Views into its fields, empty if absent.
struct Validators {
    std::string_view etag, last_modified, date;

    bool any() const { return !etag.empty() || !last_modified.empty(); }
    /// Whether the tag is strong, so parts of two such responses may be combined (RFC 9110
    /// §8.8.3.2).
    bool strong() const;
};

/// A malformed date counts as absent, and so does a field with two values. A tag without quotes
/// stays and compares byte for byte, because its origin recognises it.
Validators validators_of(Fields response);
/// validators_of(response).any(), without parsing a date if there is a tag.
bool has_validator(Fields response);

/// Whether the request has a condition that a cache answers: If-None-Match or If-Modified-Since.
bool is_conditional(Fields request);

/// Whether the field makes a request conditional or partial. A fetch of the whole response for the
/// store leaves such fields out.
bool is_condition_or_range(const Field& field);

/// Whether 304 is the answer to a GET or HEAD that a stored response with status 200 could answer
/// (RFC 9111 §4.3.2). If-None-Match compares weakly, and If-Modified-Since counts in its absence.
/// Date replaces an absent Last-Modified.
bool answers_not_modified(Fields request, unsigned stored_status, const Validators& stored,
                          WallTime now);

/// Appends the field lines that validate a stored response, tag and date verbatim (RFC 9111
/// §4.3.1). Each line ends in CRLF. Appends nothing without a validator.
void append_validation(std::string& out, const Validators& stored);

/// Whether a field of the stored 200 belongs in its 304 (RFC 9110 §15.4.5). True for all fields but
/// the metadata of the body; Last-Modified belongs there if the response has no tag.
bool belongs_in_304(const Field& field, bool has_etag);

}  // namespace proxy
