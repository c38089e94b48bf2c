#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>
#include <string_view>
#include <type_traits>

namespace base {

/// A value or an error. Expected trouble travels as a value, never as an exception.
template <typename T>
using Result = boost::system::result<T>;

/// The reasons that end a wait, a look-up or an attempt to connect, one code for each case that a
/// log should distinguish.
enum class Error {
    timed_out = 1,    // a wait with no better name
    resolve_timeout,  // the name server did not answer in time
    resolve_failed,   // the name has no address
    resolver_busy,    // too many names are being looked up at once
    connect_timeout,  // no endpoint took the connection in time
    last = connect_timeout,
};

const boost::system::error_category& error_category() noexcept;

/// Short snake_case name, for status and metrics; `Error::timed_out` -> "timed_out".
std::string_view name(Error error) noexcept;

inline boost::system::error_code make_error_code(Error error) noexcept {
    return {static_cast<int>(error), error_category()};
}

}  // namespace base

template <>
struct boost::system::is_error_code_enum<base::Error> : std::true_type {};
