#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "proxy/disk/disk_file.hpp"
#include "summary/key_hash.hpp"

namespace proxy {

/// Whose a directory is, by what stands in it.
struct DirectoryContents {
    enum class Whose : std::uint8_t {
        nobodys,  // nothing is there, or what may come before the super file, or be left behind it
        ours,     // the super file is there; SuperFile::take() may still refuse what it says
        others,   // there is no super file, or none of ours, and something else
    };
    Whose whose = Whose::nobodys;
    std::string other_file;         // the name of one that is not of a cache, if there is any
    std::uint64_t secret_mark = 0;  // that it was written under, if it is ours
};
/// Changes nothing, and locks nothing. Errors: those of the system; newer_format, bad_checksum: the
/// super file says so.
DiskResult<DirectoryContents> look_into(DiskCalls& calls, const std::filesystem::path& directory);

/// A number that follows from the secret under which tags are hashed, and does not tell it.
std::uint64_t secret_mark_of(const summary::KeyHasher& hasher);

/// What makes a directory one of this cache, and this process its only user.
class SuperFile {
public:
    static constexpr const char* kName = "hearsay.super";
    // What else may stand there before there is a super file; so may all that begins with kOurs.
    static constexpr const char* kSecretName = "hearsay.secret";
    static constexpr const char* kJournalName = "hearsay.invalidations";
    static constexpr const char* kOurs = "hearsay.";

    /// Takes the directory for as long as this object lives; makes the file where there is nothing
    /// but what is nobody's. Segments without one are left, and of no use. `secret_mark`:
    /// secret_mark_of(). Errors: in_use, foreign (there are other files and no super file, or it is
    /// none of ours), newer_format, bad_checksum, other_secret (nothing in it can be matched with
    /// tags: empty the directory), those of the system.
    static DiskResult<SuperFile> take(DiskCalls& calls, const std::filesystem::path& directory,
                                      std::uint64_t secret_mark);

    /// The directory's number, by chance; seeds all its checksums.
    std::uint64_t directory_id() const { return directory_id_; }

    /// Of whom it was one when this was written last, and for the how many-th time there was
    /// another company, or one went missing: what a directory holds that was not there all the
    /// time does not count, as it was told of no purge meanwhile. 0: nothing in it counts.
    struct Company {
        std::uint64_t term = 0;
        std::uint64_t members = 0;  // company_of() the numbers of all

        bool operator==(const Company&) const = default;
    };
    const Company& company() const { return company_; }
    /// How often it was taken, this time included, which has been written: what stands in records
    /// of this process is greater than in all earlier ones.
    std::uint32_t run() const { return run_; }

    /// Somebody has removed the file: the directory is not this object's any more.
    bool is_removed() const { return file_.is_removed(); }
    /// Writes it, and waits for the device. `run`: what run() must not be below.
    boost::system::error_code set_company(const Company& company, std::uint32_t run = 0);

private:
    boost::system::error_code write();

    DiskFile file_;  // holds the lock
    std::uint64_t directory_id_ = 0, secret_mark_ = 0;
    Company company_;
    std::uint32_t run_ = 0;
};

/// Stands for these directories together, in any order.
std::uint64_t company_of(std::vector<std::uint64_t> directory_ids);

}  // namespace proxy
