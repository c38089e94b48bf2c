#pragma once

#include <filesystem>

namespace tests {

/// The root of the sources, for tests that read a page or an example.
inline const std::filesystem::path kSourceRoot =
    std::filesystem::path(__FILE__).parent_path().parent_path();

}  // namespace tests
