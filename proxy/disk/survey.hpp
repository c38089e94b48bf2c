#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/disk/segment.hpp"

namespace proxy {

/// The calls of somebody who only looks: files are opened for reading, and whatever would change
/// something fails with EROFS.
class LookingCalls : public DiskCalls {
public:
    int open(const char* path, int flags, unsigned mode) override;
    int reserve(int fd, std::uint64_t bytes) override;
    ssize_t write(int fd, std::span<const iovec> parts, std::uint64_t at) override;
    int sync(int fd) override;
    int remove(const char* path) override;
};

/// What is to be looked for, and how closely.
struct SurveyOrder {
    std::string url = {};    // as in a key; empty: none
    bool reads_all = false;  // every record, so that each checksum is proved
    /// Told now and then: bytes of the files looked at, of all. May be empty.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
};

/// What a directory of segments, or one of them, holds.
struct DiskSurvey {
    std::uint64_t files = 0, file_bytes = 0;
    std::uint64_t unsealed = 0;    // of the files: ended without a table of contents
    std::uint64_t torn = 0;        // of these, in which the last record was not whole
    std::uint64_t empty = 0;       // made, and nothing written yet
    std::uint64_t damaged = 0;     // in which something that was a record cannot be read
    std::uint64_t unreadable = 0;  // not of this cache, or the system gives errors

    std::uint64_t responses = 0, blocks = 0;  // that count: the last of each variant
    std::uint64_t live_bytes = 0;             // that these take
    std::uint64_t expired = 0;                // of these
    std::uint64_t tagged = 0, tags = 0;       // responses; and how many tags they have
    std::uint64_t superseded = 0;             // a later one took their place
    /// By a tag, or all at once. Which ones were purged by their URL cannot be told without the
    /// cluster's secret; those count as if they were not.
    std::uint64_t purged = 0;
    std::uint64_t tombstones = 0;           // that say so
    DiskTime oldest{}, median{}, newest{};  // when those that count were stored

    struct Find {  // of SurveyOrder::url
        std::filesystem::path file;
        std::uint64_t offset = 0, bytes = 0;  // of the record in the file
        DiskTime stored{}, expires{};
        bool current = true;      // false: superseded or purged
        std::string status_line;  // empty when it cannot be read
        std::string vary;         // the names of the fields, as they are kept
        std::uint64_t body_bytes = 0;
    };
    std::vector<Find> finds;                         // kMaxFinds at most, the latest first
    std::uint64_t block_finds = 0, block_bytes = 0;  // blocks of it, with their bodies' sizes

    struct Fault {
        std::filesystem::path file;
        std::uint64_t offset = 0;  // of the record; 0: the file as a whole
        std::string uri;           // of the record, as far as it is known
        std::string why;
    };
    std::vector<Fault> faults;      // kMaxFaults at most
    std::uint64_t fault_count = 0;  // all of them
    std::uint64_t proved = 0;       // records whose checksums agree; of reads_all
};

inline constexpr std::size_t kMaxFinds = 100, kMaxFaults = 20;

/// `place`: a directory that no process works with (it is held meanwhile), or one segment file.
/// Takes some 40 bytes of memory for each record, and what stands in tombstones.
/// Changes nothing. Errors: in_use; foreign: there is no cache; those of the system. One that
/// concerns a single file is a fault of the result.
DiskResult<DiskSurvey> survey(const std::filesystem::path& place, const SurveyOrder& order,
                              DiskTime now);

}  // namespace proxy
