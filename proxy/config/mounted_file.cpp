#include "proxy/config/mounted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <system_error>

namespace proxy {
namespace {

std::optional<std::uint64_t> mount_of(const std::filesystem::path& place) {
    struct statx found {};
    if (::statx(AT_FDCWD, place.c_str(), 0, STATX_MNT_ID, &found) != 0 ||
        (found.stx_mask & STATX_MNT_ID) == 0)
        return std::nullopt;
    return found.stx_mnt_id;
}

}  // namespace

bool was_replaced(const std::filesystem::path& file) {
    struct stat found {};
    return ::stat(file.c_str(), &found) == 0 && S_ISREG(found.st_mode) && found.st_nlink == 0;
}

bool is_mounted_alone(const std::filesystem::path& file) {
    std::error_code error;
    const auto real = std::filesystem::canonical(file, error);
    if (error) return false;
    const auto own = mount_of(real), around = mount_of(real.parent_path());
    return own && around && *own != *around;
}

}  // namespace proxy
