#pragma once

#include <string>

namespace app {

/// The version of the program with the facts about its build: type and sanitizers, compiler, and
/// the commit if it was built from a repository, as `0.1.0 (Release, Clang 16.0.6, commit
/// 0c158d3)`.
std::string version_text();

}  // namespace app
