#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/disk/disk_owner.hpp"
#include "proxy/disk/disk_reader.hpp"
#include "proxy/disk/disk_status.hpp"
#include "proxy/disk/disk_writer.hpp"

namespace proxy {

/// All directories of a node as one: which of them a key goes to (by their paths, in proportion to
/// their sizes at the start), their threads, what became of them when a disk fails. Any thread; no
/// call waits for a disk, but for the constructor and the destructor.
class DiskTier {
public:
    struct Directory {
        std::filesystem::path path;
        std::uint64_t cap_bytes = 0;
        std::uint64_t segment_bytes = 0;  // as SegmentLog::Config has it
    };
    struct Config {
        std::vector<Directory> directories;  // 1 .. kMaxDiskDirectories
        std::uint64_t secret_mark = 0;       // see SuperFile
        DiskWriter::Config writer;
        DiskReader::Config reader;
        /// After so long a directory that failed is tried again, if it is the only one.
        std::chrono::milliseconds retry{60'000};
        /// Puts into such a directory what must stand there before it is taken again: whoever
        /// emptied it may have removed that. On the directory's thread. Returns why that cannot be
        /// done, or nothing.
        std::function<std::string(const std::filesystem::path&)> prepare = {};
    };
    /// Takes the directories. One whose device has failed begins off, where there is another.
    /// Throws std::runtime_error with a sentence for the user when one of them cannot be used for
    /// another reason: another process has it, it holds other files, it is not writable.
    DiskTier(DiskCalls& calls, Config config, DiskOwner& owner);
    /// Writes what waits, seals the segments, answers what is being asked with DiskError::ending.
    ~DiskTier();
    DiskTier(const DiskTier&) = delete;
    DiskTier& operator=(const DiskTier&) = delete;

    /// Begins to read what there is, on threads of its own; what is written meanwhile waits.
    void start();
    /// Not all directories were read yet.
    bool loading() const;

    /// Where records of this key go, see DiskDirectory::has_room().
    bool has_room(summary::KeyHash key) const;

    struct Write {
        Record record;                      // its seq is set by write()
        std::vector<iovec> body;            // of record.body_bytes together
        std::shared_ptr<const void> owner;  // keeps all that record and body view
        /// Where it is; called once, on a thread of the tier, before anything that was pushed
        /// later counts.
        std::function<void(DiskResult<DiskPlace>)> done;
    };
    /// False when it is refused, and `done` is never called: too much waits, or the disk had an
    /// error lately. What is pushed for one key counts in the order of the calls, and so do end()
    /// and end_all() among them.
    bool write(summary::KeyHash key, Write write);

    using Ended = std::function<void()>;
    /// What was pushed before and whose key, or one of whose tags, is one of these hashes, is not
    /// given any more: from now on by read(), and after a restart once `written` was called, which
    /// is on a thread of the tier, soon; never refused. When a directory has failed, and neither it
    /// nor another could note that, not before one of them can, or what it holds was removed:
    /// nobody is told what may not be so. Not at all if the end comes first, or while
    /// kMaxTombstones wait for a disk: then all that it holds is ended instead. May be empty.
    /// Without hashes nothing is written: `written` is called when all that was pushed before it
    /// has been.
    void end(std::span<const summary::KeyHash> hashes, Ended written);
    /// The same for all there is. Each record is dropped() by and by.
    void end_all(Ended written);

    /// None when a device would have to be waited for, or it is too large for that. Errors:
    /// other_key: it is of another URI; purged: see end(); those of the bytes and of the system.
    std::optional<DiskResult<LoadedRecord>> read_now(const DiskReader::Wanted& wanted,
                                                     std::string_view uri);
    /// `answer` is called once, on a thread of the tier, or at its end as DiskReader::read() has
    /// it; post from there. False, and it is never called, when too many wait: go on as if it were
    /// not stored.
    bool read(const DiskReader::Wanted& wanted, std::string uri, DiskReader::Answer answer);

    /// Takes effect by and by; a lower one gives segments back.
    void set_cap(std::size_t directory, std::uint64_t bytes);
    std::vector<DiskStatus> status() const;  // of each directory

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace proxy
