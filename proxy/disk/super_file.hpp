#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proxy/disk/disk_file.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The owner of a directory, according to its files.
struct DirectoryContents {
    enum class DirectoryOwner : std::uint8_t {
        nobodys,  // it is empty, or has files that may be there without a super file
        ours,     // it has a super file, which SuperFile::take() may refuse
        others,   // it has other files, and no super file of this cache
    };
    DirectoryOwner whose = DirectoryOwner::nobodys;
    std::string other_file;       // the name of a file of another program, if there is one
    std::uint64_t secret_id = 0;  // of its super file, if it is ours
};
/// Reads only, and takes no lock. Errors: those of the system; newer_format and bad_checksum from
/// the super file.
DiskResult<DirectoryContents> look_into(DiskCalls& calls, const std::filesystem::path& directory);

/// A number that is derived from the secret under which tags are hashed, and keeps it secret.
std::uint64_t secret_mark_of(const summary::KeyHasher& hasher);

/// The file that marks a directory as one of this cache, and locks it for this process.
class SuperFile {
public:
    static constexpr const char* kName = "hearsay.super";
    // Other files that may be there before the super file; so may all names with the prefix kOurs.
    static constexpr const char* kSecretName = "hearsay.secret";
    static constexpr const char* kJournalName = "hearsay.invalidations";
    static constexpr const char* kFirstSightsName = "hearsay.first-sights";
    static constexpr const char* kOurs = "hearsay.";

    /// Locks the directory for the lifetime of the object, and makes the file in a directory that
    /// belongs to nobody. Segments that were left without a super file are useless. `secret_id`
    /// is secret_mark_of(). Errors: in_use; foreign, for other files without a super file, or with
    /// one of another cache; newer_format; bad_checksum; other_secret, as tags cannot be matched
    /// then, and the user has to empty the directory; those of the system.
    static DiskResult<SuperFile> take(DiskCalls& calls, const std::filesystem::path& directory,
                                      std::uint64_t secret_id);

    /// The random number of the directory. It seeds all its checksums.
    std::uint64_t directory_id() const { return directory_id_; }

    /// The company of the directory at the last write, and the number of changes of company so far.
    /// A directory that was absent in a later term missed purges, so its content is discarded. Term
    /// 0: none of its content counts.
    struct DirectorySet {
        std::uint64_t term = 0;
        std::uint64_t members = 0;  // company_of() all directory numbers

        bool operator==(const DirectorySet&) const = default;
    };
    const DirectorySet& company() const { return company_; }
    /// Counts the take() calls, this one included; the count is on the device. So the seqs of this
    /// process exceed all earlier ones.
    std::uint32_t instance() const { return instance_; }

    /// The file was removed, and the directory may belong to another process.
    bool is_removed() const { return file_.is_removed(); }
    /// Writes the company and waits for the device. `instance` is a lower bound for instance().
    boost::system::error_code set_company(const DirectorySet& company, std::uint32_t instance = 0);

private:
    boost::system::error_code write();

    DiskFile file_;  // carries the lock
    std::uint64_t directory_id_ = 0, secret_mark_ = 0;
    DirectorySet company_;
    std::uint32_t instance_ = 0;
};

/// Identifies a set of directories, in any order.
std::uint64_t company_of(std::vector<std::uint64_t> directory_ids);

}  // namespace proxy
