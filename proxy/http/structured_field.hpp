#pragma once

#include "proxy/http/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace proxy {

// Structured field values, RFC 9651 (and 8941): lists and dictionaries with parameters. The parser
// is strict, as the RFC requires: one bad byte on any line makes the whole field count as absent.
// It refuses display strings, because our fields have none. All results are views into the fields.

enum class SfType : std::uint8_t {
    boolean,
    integer,
    decimal,
    date,
    string,
    token,
    bytes,
    inner_list,  // of members only
};

struct SfValue {
    SfType type = SfType::boolean;
    std::int64_t number = 1;  // integer; boolean 0 or 1; date in seconds; decimal in thousandths
    std::string_view text;  // token; string between its quotes, escapes in place; bytes in base64;
                            // checked inner list between its parentheses
};

/// One member of a list or dictionary.
struct SfMember {
    std::string_view key;  // of a dictionary, else empty
    SfValue value;
    std::string_view parameters;  // as written, for SfParameters
};
using SfMembers = std::vector<SfMember>;

/// The minimum for a parser (RFC 9651 §3.1, §3.2). A field with more members is malformed.
inline constexpr std::size_t kMaxSfMembers = 1024;

/// Parses all lines of the field `name`. Returns nullopt for an absent or malformed field, and no
/// members for an empty one. A member has to end on its line. A dictionary keeps repeated keys;
/// find() takes the last one.
std::optional<SfMembers> sf_list(Fields fields, std::string_view name);
std::optional<SfMembers> sf_dictionary(Fields fields, std::string_view name);

/// The last member of a dictionary with this key, or null.
const SfMember* find(const SfMembers& dictionary, std::string_view key);

struct SfParameter {
    std::string_view key;
    SfValue value;
};

/// Walks the parameters of a member, in order. The last of equal keys counts.
class SfParameters {
public:
    explicit SfParameters(const SfMember& member) : rest_(member.parameters) {}
    std::optional<SfParameter> next();

private:
    std::string_view rest_;
};

}  // namespace proxy
