#pragma once

#include "proxy/http/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace proxy {

/// Structured field values, RFC 9651 (and 8941): lists, dictionaries and items with parameters. The
/// parser is strict, as the format asks for: one bad byte anywhere, on any of several lines, and
/// the field is as if it were absent. Display strings, which no field of ours uses, are bad too.
/// Everything found is a view into the fields.

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
                            // inner list between its parentheses, which was checked as well
};

/// One member of a list or dictionary, or an item.
struct SfMember {
    std::string_view key;  // of a dictionary, else empty
    SfValue value;
    std::string_view parameters;  // as written, for SfParameters
};
using SfMembers = std::vector<SfMember>;

/// The least that a parser must take (RFC 9651 §3.1, §3.2); a field with more is malformed.
inline constexpr std::size_t kMaxSfMembers = 1024;

/// All lines of the field `name` together. None when the field is absent or malformed; no members
/// when it is empty. A member must end on its line. A dictionary keeps repeated keys, of which the
/// last counts: see find().
std::optional<SfMembers> sf_list(Fields fields, std::string_view name);
std::optional<SfMembers> sf_dictionary(Fields fields, std::string_view name);
std::optional<SfMember> sf_item(std::string_view value);

/// The last member of a dictionary with this key, or null.
const SfMember* find(const SfMembers& dictionary, std::string_view key);

struct SfParameter {
    std::string_view key;
    SfValue value;
};

/// Walks the parameters of a member, in order. Of equal keys the last counts.
class SfParameters {
public:
    explicit SfParameters(const SfMember& member) : rest_(member.parameters) {}
    std::optional<SfParameter> next();

private:
    std::string_view rest_;
};

}  // namespace proxy
