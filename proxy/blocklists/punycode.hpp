#pragma once

#include <string>
#include <string_view>

namespace proxy {

/// Appends the ASCII form of a host name's label (RFC 3492, `xn--` of RFC 5890) to `out`: of a
/// label in UTF-8. Capital letters of Latin-1, Greek and Cyrillic become small ones first; other
/// letters stay as they are, without the mappings of UTS 46. False for other bytes than UTF-8, and
/// for a label of more than 63 bytes; then `out` has a part of it.
bool append_ascii_label(std::string& out, std::string_view label);

}  // namespace proxy
