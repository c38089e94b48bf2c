#pragma once

#include <string>
#include <string_view>

namespace proxy {

/// A host name in the form of the lookup: in lower case and without a final dot. Returns an empty
/// string for a name with a zero byte, or with more than 255 bytes.
std::string plain_server_name(std::string_view name);

/// The host name in the extension `server_name` of a ClientHello (RFC 6066 §3), in the form
/// of plain_server_name(). `extension`: its content, any bytes. Returns an empty string if it is
/// malformed or has no host name.
std::string server_name(std::string_view extension);

}  // namespace proxy
