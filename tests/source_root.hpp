#pragma once

#include <filesystem>

namespace tests {

/// The root of the sources, for tests that read a page or an example: the folder above `file`, the
/// test's __FILE__, that has the presets.
inline std::filesystem::path source_root(const char* file) {
    auto folder = std::filesystem::path(file).parent_path();
    while (folder.has_relative_path() && !std::filesystem::exists(folder / "CMakePresets.json"))
        folder = folder.parent_path();
    return folder;
}

}  // namespace tests
