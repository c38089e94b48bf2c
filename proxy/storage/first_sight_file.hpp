#pragma once

#include <atomic>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/disk/disk_bytes.hpp"
#include "proxy/disk/disk_calls.hpp"
#include "proxy/disk/disk_error.hpp"
#include "proxy/storage/first_sights.hpp"

namespace proxy {

/// Keeps the first sights over a restart: a file in each directory of the disk tier
/// (disk/FORMAT.md). A loss costs waiting time only, so the file is written as a whole now and
/// then, and at the end. A crash loses the sights of the last kEvery. Without any first sight there
/// is no file.
///
/// One thread calls; a thread of its own writes, so that no caller but the constructor and the
/// destructor waits for the disk. The arguments outlive this.
class FirstSightFiles {
public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::seconds kEvery{30};

    /// Reads the files of an earlier process into `sights`. A file that is damaged, or of another
    /// secret, is left out. `secret_id`: secret_mark_of() the key hasher.
    FirstSightFiles(DiskCalls& calls, std::vector<std::filesystem::path> directories,
                    std::uint64_t secret_id, FirstSights& sights);
    /// Writes what has changed.
    ~FirstSightFiles();
    FirstSightFiles(const FirstSightFiles&) = delete;
    FirstSightFiles& operator=(const FirstSightFiles&) = delete;

    /// Writes what has changed, at most once in kEvery. To be called now and then.
    void maintain(Clock::time_point now);

    using Troubles = std::vector<std::pair<std::filesystem::path, boost::system::error_code>>;
    /// The directories whose file could not be read or written, each once for each such event.
    Troubles take_troubles();

private:
    void read(const std::filesystem::path& directory);
    void write() noexcept;
    void note_trouble(const std::filesystem::path& directory, boost::system::error_code error);

    DiskCalls& calls_;
    const std::vector<std::filesystem::path> directories_;
    const std::uint64_t secret_mark_;
    FirstSights& sights_;
    std::uint64_t written_ = 0;  // FirstSights::changes() at the last write
    std::optional<Clock::time_point> wrote_at_;
    std::thread writer_;
    std::atomic<bool> writes_{false};
    std::mutex mutex_;  // of the next
    Troubles troubles_;
};

/// The bytes of the file. At most FirstSights::kMost sights.
DiskBytes first_sight_bytes(std::span<const FirstSights::Sight> sights, std::uint64_t secret_id);
/// Errors: foreign, newer_format, other_secret, bad_length, cut_off, bad_checksum.
DiskResult<std::vector<FirstSights::Sight>> read_first_sights(DiskView bytes,
                                                              std::uint64_t secret_id);

}  // namespace proxy
