#pragma once

#include <exception>
#include <string>

namespace base {

/// The message of an exception for a user. Boost's messages also contain the error number and the
/// place of the throw in a header, which only help a developer.
std::string plain_message(const std::exception& error);

}  // namespace base
