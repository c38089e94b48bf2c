#include "proxy/disk/recovery.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/disk/live_records.hpp"
#include "proxy/disk/pages.hpp"

namespace proxy {
namespace {

constexpr std::size_t kReadAhead = 5;  // segments that are read ahead of the one in use

/// The file belongs to this cache, and its content is lost.
bool is_unusable(const boost::system::error_code& error) {
    return error == DiskError::never_begun || error == DiskError::cut_off ||
           error == DiskError::no_record || error == DiskError::bad_length ||
           error == DiskError::bad_checksum;
}

std::uint64_t identity(const FooterEntry& entry, summary::KeyHash key) {
    return key.low ^ (entry.variant * 0x9e3779b97f4a7c15);
}

/// The content of one file.
struct FileContent {
    boost::system::error_code error;  // the first error of the members below
    SegmentPtr segment;               // null if it could not be opened
    SegmentContents contents;
    Pages<summary::KeyHash> keys;  // of its records; empty for a tombstone
};

/// Reads files on some threads, a little ahead of the caller, who takes the contents in order.
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

    /// Takes the content of the file at `at`. To be called once for each file, in order.
    FileContent take(std::size_t at) {
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
            auto opened = std::make_unique<FileContent>(open(files_[at]));
            {
                const std::lock_guard lock(mutex_);
                slots_[at] = std::move(opened);
            }
            changed_.notify_all();
        }
    }
    FileContent open(const SegmentFile& file) const {
        FileContent opened;
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
    std::vector<std::unique_ptr<FileContent>> slots_;
    std::size_t begun_ = 0, taken_ = 0;
    std::vector<std::thread> threads_;
};

/// Goes through the contents of the files, the newest first.
class Recovery {
public:
    Recovery(DiskCalls& calls, const RecoveryHooks& hooks, std::size_t files)
        : calls_(calls), hooks_(hooks), files_(files) {
        batch_.reserve(kRecoveredBatch);
    }

    void take(const SegmentFile& file, FileContent opened) {
        if (opened.error) return take_unreadable(file, std::move(opened));
        if (!hooks_.opened(opened.segment)) return remove(file);
        const auto& contents = opened.contents;
        if (std::exchange(newest_, false)) {
            if (!contents.damaged) result_.last = end_of(std::move(opened.segment), contents);
            live_records_.expect(contents.footer.entries.size() * files_);
        }
        result_.found_unsealed += contents.sealed ? 0 : 1;
        result_.recovered_torn += contents.torn ? 1 : 0;
        result_.found_damaged += contents.damaged ? 1 : 0;
        doubtful_ = doubtful_ || contents.damaged;
        const auto& entries = contents.footer.entries;
        for (const auto& entry : entries)
            if (is_tombstone(entry.type)) hooks_.tombstone(entry);
        for (auto i = entries.size(); i-- > 0;)
            if (!is_tombstone(entries[i].type)) take(file, entries[i], opened.keys[i]);
        give();  // the batch views `opened`, which ends here
    }
    RecoveryResult result() && { return std::move(result_); }

private:
    void take_unreadable(const SegmentFile& file, FileContent opened) {
        // A kill may leave the newest file empty.
        if (opened.error != DiskError::never_begun || !newest_) {
            newest_ = false;
            ++(opened.error == DiskError::foreign ? result_.found_foreign
                                                  : result_.found_unreadable);
            doubtful_ = true;
        }
        // A file without a header is useless and takes room beside the cap. A file that the system
        // cannot read at present may be good.
        const bool unusable = !opened.segment && is_unusable(opened.error);
        if (unusable || (opened.segment && !hooks_.opened(std::move(opened.segment)))) remove(file);
    }
    void take(const SegmentFile& file, const FooterEntry& entry, summary::KeyHash key) {
        switch (live_records_.judge(identity(entry, key), !hooks_.counts(entry, key))) {
            case LiveRecords::Standing::purged:
                ++result_.purged;
                return;
            case LiveRecords::Standing::superseded:
                ++result_.superseded;
                return;
            case LiveRecords::Standing::counts:
                break;
        }
        ++result_.recovered;
        result_.recovered_doubtful += doubtful_ ? 1 : 0;
        batch_.push_back({key, entry, {place_number(file.number), entry.sector}, doubtful_});
        if (batch_.size() == kRecoveredBatch) give();
    }
    void give() {
        if (!batch_.empty()) hooks_.recovered(batch_);
        batch_.clear();
    }
    void remove(const SegmentFile& file) { (void)remove_file(calls_, file.path); }

    DiskCalls& calls_;
    const RecoveryHooks& hooks_;
    const std::size_t files_;
    RecoveryResult result_;
    LiveRecords live_records_;
    Pages<RecoveredKey> batch_;
    bool newest_ = true;     // all files so far were empty
    bool doubtful_ = false;  // a file so far has lost something
};

}  // namespace

DiskResult<RecoveryResult> recover(DiskCalls& calls, const std::filesystem::path& directory,
                                   std::uint64_t directory_id, unsigned threads,
                                   const RecoveryHooks& hooks) {
    const auto files = segment_files(directory);
    if (!files) return files.error();
    Recovery recovery(calls, hooks, files->size());
    FileReader reader(calls, directory_id, *files, hooks, threads);
    for (std::size_t at = 0; at < files->size() && !hooks.stopped(); ++at)
        recovery.take((*files)[at], reader.take(at));
    return std::move(recovery).result();
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
        if (const auto error = remove_file(calls, file.path)) return error;
    return {};
}

}  // namespace proxy
