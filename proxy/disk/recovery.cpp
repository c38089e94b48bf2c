#include "proxy/disk/recovery.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace proxy {
namespace {

constexpr std::size_t kReadAhead = 8;  // segments whose footers are in memory at once

/// Nothing in it will ever be found again, and it is nobody else's.
bool is_unusable(const boost::system::error_code& error) {
    return error == DiskError::never_begun || error == DiskError::cut_off ||
           error == DiskError::no_record || error == DiskError::bad_checksum;
}

std::uint64_t identity(const FooterEntry& entry, summary::KeyHash key) {
    return key.low ^ (entry.variant * 0x9e3779b97f4a7c15);
}

/// What one file holds.
struct Opened {
    boost::system::error_code error;  // of what follows, the first there is
    SegmentPtr segment;               // null: not even that
    SegmentContents contents;
    Pages<summary::KeyHash> keys;  // of its records; of tombstones, nothing
};

/// Reads files on some threads, a little ahead of whoever takes what they hold in order.
class FileReader {
public:
    FileReader(DiskCalls& calls, std::uint64_t directory_id, const std::vector<SegmentFile>& files,
               const RecoveryHooks& hooks, unsigned threads)
        : calls_(calls), directory_id_(directory_id), files_(files), hooks_(hooks) {
        slots_.resize(files.size());
        if (files.size() < 2 || threads < 2) return;  // then take() reads
        const auto most = std::min<std::size_t>(threads, files.size());
        for (std::size_t i = 0; i < most; ++i) threads_.emplace_back([this] { run(); });
    }
    ~FileReader() {
        {
            const std::lock_guard lock(mutex_);
            begun_ = files_.size();
        }
        changed_.notify_all();
        for (auto& thread : threads_) thread.join();
    }
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    /// Of the file at `at`; each once, in order.
    Opened take(std::size_t at) {
        if (threads_.empty()) return open(files_[at]);
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return slots_[at] != nullptr; });
        auto opened = std::move(*slots_[at]);
        slots_[at].reset();
        taken_ = at + 1;
        lock.unlock();
        changed_.notify_all();
        return opened;
    }

private:
    void run() {
        for (;;) {
            std::size_t at = 0;
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [this] {
                    return begun_ >= files_.size() || begun_ < taken_ + kReadAhead;
                });
                if (begun_ >= files_.size()) return;
                at = begun_++;
            }
            auto opened = std::make_unique<Opened>(open(files_[at]));
            {
                const std::lock_guard lock(mutex_);
                slots_[at] = std::move(opened);
            }
            changed_.notify_all();
        }
    }
    Opened open(const SegmentFile& file) const {
        Opened opened;
        auto segment = open_segment(calls_, file.path, RecordHome{directory_id_, file.number});
        if (!segment) {
            opened.error = segment.error();
            return opened;
        }
        opened.segment = std::move(*segment);
        auto contents = read_contents(*opened.segment);
        if (!contents) {
            opened.error = contents.error();
            return opened;
        }
        opened.contents = std::move(*contents);
        opened.keys.reserve(opened.contents.footer.entries.size());
        for (const auto& entry : opened.contents.footer.entries)
            opened.keys.push_back(is_tombstone(entry.type) ? summary::KeyHash()
                                                           : hooks_.hash_of(entry.uri));
        return opened;
    }

    DiskCalls& calls_;
    const std::uint64_t directory_id_;
    const std::vector<SegmentFile>& files_;
    const RecoveryHooks& hooks_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Opened>> slots_;
    std::size_t begun_ = 0, taken_ = 0;
    std::vector<std::thread> threads_;
};

}  // namespace

DiskResult<Recovered> recover(DiskCalls& calls, const std::filesystem::path& directory,
                              std::uint64_t directory_id, unsigned threads,
                              const RecoveryHooks& hooks) {
    const auto files = segment_files(directory);
    if (!files) return files.error();
    Recovered result;
    boost::unordered_flat_set<std::uint64_t> taken;
    std::vector<RecoveredKey> batch;
    batch.reserve(kRecoveredBatch);
    bool doubtful = false, newest = true;
    FileReader reader(calls, directory_id, *files, hooks, threads);
    for (std::size_t at = 0; at < files->size() && !hooks.stopped(); ++at) {
        const auto& file = (*files)[at];
        auto opened = reader.take(at);
        if (opened.error) {
            // A process that is killed may leave a file that it had just made.
            if (opened.error != DiskError::never_begun || !newest) {
                newest = false;
                ++(opened.error == DiskError::foreign ? result.foreign : result.unreadable);
                doubtful = true;
            }
            // What has no beginning is of no use, and beside the cap; what cannot be read may be.
            const bool unusable = !opened.segment && is_unusable(opened.error);
            if (unusable || (opened.segment && !hooks.opened(std::move(opened.segment))))
                calls.remove(file.path.c_str());
            continue;
        }
        const auto& entries = opened.contents.footer.entries;
        if (!hooks.opened(opened.segment)) {
            calls.remove(file.path.c_str());
            continue;
        }
        if (std::exchange(newest, false) && !opened.contents.damaged)
            result.last = end_of(std::move(opened.segment), opened.contents);
        result.scanned += opened.contents.sealed ? 0 : 1;
        result.torn += opened.contents.torn ? 1 : 0;
        result.damaged += opened.contents.damaged ? 1 : 0;
        doubtful = doubtful || opened.contents.damaged;
        if (at == 0) taken.reserve(entries.size() * files->size());
        for (const auto& entry : entries)
            if (is_tombstone(entry.type)) hooks.tombstone(entry);
        for (auto i = entries.size(); i-- > 0;) {
            const auto& entry = entries[i];
            if (is_tombstone(entry.type)) continue;
            const auto key = opened.keys[i];
            // What was purged has ended what was before it, too.
            const bool is_last = taken.insert(identity(entry, key)).second;
            if (!hooks.counts(entry, key)) {
                ++result.purged;
            } else if (!is_last) {
                ++result.superseded;
            } else {
                ++result.records;
                result.doubtful += doubtful ? 1 : 0;
                const auto number = file.number & ((1u << kNumberBits) - 1);
                batch.push_back({key, entry, {number, entry.sector}, doubtful});
                if (batch.size() == kRecoveredBatch) {
                    hooks.recovered(batch);
                    batch.clear();
                }
            }
        }
        if (!batch.empty()) hooks.recovered(batch);
        batch.clear();  // as its entries view what goes now
    }
    return result;
}

DiskResult<std::uint32_t> next_segment_number(const std::filesystem::path& directory) {
    const auto files = segment_files(directory);
    if (!files) return files.error();
    return files->empty() ? 1 : files->front().number + 1;
}

boost::system::error_code remove_segments(DiskCalls& calls,
                                          const std::filesystem::path& directory) {
    const auto files = segment_files(directory);
    if (!files) return files.error();
    for (const auto& file : *files)
        if (calls.remove(file.path.c_str()) != 0 && errno != ENOENT)
            return {errno, boost::system::system_category()};
    return {};
}

}  // namespace proxy
