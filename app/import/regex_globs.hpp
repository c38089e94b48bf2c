#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace app {

/// Globs (`*`: any bytes) in place of a regular expression.
struct RegexGlobs {
    std::vector<std::string> globs;  // each covers the whole text
    bool narrower = false;           // the expression may match more than the globs: a bare dot
    bool wider = false;              // the globs may match more: `.+`
};

/// Translates literals, escaped punctuation, `.*`, `.+`, groups of alternatives, small classes,
/// `?`, and the anchors. A bare dot counts as the dot itself. Nothing for other constructs, and for
/// more than 64 globs.
std::optional<RegexGlobs> globs_of_regex(std::string_view regex);

/// A glob over whole URLs, as a host and a path. An empty part stands for all.
struct UrlGlob {
    std::string host, path;
};
/// Nothing if the glob speaks of the query, of another scheme, or of a path that rules never see.
/// The result matches less than `glob` where that is unclear between host and path; a glob for the
/// end of the URL becomes one for the end of the path.
std::optional<UrlGlob> split_url_glob(std::string_view glob);

/// True if a rule can have this path.
bool is_rule_path(std::string_view glob);

}  // namespace app
