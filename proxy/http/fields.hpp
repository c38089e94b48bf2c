#pragma once

#include <boost/beast/http/field.hpp>
#include <span>
#include <string_view>

namespace proxy {

/// One field line as received: its well-known id (or `unknown`), and views of name and value
/// without the white space around the value. The parser of the head owns the bytes.
struct Field {
    boost::beast::http::field id = boost::beast::http::field::unknown;
    std::string_view name;
    std::string_view value;
};

/// All field lines of a head, in the order received and with duplicates.
using Fields = std::span<const Field>;

}  // namespace proxy
