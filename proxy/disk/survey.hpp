#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/disk/segment.hpp"

namespace proxy {

/// Read-only system calls: files are opened for reading, and every change fails with EROFS.
class ReadOnlyCalls : public DiskCalls {
public:
    int open(const char* path, int flags, unsigned mode) override;
    int reserve(int fd, std::uint64_t bytes) override;
    ssize_t write(int fd, std::span<const iovec> parts, std::uint64_t at) override;
    int sync(int fd) override;
    int remove(const char* path) override;
};

/// The target and the depth of a survey.
struct SurveyOrder {
    std::string url = {};    // as in a key, or empty
    bool reads_all = false;  // reads every record and verifies each checksum
    /// Called now and then with the bytes of the files so far, and of all files. May be empty.
    std::function<void(std::uint64_t done, std::uint64_t all)> progress = {};
};

/// The content of a directory of segments, or of one segment.
struct DiskSurvey {
    struct Files {
        std::uint64_t count = 0, bytes = 0;
        std::uint64_t unsealed = 0;    // without a footer
        std::uint64_t torn = 0;        // of these, cut off in the last record
        std::uint64_t empty = 0;       // without content
        std::uint64_t damaged = 0;     // with an unreadable record
        std::uint64_t unreadable = 0;  // other files, or errors of the system
    };
    Files files;

    struct Records {
        std::uint64_t responses = 0, blocks = 0;  // the last of each variant
        std::uint64_t live_bytes = 0;             // the bytes of these
        std::uint64_t expired = 0;                // of these
        std::uint64_t tagged = 0, tags = 0;       // responses; and how many tags they have
        std::uint64_t superseded = 0;             // replaced by later ones
        /// Purges by tag, or of everything. Only the cluster's secret reveals purges by URL, so
        /// their records count as current.
        std::uint64_t purged = 0;
        std::uint64_t tombstones = 0;           // of these purges
        DiskTime oldest{}, median{}, newest{};  // the times at which those were stored
    };
    Records records;

    struct Find {  // of SurveyOrder::url
        std::filesystem::path file;
        std::uint64_t offset = 0, bytes = 0;  // of the record in the file
        DiskTime stored{}, expires{};
        bool current = true;      // false: superseded or purged
        std::string status_line;  // empty if unreadable
        std::string vary;         // the names of the fields
        std::uint64_t body_bytes = 0;
    };
    std::vector<Find> finds;                         // kMaxFinds at most, the latest first
    std::uint64_t block_finds = 0, block_bytes = 0;  // its blocks, and the sizes of their bodies

    struct Fault {
        std::filesystem::path file;
        std::uint64_t offset = 0;  // of the record; 0 for the file as a whole
        std::string uri;           // of the record, if it is known
        std::string why;
    };
    std::vector<Fault> faults;      // kMaxFaults at most
    std::uint64_t fault_count = 0;  // all of them
    std::uint64_t proved = 0;       // records with good checksums, for reads_all
};

inline constexpr std::size_t kMaxFinds = 100, kMaxFaults = 20;

/// `place` is a directory that no process uses, which is locked meanwhile, or one segment file. It
/// reads only, and takes some 40 bytes of memory for each record beside the tombstones. Errors:
/// in_use; foreign, for a place without a cache; those of the system. An error in a single file
/// becomes a fault in the result.
DiskResult<DiskSurvey> survey(const std::filesystem::path& place, const SurveyOrder& order,
                              DiskTime now);

}  // namespace proxy
