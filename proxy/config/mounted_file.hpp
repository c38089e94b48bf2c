#pragma once

#include <filesystem>

namespace proxy {

/// True if the file was removed or replaced while this path still leads to it. That happens to a
/// file mounted into a container by itself: most editors, and `sed -i`, write another file and give
/// it the name, which a mount does not follow.
bool was_replaced(const std::filesystem::path& file);

/// True if the file itself is a mount, not its folder. False where the kernel cannot know (before
/// 5.8).
bool is_mounted_alone(const std::filesystem::path& file);

}  // namespace proxy
