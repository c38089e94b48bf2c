#pragma once

#include <atomic>
#include <chrono>
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

/// One directory of the disk tier: what is in it, what it was told to forget, its threads, and what
/// becomes of it when the disk fails. One thread of its own reads what there is at the start and
/// then writes; reading has a few more. Places go out with the directory's index in them. Any
/// thread; no call waits for the disk but the constructor, wait_for_end(), the destructor and
/// set_company().
class DiskDirectory {
public:
    using Clock = std::chrono::steady_clock;
    struct Config {
        std::filesystem::path path;
        unsigned index = 0;  // among all
        bool alone = false;  // there is no other: when it fails, it is tried again
        /// Why it begins off, of which the others know; empty: it does not.
        std::string trouble;
        std::uint64_t cap_bytes = 0, segment_bytes = 0;
        std::uint64_t secret_mark = 0;
        std::chrono::milliseconds retry{60'000};
        std::function<std::string(const std::filesystem::path&)> prepare =
            {};  // as DiskTier has it
        DiskWriter::Config writer;
        DiskReader::Config reader;
    };
    /// What it asks of whoever has all directories, on its own thread.
    struct Hooks {
        /// Records of this key belong here.
        std::function<bool(summary::KeyHash)> is_home;
        /// It goes off: the others are to know at the next start. False when none of them does.
        std::function<bool()> goes_off;
    };
    /// Without Config::trouble `super` is taken. Errors as of next_segment_number(), thrown as
    /// boost::system::system_error.
    DiskDirectory(DiskCalls& calls, Config config, SuperFile super, DiskOwner& owner, Hooks hooks);
    /// Writes what waits, seals, answers what is being asked with DiskError::ending.
    ~DiskDirectory();
    DiskDirectory(const DiskDirectory&) = delete;
    DiskDirectory& operator=(const DiskDirectory&) = delete;

    void start();
    /// What the destructor does, for several side by side: first this for all, then that.
    void begin_end();
    void wait_for_end();
    bool is_loading() const { return state_ == State::loading; }
    bool is_off() const { return state_ == State::off; }
    /// As much as SecondRequest::kRoomPart says is free, or two segments if that is more; false
    /// while it is not ready.
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

    /// Notes in its super file who is there now, and waits for the device. False when that could
    /// not be written.
    bool set_company(const SuperFile::Company& company);

private:
    enum class State : std::uint8_t { loading, ready, off };

    void run();
    void load();
    RecoveryHooks recovery_hooks();
    Reclaiming reclaiming();
    bool is_still_ours();
    void step();
    void go_off();
    void stay_off();
    bool come_back();
    void finish();

    bool covers(std::uint64_t seq, summary::KeyHash key,
                std::span<const summary::KeyHash> tags) const;
    void note(const FooterEntry& tombstone);
    DiskResult<LoadedRecord> judge(DiskResult<LoadedRecord> loaded);
    void tell();
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
    std::atomic<std::uint64_t> refused_off_{0};

    std::mutex order_;  // of what is pushed
    std::uint64_t seq_ = 0;

    mutable std::mutex tombstones_mutex_;
    Tombstones tombstones_;
    std::atomic<std::uint64_t> newest_tombstone_{0};

    mutable std::mutex trouble_mutex_;  // for the next four
    FaultWindow faults_;
    std::string last_error_;
    RecoveredCounts recovered_;
    double loading_seconds_ = 0;

    // These five are thread_'s.
    bool partly_loaded_ = false;
    /// What it holds counts at no further start: it says so itself, or others do.
    bool is_disowned_ = false;
    /// Who is told that nothing of what they ended comes back, once that is so.
    std::vector<std::function<void()>> untold_;
    // What a later take of the super file goes on from, which may be another's.
    SuperFile::Company company_;
    std::uint32_t run_ = 0;
    SegmentLog log_;
    DiskWriter writer_;
    DiskReader reader_;
    SegmentSync sync_;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace proxy
