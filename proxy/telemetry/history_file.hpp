#pragma once

#include <array>
#include <atomic>
#include <boost/asio/thread_pool.hpp>
#include <boost/system/error_code.hpp>
#include <filesystem>
#include <optional>
#include <vector>

#include "proxy/disk/disk_bytes.hpp"
#include "proxy/disk/disk_calls.hpp"
#include "proxy/telemetry/history.hpp"

namespace proxy {

/// The points of all spans, oldest first.
using HistoryPoints = std::array<std::vector<HistoryPoint>, kSpans.size()>;

/// The bytes of a history (disk/FORMAT.md), 155 KB at most. Its times are wall times; `now` joins
/// the two clocks.
DiskBytes encode_history(const History& history, ClockPair now);
/// Reads them. Returns nothing for other bytes: every length and the checksum are verified.
std::optional<HistoryPoints> decode_history(DiskView bytes, ClockPair now);

/// Keeps a history in the directories of the disk. A thread of its own writes; only the constructor
/// of the caller's history and close() wait for the disk. It writes to the first directory that
/// takes the file; load() reads the latest of all. Control thread.
class HistoryFile {
public:
    static constexpr const char* kName = "hearsay.history";

    /// Without directories, nothing is kept.
    explicit HistoryFile(std::vector<std::filesystem::path> directories);
    ~HistoryFile() { close(); }

    bool is_used() const { return !directories_.empty(); }
    /// The latest history of an earlier process, if there is one.
    std::optional<HistoryPoints> load(ClockPair now);
    /// Writes these bytes soon. While earlier ones are being written, nothing happens.
    void save(DiskBytes bytes);
    /// Ends the thread after its work.
    void close() { writer_.join(); }
    /// Writes these bytes at once, after close().
    void write(const DiskBytes& bytes);

private:
    boost::system::error_code write_to(const std::filesystem::path& directory,
                                       const DiskBytes& bytes);

    const std::vector<std::filesystem::path> directories_;
    DiskCalls calls_;
    std::atomic<bool> is_writing_{false};
    bool has_failed_ = false;  // the last write; on the thread
    boost::asio::thread_pool writer_{1};
};

}  // namespace proxy
