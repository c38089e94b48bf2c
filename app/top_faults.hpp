#pragma once

#include <string>
#include <string_view>

#include "app/top_data.hpp"

namespace app {

/// The reason of a refused link in a few words ("keys differ"), or the reason itself.
std::string_view reason_words(std::string_view reason);

/// Adds the knowledge of /api/v1/status: the reasons of the links of the asked node, and the worst
/// fault that it has, in `into.fault`. Ignores anything else. The dashboard judges alike
/// (problems.js), and tells every fault with a remedy.
void read_top_status(std::string_view json, TopData& into);

}  // namespace app
