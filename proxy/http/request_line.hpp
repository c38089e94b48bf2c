#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace proxy {

/// Bytes of a refused request line in a log.
inline constexpr std::size_t kShownRequestLine = 1024;

/// The request line of a refused request that the parser has not read, for a log.
struct ShownRequestLine {
    std::string_view method;  // empty if the line begins without one (RFC 9110 §9.1)
    std::string_view target;  // without the version; the whole line if it lacks a method
};

/// Splits the first line of `bytes`, up to its end or the limit. Views point into `bytes`. A writer
/// has to escape them, because they may hold any byte.
ShownRequestLine shown_request_line(std::string_view bytes);

/// A refused target for a log: a user and password in its authority are left out. The result is
/// `target`, or the content of `scratch`.
std::string_view without_userinfo(std::string_view target, std::string& scratch);

}  // namespace proxy
