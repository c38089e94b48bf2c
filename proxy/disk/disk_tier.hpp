#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/disk/disk_owner.hpp"
#include "proxy/disk/disk_reader.hpp"
#include "proxy/disk/disk_status.hpp"
#include "proxy/disk/disk_writer.hpp"
#include "proxy/disk/super_file.hpp"

namespace proxy {

class DiskDirectory;

/// All directories of a node as one tier. It assigns each key to a directory by the path, in
/// proportion to the sizes at the start. Any thread. Only the constructor and the destructor wait
/// for a disk.
class DiskTier {
public:
    struct Directory {
        std::filesystem::path path;
        std::uint64_t cap_bytes = 0;
        std::uint64_t segment_bytes = 0;  // as SegmentLog::Config has it
    };
    struct Config {
        std::vector<Directory> directories;  // 1 .. kMaxDiskDirectories
        std::uint64_t secret_id = 0;         // see SuperFile
        DiskWriter::Config writer;
        DiskReader::Config reader;
        /// The only directory is tried again this long after a failure.
        std::chrono::milliseconds retry{60'000};
        /// A call to the device that takes longer shows as DiskStatus::State::stalled. The sync of
        /// a segment on a slow disk takes seconds.
        std::chrono::milliseconds stalled_after{10'000};
        /// Restores the files that such a directory must have before it is used again, as its
        /// content may have been removed. Called on the thread of the directory. Returns the reason
        /// of a failure, or an empty text.
        std::function<std::string(const std::filesystem::path&)> prepare = {};
    };
    /// Opens the directories. A directory whose device has failed starts in the state off, if
    /// another one works. Throws std::runtime_error with a sentence for the user for any other
    /// obstacle: another process uses the directory, it has files of other programs, or it is
    /// read-only.
    DiskTier(DiskCalls& calls, Config config, DiskOwner& owner);
    /// Writes the queues, seals the segments, and answers pending reads with DiskError::ending.
    ~DiskTier();
    DiskTier(const DiskTier&) = delete;
    DiskTier& operator=(const DiskTier&) = delete;

    /// Starts the recovery on threads of its own. Jobs that are pushed meanwhile wait.
    void start();
    /// The recovery of a directory is still running.
    bool loading() const;

    /// DiskDirectory::has_room() of the directory of this key.
    bool has_room(summary::KeyHash key) const;

    struct Write {
        Record record;                      // its seq is set by write()
        std::vector<iovec> body;            // of record.body_bytes together
        std::shared_ptr<const void> owner;  // of the memory that record and body view
        /// The place of the record. Called once, on a thread of the tier, before any job takes
        /// effect that was pushed later.
        std::function<void(DiskResult<RecordLocation>)> done;
    };
    /// False if the job is refused, because the queue is full or the disk had an error lately;
    /// `done` is dropped then. For each key, write(), end() and end_all() take effect in the order
    /// of the calls.
    bool write(summary::KeyHash key, Write write);

    using Ended = std::function<void()>;
    /// Ends all records that were pushed before and whose key, or one of whose tags, is one of
    /// these hashes. read() refuses them from now on; a restart refuses them once `written` was
    /// called, which happens soon and on a thread of the tier. The call never fails. `written` may
    /// be empty.
    ///
    /// If a directory has failed, `written` waits until that directory or another one has noted the
    /// failure, or the content was removed, so a confirmation is always true. It is left out if the
    /// tier ends before, or while kMaxTombstones wait for a disk; all content counts as ended then.
    /// Without hashes nothing is ended: `written` is called when all earlier jobs are done.
    void end(std::span<const summary::KeyHash> hashes, Ended written);
    /// The same for all records. Each is dropped() by and by.
    void end_all(Ended written);

    /// Empty if a device would have to be awaited, or the record is too large. Errors: other_key,
    /// for a record of another URI; purged, see end(); those of the bytes and of the system.
    std::optional<DiskResult<LoadedRecord>> read_now(const DiskReader::RecordRequest& wanted,
                                                     std::string_view uri);
    /// `answer` is called once, on a thread of the tier, or at its end as in DiskReader::read();
    /// the receiver posts from there. False if too many reads wait: then `answer` is dropped, and
    /// the caller treats it as a miss.
    bool read(const DiskReader::RecordRequest& wanted, std::string uri, DiskReader::Answer answer);

    /// Takes effect by and by. A lower cap removes segments.
    void set_cap(std::size_t directory, std::uint64_t bytes);
    std::vector<DiskStatus> status() const;  // of each directory

private:
    /// The share of a directory in the assignment of keys. The seed comes from the path, so a
    /// replaced disk leaves the keys of the others where they are.
    struct DirectoryShare {
        std::uint64_t seed = 0;
        double size = 0;

        /// The score of a seat for a key; the seat with the greatest score has the key. By weighted
        /// rendezvous hashing each seat has keys in proportion to its size. A seat that grows takes
        /// keys from each of the others, and the rest stay.
        /// Source: Schindelhauer, Schomaker 2005, "Weighted distributed hash tables", logarithmic
        /// method.
        double wants(summary::KeyHash key) const;
    };

    void keep_company(DiskCalls& calls, const Config& config,
                      std::vector<std::optional<SuperFile>>& supers);
    std::unique_ptr<DiskDirectory> make(DiskCalls& calls, const Config& config, unsigned index,
                                        SuperFile super, std::string trouble, DiskOwner& owner);
    DiskDirectory& home_of(summary::KeyHash key) const;
    DiskDirectory* at(RecordLocation place) const;
    bool part_with(unsigned index);

    std::vector<std::uint64_t> ids_;
    std::vector<DirectoryShare> seats_;
    std::mutex parting_;
    std::uint64_t term_ = 0;
    std::vector<std::unique_ptr<DiskDirectory>> directories_;
};

}  // namespace proxy
