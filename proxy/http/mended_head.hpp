#pragma once

#include <string>

#include "proxy/http/message_parser.hpp"

namespace proxy {

/// Writes the head of an origin's response as the grammar has it, where what servers send instead
/// is common and has one meaning only. Mended are
///   - lines that end in LF alone (RFC 9112 §2.2): LF ends a line in any case, as find_head_end()
///     has it, so nobody finds another end of the head;
///   - a status line without the blank behind the status (§4);
///   - minor versions above 1, which are read as 1 (§2.3);
///   - blanks between a field's name and its colon (§5.1), which must not be passed on.
/// `bad_framing`: such a blank stands behind Content-Length or Transfer-Encoding. Some recipients
/// overlook that line and others obey it, so where the body ends is not agreed. All else is left to
/// the parser, which refuses what is wrong.
///
/// `head` is one whole head. A head that needs nothing is only read. Requests are never mended:
/// what a client sends may have passed others who understood it otherwise.
ParseError mend_response_head(std::string& head);

}  // namespace proxy
