#pragma once

#include "proxy/http/fields.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace proxy {

inline constexpr std::size_t kMaxVaryNames = 32;

/// The vary_names() of a response that needs a validation for each request.
inline constexpr std::string_view kVaryAny = "*";

/// Bytes that append_variant() writes for an absent field, for the end of a value, and between the
/// members of a list with an order. Field values have none of these bytes.
inline constexpr char kEndOfValue = '\n';
inline constexpr char kAbsentValue = '\x01';
inline constexpr char kThen = '\x02';

/// The names in Vary over all its lines: lower case, sorted, without duplicates, joined by commas.
/// Empty for a response without Vary. kVaryAny for a list with `*`, with a member that is no field
/// name, or with more than kMaxVaryNames names. Source: RFC 9111 §4.1.
std::string vary_names(Fields response);

/// A name with this before it is a field of the key by a rule (StoringRule::key_fields). Order,
/// letter case and default weights of Accept, Accept-Charset and Accept-Encoding do not count in
/// it.
inline constexpr char kKeyFieldMark = '=';
/// A name that stands for the set of credentials in a request (credentials.hpp), whatever their
/// values.
inline constexpr std::string_view kCredentialNames = ":credentials";

/// The names by which a response is selected: `vary`, from vary_names(), and a rule's `keys`. A
/// field that both name counts as a field of the key. kVaryAny stays.
std::string selecting_names(std::string_view vary, std::span<const std::string> keys);
/// Appends a name that is not there yet.
void add_name(std::string& names, std::string_view name);

/// Appends the request's values of the fields in `names` (from selecting_names(), with additions).
/// Two requests select the same variant exactly if their texts are equal. An absent field differs
/// from an empty one. Lines of one field are joined, without white space around commas.
/// Accept-Encoding and Accept-Language are normalised in letter case and weights. The members of
/// Accept-Encoding are sorted as well, because a client accepts any of them; the order of languages
/// stays, because many origins send the first of two with equal weights.
///
/// Versions that sorted languages wrote a comma for kThen. So their texts on a disk match requests
/// with one language only.
void append_variant(std::string& out, std::string_view names, Fields request);
/// What append_variant() wrote for the field `wanted`, one of `names`; empty if that was absent, or
/// is none of them.
std::string_view value_in_variant(std::string_view variant, std::string_view names,
                                  std::string_view wanted);

}  // namespace proxy
