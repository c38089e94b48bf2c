#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>

#include "proxy/disk/super_file.hpp"

namespace proxy {

/// This process's hold on one directory, by its super file, through failures of the disk. The
/// thread of the directory only, except set_company().
class DirectoryOwnership {
public:
    /// `is_disowned`: the others have noted that the directory is absent.
    DirectoryOwnership(SuperFile super, bool is_disowned)
        : super_(std::move(super)), is_disowned_(is_disowned) {}

    std::uint64_t directory_id() const { return super_.directory_id(); }
    std::uint32_t instance() const { return super_.instance(); }
    /// The file was removed, and the directory may belong to another process.
    bool is_lost() const;
    /// Writes the company and waits for the device. Any thread.
    boost::system::error_code set_company(const SuperFile::DirectorySet& company);

    /// The content is discarded at the next start: the super file says so, or those of the others.
    bool is_disowned() const { return is_disowned_; }
    void set_disowned(bool is_disowned) { is_disowned_ = is_disowned; }

    /// The directory goes off. Keeps the state from which retake() continues, as the file itself
    /// may belong to another process by then.
    void leave();
    /// Takes the directory again, and removes its segments.
    boost::system::error_code retake(DiskCalls& calls, const std::filesystem::path& path,
                                     std::uint64_t secret_id);

private:
    mutable std::mutex mutex_;  // of super_
    SuperFile super_;
    bool is_disowned_;
    SuperFile::DirectorySet company_;  // of leave()
    std::uint32_t instance_ = 0;
};

}  // namespace proxy
