#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base {

// Base64 with padding (RFC 4648 §4), by OpenSSL. Plain functions; any thread.

std::string to_base64(std::string_view bytes);

/// The bytes of a whole text, without white space; none for anything else.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace base
