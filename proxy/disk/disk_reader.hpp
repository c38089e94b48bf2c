#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/disk/disk_threads.hpp"
#include "proxy/disk/record_body.hpp"
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
        std::uint64_t in_place_from = 16ull << 10;  // larger bodies are left where they stand
    };
    /// What is asked for: a record in a segment, as the index has it.
    struct Wanted {
        DiskPlace place;            // its sector counts here
        std::uint32_t sectors = 0;  // what it takes, or so
        bool proved = false;        // in this process: its head alone will do
    };
    using Answer = std::function<void(DiskResult<LoadedRecord>)>;

    /// The last word on each answer, in the thread that gives it; empty: none is needed.
    using Judge = std::function<DiskResult<LoadedRecord>(DiskResult<LoadedRecord>)>;

    explicit DiskReader(Config config, Judge judge = {});
    /// The end answers what waits (ending), and ends the threads.
    ~DiskReader() = default;
    DiskReader(const DiskReader&) = delete;
    DiskReader& operator=(const DiskReader&) = delete;

    /// Any thread. None when a device would have to be waited for, or it is too large for that;
    /// other_key when the record is not of `uri`. What is proved and large comes without the bytes
    /// of its body, and in_place.
    std::optional<DiskResult<LoadedRecord>> read_now(const SegmentPtr& segment,
                                                     const Wanted& wanted, std::string_view uri);
    /// Any thread. `answer` is called once, on one of the threads, or, when they end, on whoever
    /// ends them or asks then; post from there; no_record when `segment` is null. False, and it is
    /// never called, when too many wait: go on as if it were not stored.
    bool read(SegmentPtr segment, const Wanted& wanted, std::string uri, Answer answer);

    struct Stats {
        std::uint64_t at_once = 0, by_threads = 0, refused = 0;
        std::uint64_t failed = 0;  // errors of the disk, bytes that are not what they should be
        std::size_t waiting = 0;
    };
    Stats stats() const;

private:
    std::optional<DiskResult<LoadedRecord>> read_head_now(const SegmentPtr& segment,
                                                          const Wanted& wanted);
    void leave_in_place(LoadedRecord& loaded, const SegmentPtr& segment, DiskPlace place,
                        std::uint64_t at, std::uint64_t bytes);
    void leave_in_place_if_large(LoadedRecord& loaded, const SegmentPtr& segment, DiskPlace place);
    void note_failed(const boost::system::error_code& why);
    DiskResult<LoadedRecord> judged(DiskResult<LoadedRecord> loaded, std::string_view uri);

    const Config config_;
    const Judge judge_;
    std::atomic<std::uint64_t> at_once_{0}, failed_{0};
    DiskThreads threads_;  // last: they use all of the above
};

}  // namespace proxy
