#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "proxy/disk/disk_owner.hpp"
#include "proxy/disk/disk_reader.hpp"
#include "proxy/disk/disk_status.hpp"
#include "proxy/disk/disk_writer.hpp"
#include "proxy/disk/fault_window.hpp"
#include "proxy/disk/segment_sync.hpp"
#include "proxy/disk/super_file.hpp"
#include "proxy/disk/tombstones.hpp"

namespace proxy {

/// One directory of the disk tier: its segments, its tombstones, its threads, and its way through
/// failures of the disk. One thread reads the content at the start and writes from then on;
/// DiskReader has a few more. The places that it gives to others contain the index of the
/// directory.
///
/// Any thread. Only the constructor, wait_for_end(), the destructor and set_company() wait for the
/// disk.
class DiskDirectory {
public:
    using Clock = std::chrono::steady_clock;
    struct Config {
        std::filesystem::path path;
        unsigned index = 0;  // among all
        bool alone = false;  // the only one, so it is tried again after a failure
        /// The reason to start in the state off, which the other directories have noted. Empty: it
        /// starts normally.
        std::string trouble;
        std::uint64_t cap_bytes = 0, segment_bytes = 0;
        std::uint64_t secret_mark = 0;
        std::chrono::milliseconds retry{60'000}, stalled_after{10'000};
        std::function<std::string(const std::filesystem::path&)> prepare =
            {};  // as DiskTier has it
        DiskWriter::Config writer;
        DiskReader::Config reader;
    };
    /// Questions and reports to the owner of all directories. Called on the thread of the
    /// directory.
    struct Hooks {
        /// Records of this key belong here.
        std::function<bool(summary::KeyHash)> is_home;
        /// The directory goes off. True if another one has noted that for the next start.
        std::function<bool()> goes_off;
    };
    /// Moves `super` in, unless Config::trouble is set. Throws the errors of next_segment_number()
    /// as boost::system::system_error.
    DiskDirectory(DiskCalls& calls, Config config, SuperFile super, DiskOwner& owner, Hooks hooks);
    /// Writes the queue, seals the last segment, and answers pending reads with DiskError::ending.
    ~DiskDirectory();
    DiskDirectory(const DiskDirectory&) = delete;
    DiskDirectory& operator=(const DiskDirectory&) = delete;

    void start();
    /// The two halves of the destructor, for an owner that ends several directories side by side:
    /// begin_end() for all of them, then wait_for_end() for each.
    void begin_end();
    void wait_for_end();
    bool is_loading() const { return state_ == State::loading; }
    bool is_off() const { return state_ == State::off; }
    /// The part that SecondRequest::kRoomPart names is free, or two segments if these are larger.
    /// False until the directory is ready.
    bool has_room() const;

    /// As DiskTier has them.
    bool write(DiskWriter::Job job);
    void end(std::span<const summary::KeyHash> hashes, std::function<void()> written);
    void end_all(std::function<void()> written);
    std::optional<DiskResult<LoadedRecord>> read_now(const DiskReader::Wanted& wanted,
                                                     std::string_view uri);
    bool read(const DiskReader::Wanted& wanted, std::string uri, DiskReader::Answer answer);

    void set_cap(std::uint64_t bytes);
    DiskStatus status() const;

    /// Writes the present company into the super file and waits for the device. False if that
    /// failed.
    bool set_company(const SuperFile::Company& company);

private:
    enum class State : std::uint8_t { loading, ready, off };

    void run();
    void load();
    RecoveryHooks recovery_hooks();
    Reclaiming reclaiming();
    /// The time for which one of the threads has waited for the device.
    Clock::duration longest_wait() const;
    void works_on();
    void rests();
    void say_what_the_end_waits_for() const;
    bool is_still_ours();
    void step();
    void go_off();
    void stay_off();
    bool come_back();
    void finish();

    bool covers(std::uint64_t seq, summary::KeyHash key, std::string_view uri,
                std::span<const summary::KeyHash> tags) const;
    void note(const FooterEntry& tombstone);
    DiskResult<LoadedRecord> judge(DiskResult<LoadedRecord> loaded);
    void confirm();
    void push_tombstone(RecordType type, std::span<const summary::KeyHash> hashes,
                        std::function<void()> written);
    void note_trouble(std::string what);
    void note_error(const boost::system::error_code& error, std::string_view what);

    DiskCalls& calls_;
    const Config config_;
    DiskOwner& owner_;
    const Hooks hooks_;

    std::mutex super_mutex_;
    SuperFile super_;

    std::atomic<State> state_{State::loading};
    std::atomic<bool> ending_{false}, failing_{false};
    std::atomic<Clock::rep> busy_since_{0};  // thread_, with the disk; 0: it rests
    mutable std::mutex ended_mutex_;
    std::condition_variable ended_changed_;
    bool ended_ = false;  // the work of thread_
    std::atomic<std::uint64_t> refused_off_{0};

    std::mutex order_;  // of pushes
    std::uint64_t seq_ = 0;

    mutable std::mutex tombstones_mutex_;
    Tombstones tombstones_;
    std::atomic<std::uint64_t> newest_tombstone_{0};
    std::atomic<bool> has_prefixes_{false};  // a tombstone is, or was, that of a prefix

    mutable std::mutex trouble_mutex_;  // for the next six
    FaultWindow faults_;
    std::string last_error_;
    std::chrono::steady_clock::time_point last_error_at_{};
    bool last_error_is_full_ = false;
    RecoveredCounts recovered_;
    double loading_seconds_ = 0;

    // Only thread_ uses the next five.
    bool partly_loaded_ = false;
    /// The content is discarded at the next start: the super file says so, or those of the others.
    bool is_disowned_ = false;
    /// Confirmations of purges whose records could still come back. They are called once that is
    /// excluded.
    std::vector<std::function<void()>> unconfirmed_;
    // The state from which a later SuperFile::take() continues. The file itself may belong to
    // another process by then.
    SuperFile::Company company_;
    std::uint32_t instance_ = 0;
    SegmentLog log_;
    DiskWriter writer_;
    DiskReader reader_;
    SegmentSync sync_;
    std::thread thread_;  // last, as it uses all other members
};

}  // namespace proxy
