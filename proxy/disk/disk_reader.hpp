#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "proxy/disk/segment.hpp"

namespace proxy {

/// Reads records of one directory without keeping its callers waiting for a device: what the page
/// cache has is read at once, all else by a few threads. Every byte that is given has been proved.
class DiskReader {
public:
    struct Config {
        unsigned threads = 4;
        std::size_t queue = 256;                    // questions that wait, at most
        std::uint64_t at_once_bytes = 64ull << 10;  // larger records go to the threads
    };
    using Answer = std::function<void(DiskResult<LoadedRecord>)>;

    /// The last word on each answer, in the thread that gives it; empty: none is needed.
    using Judge = std::function<DiskResult<LoadedRecord>(DiskResult<LoadedRecord>)>;

    explicit DiskReader(Config config, Judge judge = {});
    /// Answers what waits (ending), and ends the threads.
    ~DiskReader();
    DiskReader(const DiskReader&) = delete;
    DiskReader& operator=(const DiskReader&) = delete;

    /// Any thread. None when a device would have to be waited for, or it is too large for that;
    /// other_key when the record is not of `uri`.
    std::optional<DiskResult<LoadedRecord>> read_now(const SegmentPtr& segment,
                                                     std::uint32_t sector, std::uint32_t sectors,
                                                     std::string_view uri);
    /// Any thread. `answer` is called once, on one of the threads; post from there; no_record when
    /// `segment` is null. False, and it
    /// is never called, when too many wait: go on as if it were not stored.
    bool read(SegmentPtr segment, std::uint32_t sector, std::uint32_t sectors, std::string uri,
              Answer answer);

    struct Stats {
        std::uint64_t at_once = 0, by_threads = 0, refused = 0;
        std::uint64_t failed = 0;  // errors of the disk, bytes that are not what they should be
        std::size_t waiting = 0;
    };
    Stats stats() const;

private:
    struct Question {
        SegmentPtr segment;
        std::uint32_t sector = 0, sectors = 0;
        std::string uri;
        Answer answer;
    };
    void run();
    DiskResult<LoadedRecord> judged(DiskResult<LoadedRecord> loaded, std::string_view uri);

    const Config config_;
    const Judge judge_;
    std::atomic<std::uint64_t> at_once_{0}, failed_{0};
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Question> queue_;
    bool ending_ = false;
    Stats stats_;
    std::vector<std::thread> threads_;
};

}  // namespace proxy
