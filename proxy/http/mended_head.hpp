#pragma once

#include <string>

#include "proxy/http/message_parser.hpp"

namespace proxy {

/// Corrects common deviations from the grammar in the head of an origin's response, if they have
/// only one meaning:
///   - lines that end in LF alone (RFC 9112 §2.2): find_head_end() takes every LF as the end of a
///     line, so the end of the head stays the same;
///   - a status line without the space after the status (§4);
///   - minor versions above 1, which count as 1 (§2.3);
///   - space between a field's name and its colon (§5.1), which a proxy has to remove;
///   - control characters in values, each of which becomes a space (RFC 9110 §5.5). NUL and CR
///     stay, and the parser refuses them;
///   - `chunked` several times and nothing else in Transfer-Encoding, which counts once: frameworks
///     and the servers around them both add it, and nobody encodes a body twice (§6.1).
/// Returns `bad_framing` for such a space after Content-Length or Transfer-Encoding, and for a
/// control character in their values: some recipients obey that line and others skip it, so they
/// disagree about the end of the body. The parser refuses all other faults.
///
/// `head` is one whole head, and stays as it is without such a deviation. Heads of requests stay
/// uncorrected, because a proxy before this node may have read them in another way.
ParseError mend_response_head(std::string& head);

}  // namespace proxy
