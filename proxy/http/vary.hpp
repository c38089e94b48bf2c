#pragma once

#include "proxy/http/fields.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace proxy {

inline constexpr std::size_t kMaxVaryNames = 32;

/// What vary_names() answers for a response that matches no request without validation.
inline constexpr std::string_view kVaryAny = "*";

/// In what append_variant() writes: a field that is not there, the end of each value, and what
/// stands between the members of a list whose order counts. Of these no field value has any.
inline constexpr char kEndOfValue = '\n';
inline constexpr char kAbsentValue = '\x01';
inline constexpr char kThen = '\x02';

/// The names in Vary over all its lines: lower case, sorted, each once, joined by commas. Empty:
/// the response does not vary. kVaryAny: `*` stands anywhere among them, a member is no field name,
/// or there are more than kMaxVaryNames. Source: RFC 9111 §4.1.
std::string vary_names(Fields response);

/// Appends the request's values of the fields in `names` (as vary_names() wrote them): two requests
/// select the same variant exactly when this text is equal. Absent differs from empty. Lines of one
/// field are joined, white space around commas does not count; for Accept-Encoding and
/// Accept-Language letter case and ways to write a weight do not either, and for Accept-Encoding
/// alone order does not: any coding that a client takes is as good, but of two languages of equal
/// weight many origins give the first.
///
/// kThen was a comma when the order of languages did not count. So a text that was written then, on
/// a disk, answers no request any more that names several.
void append_variant(std::string& out, std::string_view names, Fields request);

}  // namespace proxy
