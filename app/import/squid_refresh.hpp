#pragma once

#include <vector>

#include "app/import/draft.hpp"

namespace app {

/// Turns the lines of `refresh_pattern` into rules, and the last one, for every URL, into
/// cache.heuristic. A pattern that became no rule leaves its URLs to later lines. Later rules get
/// no `ignore` and no `share_authorized` then, unless that pattern had them.
void import_refresh_patterns(const std::vector<const Directive*>& lines, ImportDraft& draft);

}  // namespace app
