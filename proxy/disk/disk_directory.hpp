#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/disk/directory_ownership.hpp"
#include "proxy/disk/directory_purges.hpp"
#include "proxy/disk/directory_thread.hpp"
#include "proxy/disk/disk_owner.hpp"
#include "proxy/disk/disk_reader.hpp"
#include "proxy/disk/disk_status.hpp"
#include "proxy/disk/disk_writer.hpp"
#include "proxy/disk/error_history.hpp"
#include "proxy/disk/segment_sync.hpp"

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
        std::uint64_t secret_id = 0;
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
    /// The part that AdmissionFilter::kRoomPart names is free, or two segments if these are larger.
    /// False until the directory is ready.
    bool has_room() const;

    /// As DiskTier has them.
    bool write(DiskWriter::Job job);
    void end(std::span<const summary::KeyHash> hashes, std::function<void()> written);
    void end_all(std::function<void()> written);
    std::optional<DiskResult<LoadedRecord>> read_now(const DiskReader::RecordRequest& wanted,
                                                     std::string_view uri);
    bool read(const DiskReader::RecordRequest& wanted, std::string uri, DiskReader::Answer answer);

    void set_cap(std::uint64_t bytes);
    DiskStatus status() const;

    /// Writes the present company into the super file and waits for the device. False if that
    /// failed.
    bool set_company(const SuperFile::DirectorySet& company);

private:
    enum class State : std::uint8_t { loading, ready, off };

    /// The result of the recovery, for the status.
    struct Loaded {
        mutable std::mutex mutex;
        DiskRecoveryCounters counts;
        double seconds = 0;
    };

    void run();
    /// True if the whole directory was read, before the end began.
    bool load();
    RecoveryHooks recovery_hooks();
    ReclaimHooks reclaim_hooks();
    /// The time for which one of the threads has waited for the device.
    Clock::duration longest_wait() const;
    void say_what_the_end_waits_for() const;
    void say_what_the_end_loses(std::string_view why) const;
    void step();
    void go_off();
    void stay_off();
    bool come_back();
    void finish(bool was_loaded);

    void note(const FooterEntry& tombstone);
    DiskResult<LoadedRecord> judge(DiskResult<LoadedRecord> loaded);
    void push_tombstone(RecordType type, std::span<const summary::KeyHash> hashes,
                        std::function<void()> written);
    void note_error(const boost::system::error_code& error, std::string_view what);

    DiskCalls& calls_;
    const Config config_;
    DiskOwner& owner_;
    const Hooks hooks_;

    DirectoryOwnership ownership_;
    std::atomic<State> state_{State::loading};
    std::atomic<bool> ending_{false};

    std::mutex order_;  // of pushes
    std::uint64_t seq_ = 0;
    DirectoryPurges purges_;
    ErrorHistory errors_;
    Loaded loaded_;

    SegmentLog log_;
    DiskWriter writer_;
    DiskReader reader_;
    SegmentSync sync_;
    DirectoryThread thread_;  // last, as it uses all other members
};

}  // namespace proxy
