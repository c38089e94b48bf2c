#include "proxy/config/disk_folders.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "protocol/wire/keys.hpp"
#include "proxy/config/config_disk.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/disk/super_file.hpp"

namespace proxy {
namespace {

using std::filesystem::path;

constexpr std::uint64_t kStatBlock = 512;  // the unit of st_blocks

/// Why no cache can be in a place.
struct FolderFault {
    std::string why;            // empty: one can
    bool is_of_device = false;  // and it is nobody's mistake
};

/// The error of this operation on a file or folder; none when this process may do it.
boost::system::error_code access_error(const path& place, int what) {
    if (::faccessat(AT_FDCWD, place.c_str(), what, AT_EACCESS) == 0) return {};
    return last_error();
}

/// As a node sees it that takes it.
DiskResult<DirectoryContents> contents_of(const path& directory) {
    DiskCalls calls;
    return look_into(calls, directory);
}

/// `before`, the system's message, and the remedy.
FolderFault unusable_for(const boost::system::error_code& error, std::string before,
                         std::string_view remedy = {}) {
    return {before.append(": ").append(error.message()).append(remedy), is_of_device(error)};
}

FolderFault unusable(const path& place, const std::optional<std::uint64_t>& secret_id) {
    constexpr auto kWhole = R_OK | W_OK | X_OK;
    struct stat found {};
    if (::stat(place.c_str(), &found) == 0) {
        if (!S_ISDIR(found.st_mode))
            return {place.string() + " is no directory; name one, or what is not there yet"};
        if (const auto error = access_error(place, kWhole))
            return unusable_for(
                error, "cannot write to " + place.string(),
                is_of_device(error) ? "" : "; it must belong to the user that runs hearsay");
        const auto holds = contents_of(place);
        if (!holds) return unusable_for(holds.error(), place.string());
        if (holds->whose == DirectoryContents::DirectoryOwner::others)
            return {place.string() + " holds other files (" + holds->other_file +
                    "); name an empty directory, or what is not there yet"};
        if (holds->whose == DirectoryContents::DirectoryOwner::ours && secret_id &&
            *secret_id != holds->secret_id)
            return unusable_for(DiskError::other_secret, place.string());
        return {};
    }
    if (::lstat(place.c_str(), &found) == 0 && S_ISLNK(found.st_mode))
        return {place.string() + " is a link to nothing; make the directory that it names"};
    if (errno != ENOENT) return unusable_for(last_error(), "cannot look at " + place.string());
    const auto parent = place.parent_path();
    if (::stat(parent.c_str(), &found) != 0 || !S_ISDIR(found.st_mode))
        return {"there is no directory " + parent.string() + " to make it in; make it first"};
    if (const auto error = access_error(parent, W_OK | X_OK))
        return unusable_for(error, "cannot make " + place.string(),
                            "; make it, and give it to the user that runs hearsay");
    return {};
}

/// One entry for each directory. The fault of one alone is left out where another is good: the node
/// begins without it.
std::vector<FolderFault> look_at(const Config& config) {
    // Without a cluster the directories themselves show it.
    std::optional<std::uint64_t> secret_id;
    if (config.cluster)
        secret_id =
            secret_mark_of(summary::KeyHasher(protocol::hash_secret(config.cluster->keys.back())));
    std::vector<FolderFault> found;
    for (const auto& directory : config.cache.disk)
        found.push_back(unusable(directory.path, secret_id));
    if (std::ranges::none_of(found, [](const auto& each) { return each.why.empty(); }))
        for (auto& each : found) each.is_of_device = false;
    return found;
}

struct FileSystem {
    dev_t device = 0;
    long kind = 0;
    std::uint64_t bytes = 0;  // all of it, used or not
    std::uint64_t free = 0;   // for this user
};

/// That of a directory, or where it would be made.
std::optional<FileSystem> file_system_of(const path& place) {
    struct stat file {};
    struct statfs found {};
    for (const auto& each : {place, place.parent_path()}) {
        if (::stat(each.c_str(), &file) != 0 || ::statfs(each.c_str(), &found) != 0) continue;
        const auto block = static_cast<std::uint64_t>(found.f_frsize);
        return FileSystem{file.st_dev, static_cast<long>(found.f_type),
                          std::uint64_t{found.f_blocks} * block,
                          std::uint64_t{found.f_bavail} * block};
    }
    return std::nullopt;
}

/// The bytes that the files of a directory take already.
std::uint64_t taken_in(const path& directory) {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
         at.increment(error)) {
        struct stat file {};
        if (::lstat(at->path().c_str(), &file) == 0 && S_ISREG(file.st_mode))
            bytes += static_cast<std::uint64_t>(file.st_blocks) * kStatBlock;
    }
    return bytes;
}

/// Rounded down: nobody wants to know all of it.
std::string about(std::uint64_t bytes) {
    const auto unit = bytes >= 10ull << 30 ? 30 : 20;
    return format_size(bytes >> unit << unit);
}

}  // namespace

