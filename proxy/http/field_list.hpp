#pragma once

#include "proxy/http/fields.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace proxy {

/// RFC 9110 §5.6.2 token characters.
bool is_token(std::string_view text);

/// Whether the text has an octet below `limit`, which is a space or one more, or DEL.
bool has_control(std::string_view text, unsigned char limit = ' ');

/// Whether a field value has an octet that RFC 9110 §5.5 excludes: CR, LF, NUL, and other controls
/// except HTAB.
bool has_forbidden_octet(std::string_view value);

/// ASCII letters only, as field names, directives and host names compare (RFC 9110 §5.1).
bool iequals(std::string_view a, std::string_view b);
void append_lower(std::string& out, std::string_view text);

/// Whether two field names become one variable in CGI (RFC 3875 §4.1.18) and its descendants: there
/// a hyphen is an underscore, and case is lost.
bool same_variable(std::string_view a, std::string_view b);

/// Removes optional white space (SP and HTAB) from both sides.
std::string_view trim(std::string_view text);

/// First field line with this id, or null.
const Field* find(Fields fields, boost::beast::http::field id);

/// First field line with this name, for names without an id in Beast; or null.
const Field* find(Fields fields, std::string_view name);

/// The value of a field that may appear once. Empty if the field is absent, or has two values.
std::string_view only_value(Fields fields, boost::beast::http::field id);

/// Whether two lines have the same name. Compares ids, or names without an id.
bool same_name(const Field& a, const Field& b);

/// Walks the members of one comma-separated list value (RFC 9110 §5.6.1). It skips empty members
/// and removes white space around members; a comma inside a quoted string belongs to its member.
/// After a quote without an end, quotes are ordinary bytes and commas separate members. Allocates
/// no memory.
class ListMembers {
public:
    explicit ListMembers(std::string_view value) : rest_(value) {}
    std::optional<std::string_view> next();

private:
    std::size_t member_end();

    std::string_view rest_;
    bool quotes_ = true;  // false after a quote without an end
};

/// Whether `name` is a member of the list `names`, in any letter case.
bool has_name(std::string_view names, std::string_view name);

/// Walks the members of a list field over all its lines, in order. Several lines mean the same as
/// one line joined by commas (RFC 9110 §5.3).
class FieldMembers {
public:
    FieldMembers(Fields fields, boost::beast::http::field id) : rest_(fields), id_(id), line_("") {}
    std::optional<std::string_view> next();

private:
    Fields rest_;
    boost::beast::http::field id_;
    ListMembers line_;
};

}  // namespace proxy
