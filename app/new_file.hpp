#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace app {

/// Writes a new file, and leaves an existing one alone. Throws std::runtime_error that names the
/// file.
void write_new(const std::filesystem::path& file, const std::string& text, mode_t mode);

}  // namespace app