std::vector<ConfigError> unusable_disks(const Config& config) {
    const auto& disk = config.cache.disk;
    std::vector<ConfigError> found;
    std::map<std::pair<dev_t, ino_t>, std::size_t> seen;
    const auto looks = look_at(config);
    for (std::size_t i = 0; i < disk.size(); ++i) {
        if (looks[i].is_of_device) continue;
        auto why = looks[i].why;
        struct stat file {};
        if (why.empty() && ::stat(disk[i].path.c_str(), &file) == 0) {
            const auto [first, is_new] = seen.try_emplace({file.st_dev, file.st_ino}, i);
            if (!is_new) why = "is " + disk[first->second].path + " by another name";
        }
        if (!why.empty()) found.push_back({disk_setting(disk, i) + ".path", std::move(why)});
    }
    return found;
}

std::vector<ConfigError> make_disks(const Config& config) {
    constexpr mode_t kMode = 0750;
    const auto& disk = config.cache.disk;
    std::vector<ConfigError> found;
    for (std::size_t i = 0; i < disk.size(); ++i) {
        if (::mkdir(disk[i].path.c_str(), kMode) == 0 || errno == EEXIST) continue;
        const auto error = last_error();
        if (disk.size() > 1 && is_of_device(error)) continue;  // the node begins without it
        found.push_back({disk_setting(disk, i) + ".path",
                         "cannot make " + disk[i].path + ": " + error.message()});
    }
    return found;
}

std::string_view passing_file_system(long kind) {
    switch (static_cast<unsigned long>(kind)) {
        case TMPFS_MAGIC:
        case RAMFS_MAGIC:
            return "is in memory (tmpfs), which it takes twice then and loses with a restart of "
                   "the machine; give it a directory on a disk";
        case OVERLAYFS_SUPER_MAGIC:
            return "is on overlayfs, a container's own layer, and goes with the container; give it "
                   "a volume";
        default:
            return {};
    }
}

std::vector<ConfigError> doubtful_disks(const Config& config) {
    const auto& disk = config.cache.disk;
    struct Use {
        std::size_t first = 0, directories = 0;
        std::uint64_t wanted = 0, bytes = 0;
        std::uint64_t room = 0;  // what is free, and what the caches there have already
    };
    std::map<dev_t, Use> uses;
    std::vector<ConfigError> found;
    const auto looks = look_at(config);
    for (std::size_t i = 0; i < disk.size(); ++i) {
        if (looks[i].is_of_device) {
            found.push_back({disk_setting(disk, i) + ".path",
                             looks[i].why + ": the node begins without it, and what it holds is "
                                            "lost; replace the disk, or empty the directory"});
            continue;
        }
        std::error_code ignored;
        if (!std::filesystem::exists(disk[i].path, ignored))
            found.push_back({disk_setting(disk, i) + ".path",
                             disk[i].path + " is not there yet; it is made at the start"});
        if (const auto holds = contents_of(disk[i].path);
            holds && holds->whose == DirectoryContents::DirectoryOwner::ours &&
            !holds->other_file.empty())
            found.push_back({disk_setting(disk, i) + ".path",
                             disk[i].path + " holds " + holds->other_file +
                                 ", which is not of a cache: it takes room beside size, and goes "
                                 "with whoever empties the directory"});
        const auto file_system = file_system_of(disk[i].path);
        if (!file_system) continue;
        if (const auto why = passing_file_system(file_system->kind); !why.empty())
            found.push_back({disk_setting(disk, i) + ".path", std::string(why)});
        auto& use = uses[file_system->device];
        if (use.directories++ == 0) use.first = i;
        use.wanted += disk[i].size;
        use.bytes = file_system->bytes;
        if (use.directories == 1) use.room = file_system->free;
        use.room += taken_in(disk[i].path);
    }
    for (const auto& [device, use] : uses) {
        if (use.wanted <= use.room) continue;
        const auto has = use.wanted > use.bytes
                             ? "the file system has (" + about(use.bytes) + ")"
                             : "is free on the file system (" + about(use.room) +
                                   ", with what the cache takes already): when that is full, the "
                                   "oldest makes room";
        found.push_back({disk_setting(disk, use.first) + ".size",
                         use.directories == 1 ? "is more than " + has
                                              : "is, with the others there, more than " + has});
    }
    return found;
}

}  // namespace proxy
