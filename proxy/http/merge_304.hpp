#pragma once

#include "proxy/http/fields.hpp"
#include "proxy/http/validators.hpp"

#include <vector>

namespace proxy {

/// Whether this 304 confirms the stored response (RFC 9111 §4.3.4). Its ETag or date has to be the
/// stored one; a 304 without either confirms the validation that was sent. Tags compare weakly, as
/// in the validation: an origin that compresses on the fly sends a weak tag with the 200 and may
/// name the strong one in its 304. The mark of a content coding may also differ, because a
/// validation names only one tag.
bool applies_to(Fields not_modified, const Validators& stored);

/// Whether both heads name the same content codings in the same order. `identity` counts as none.
bool same_coding(Fields a, Fields b);

/// The stored response's fields after a 304 (RFC 9111 §3.2). Each field of the 304 replaces the
/// stored lines of its name, other lines stay in place, and new ones follow. The result leaves out
/// Content-Length and hop-by-hop fields of the 304, and fields that contradict the stored bytes: a
/// tag that differs from the stored one only in its weakness or the mark of a content coding, and
/// another Content-Encoding, if one of the two is a coding that clients undo. The stored Age is
/// dropped, and the Age of the 304 stays for freshness_of(). The caller first adds a Date to a 304
/// without one (RFC 9110 §6.6.1). Views into both.
std::vector<Field> merge_304(Fields stored, Fields not_modified);

}  // namespace proxy
