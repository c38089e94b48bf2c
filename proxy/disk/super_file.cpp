#include "proxy/disk/super_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <xxhash.h>

#include <cerrno>
#include <random>

#include "proxy/disk/footer.hpp"

namespace proxy {
namespace {

// Alike in all versions: text, format, 4 zeros.
constexpr std::string_view kText = "hearsay disk cache\r\n\x1a\x04";
constexpr std::size_t kSummedBytes = 46;

DiskBytes encoded(std::uint64_t directory_id, std::uint64_t secret_mark) {
    DiskBytes out;
    put_text(out, kText);
    put<std::uint32_t>(out, kDiskFormat);
    put<std::uint32_t>(out, 0);
    put<std::uint64_t>(out, directory_id);
    put<std::uint64_t>(out, secret_mark);
    out.resize(kSummedBytes);
    put<std::uint64_t>(out, XXH3_64bits(out.data(), out.size()));
    out.resize(kDiskSector);
    return out;
}

enum class Holds { nothing, something };

/// Apart from the super file itself, and from what file systems put into fresh directories.
DiskResult<Holds> look_into(const std::filesystem::path& directory) {
    std::error_code error;
    std::filesystem::directory_iterator at(directory, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
        const auto name = at->path().filename();
        if (name != SuperFile::kName && name != "lost+found") return Holds::something;
    }
    if (error) return boost::system::error_code(error.value(), boost::system::system_category());
    return Holds::nothing;
}

std::uint64_t random_number() {
    std::random_device random;
    return std::uint64_t{random()} << 32 | random();
}

}  // namespace

DiskResult<SuperFile> SuperFile::take(DiskCalls& calls, const std::filesystem::path& directory,
                                      std::uint64_t secret_mark) {
    const auto holds = look_into(directory);
    if (!holds) return holds.error();
    const bool empty = *holds == Holds::nothing;
    // Nothing of ours is put into what belongs to somebody else.
    const auto flags = empty ? O_RDWR | O_CREAT : O_RDWR;
    auto file = DiskFile::open(calls, directory / kName, flags);
    if (!file) {
        const bool none = file.error() == boost::system::errc::no_such_file_or_directory;
        return none ? DiskResult<SuperFile>(DiskError::foreign) : file.error();
    }
    if (::flock(file->fd(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return DiskError::in_use;
        return boost::system::error_code(errno, boost::system::system_category());
    }
    DiskBytes bytes(kDiskSector);
    const auto got = file->read_some(bytes, 0);
    if (!got) return got.error();
    SuperFile taken;
    taken.file_ = std::move(*file);
    if (*got < kDiskSector) {
        // Empty, or its writing was broken off; then there is nothing else yet.
        if (!empty) return DiskError::foreign;
        taken.directory_id_ = random_number();
        taken.is_new_ = true;
        const auto fresh = encoded(taken.directory_id_, secret_mark);
        if (const auto error = taken.file_.write(DiskView(fresh), 0)) return error;
        if (const auto error = taken.file_.sync()) return error;
        return taken;
    }
    ByteCursor in(bytes);
    if (in.text(kText.size()) != kText) return DiskError::foreign;
    if (in.number<std::uint32_t>() > kDiskFormat) return DiskError::newer_format;
    in.number<std::uint32_t>();
    taken.directory_id_ = in.number<std::uint64_t>();
    const auto mark = in.number<std::uint64_t>();
    if (encoded(taken.directory_id_, mark) != bytes) return DiskError::bad_checksum;
    if (mark != secret_mark) return DiskError::other_secret;
    return taken;
}

}  // namespace proxy
