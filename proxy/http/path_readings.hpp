#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace proxy {

// Origins read one path in different ways. Rules, blocklists and `origins[].path` are compared with
// every reading, so that no spelling of a path evades them. The list of readings stands here alone:
//
// - the normal form of RFC 3986 §6.2.2: path_for_rules()
// - `%2F` is a slash, as in programs that decode the path before they split it
// - `\` and `%5C` are slashes, as on Windows
// - escapes are decoded twice (`%252F`), as behind a proxy that decodes once
// - parameters do not count (`/a;x/b`, `/..;x/`), as in servlet containers
// - an escaped `?` or `#` ends the path, as where decoded paths are parsed again
// - dot segments are resolved before runs of `/` become one, or afterwards
//
// They combine in any order. Letter case is no reading: `/A` and `/a` are two paths. Functions; any
// thread.

/// True for a path in its normal form that all origins read alike: it has no escape, no parameter,
/// no byte beyond those of RFC 3986 §3.3, and neither `/` nor `.` behind a slash. One table look-up
/// per byte. A query is not expected.
bool has_one_reading(std::string_view path);

/// The form of a path in which rules compare it: without the query, escapes of bytes that may stand
/// in a segment decoded, other bytes escaped in capitals, dot segments resolved, and runs of `/` as
/// one. `scratch` may hold the result.
std::string_view path_for_rules(std::string_view path_and_query, std::string& scratch);

/// All readings of a path, each in a form that compares as path_for_rules() does.
struct PathReadings {
    explicit PathReadings(std::string_view path_and_query);

    std::vector<std::string> forms;  // all different; that of path_for_rules() stands first
    /// False: the path has more readings than a node may spend its time on, and nobody knows what
    /// the others are.
    bool complete = true;
};

}  // namespace proxy
