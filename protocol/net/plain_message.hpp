#pragma once

#include <exception>
#include <string>

namespace protocol {

/// What an exception says to a user. Boost's append to it the number of the error and the place in
/// a header where it was thrown, which tell nothing to who only runs the program.
std::string plain_message(const std::exception& error);

}  // namespace protocol
