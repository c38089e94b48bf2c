#pragma once

#include <filesystem>

namespace proxy {

/// Was the file removed, or another put in its place, while this path still leads to it? So it is
/// with one that is mounted into a container by itself: most editors, and `sed -i`, write another
/// file beside it and give that its name, which a mount does not follow.
bool was_replaced(const std::filesystem::path& file);

/// Is the file itself a mount, not its folder? False where the kernel cannot tell (before 5.8).
bool is_mounted_alone(const std::filesystem::path& file);

}  // namespace proxy
