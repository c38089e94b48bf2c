#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/disk/disk_status.hpp"
#include "proxy/disk/disk_threads.hpp"
#include "proxy/disk/record_body.hpp"
#include "proxy/disk/segment.hpp"

namespace proxy {

/// Reads the records of one directory. It reads the page cache at once and leaves the device to a
/// few threads. Every byte that it returns has been verified.
class DiskReader {
public:
    struct Config {
        unsigned threads = 4;
        std::size_t queue = 256;                    // reads that may wait
        std::uint64_t at_once_bytes = 64ull << 10;  // larger records go to the threads
        std::uint64_t in_place_from = 16ull << 10;  // larger bodies stay in their segment
    };
    /// A record to read, as the index describes it.
    struct RecordRequest {
        RecordLocation place;       // only the sector is used
        std::uint32_t sectors = 0;  // its approximate size
        bool proved = false;        // verified by this process, so its head suffices
    };
    using Answer = std::function<void(DiskResult<LoadedRecord>)>;

    /// May replace an answer, on the thread that gives it. Empty: answers stay as they are.
    using Judge = std::function<DiskResult<LoadedRecord>(DiskResult<LoadedRecord>)>;

    explicit DiskReader(Config config, Judge judge = {});
    /// Answers pending reads with DiskError::ending and ends the threads.
    ~DiskReader() = default;
    DiskReader(const DiskReader&) = delete;
    DiskReader& operator=(const DiskReader&) = delete;

    /// Answers pending reads with DiskError::ending; those under way go on.
    void begin_end() { threads_.begin_end(); }

    /// Any thread. Empty if a device would have to be awaited, or the record is too large;
    /// other_key if the record has another URI. A large record that was verified before comes as a
    /// head, with its body in_place.
    std::optional<DiskResult<LoadedRecord>> read_now(const SegmentPtr& segment,
                                                     const RecordRequest& wanted,
                                                     std::string_view uri);
    /// Any thread. `answer` is called once, on a thread of the reader; at the end it is called on
    /// the thread that ends the reader, or on the caller's. The receiver posts from there. It gets
    /// no_record if `segment` is null. False if too many reads wait: then `answer` is never called,
    /// and the caller treats it as a miss.
    bool read(SegmentPtr segment, const RecordRequest& wanted, std::string uri, Answer answer);

    struct Stats : DiskReaderCounters {
        std::size_t waiting = 0;
        std::optional<std::chrono::steady_clock::time_point> oldest = {};  // DiskThreads::Stats
    };
    Stats stats() const;

private:
    std::optional<DiskResult<LoadedRecord>> read_head_now(const SegmentPtr& segment,
                                                          const RecordRequest& wanted);
    void leave_in_place(LoadedRecord& loaded, const SegmentPtr& segment, RecordLocation place,
                        std::uint64_t at, std::uint64_t bytes);
    void leave_in_place_if_large(LoadedRecord& loaded, const SegmentPtr& segment,
                                 RecordLocation place);
    void note_failed(const boost::system::error_code& why);
    DiskResult<LoadedRecord> judged(DiskResult<LoadedRecord> loaded, std::string_view uri);

    const Config config_;
    const Judge judge_;
    std::atomic<std::uint64_t> at_once_{0}, failed_{0};
    DiskThreads threads_;  // last, as they use all other members
};

}  // namespace proxy
