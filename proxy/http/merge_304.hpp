#pragma once

#include "proxy/http/fields.hpp"
#include "proxy/http/validators.hpp"

#include <vector>

namespace proxy {

/// Does this 304 speak of the stored response (RFC 9111 §4.3.4)? A tag or date that it carries must
/// be the stored one; a 304 without either is taken to answer the validation that was sent. Tags
/// compare weakly, as in the validation: an origin that compresses on the fly sends a weak tag with
/// the 200 and may name the strong one in its 304. For the same reason a tag may have lost the mark
/// of a content coding, or got one: a validation asks about one tag alone, so there is no other
/// that the origin could mean.
bool applies_to(Fields not_modified, const Validators& stored);

/// Do both heads name the same content codings, in the same order? `identity` is none.
bool same_coding(Fields a, Fields b);

/// The stored response's fields after a 304 (RFC 9111 §3.2): every field that the 304 carries
/// replaces the stored lines of that name, the others stay in place, new ones follow.
/// Content-Length and hop-by-hop fields of the 304 are ignored, and so is what would contradict the
/// stored bytes: a tag that equals the stored one but for its weakness or the mark of a content
/// coding, as the stored one was given to these bytes, and another Content-Encoding, if one of the
/// two is a coding that clients undo. An Age of the stored response is dropped, as it belongs to
/// the exchange it came with; that of the 304 stays, for freshness_of(). A 304 without Date must be
/// given one by the caller first (RFC 9110 §6.6.1). Views into both.
std::vector<Field> merge_304(Fields stored, Fields not_modified);

}  // namespace proxy
