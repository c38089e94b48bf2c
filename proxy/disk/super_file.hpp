#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

#include "proxy/disk/disk_file.hpp"

namespace proxy {

/// What makes a directory one of this cache, and this process its only user.
class SuperFile {
public:
    static constexpr const char* kName = "hearsay.super";

    /// Takes the directory for as long as this object lives; makes the file where the directory is
    /// empty. `secret_mark`: a number that follows from the cluster's secret and does not tell it.
    /// Errors: in_use, foreign (there are other files and no super file, or it is none of ours),
    /// newer_format, other_secret (nothing in it can be matched with tags: empty the directory),
    /// those of the system.
    static DiskResult<SuperFile> take(DiskCalls& calls, const std::filesystem::path& directory,
                                      std::uint64_t secret_mark);

    /// The directory's number, by chance; seeds all its checksums.
    std::uint64_t directory_id() const { return directory_id_; }
    bool is_new() const { return is_new_; }

private:
    DiskFile file_;  // holds the lock
    std::uint64_t directory_id_ = 0;
    bool is_new_ = false;
};

}  // namespace proxy
