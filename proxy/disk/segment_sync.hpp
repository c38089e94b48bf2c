#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "proxy/disk/segment.hpp"

namespace proxy {

/// Writes sealed segments through to the device, on a thread of its own, so that the writer goes on
/// meanwhile. A segment on its way survives the end of the process; a loss of power may take it.
/// Any thread.
class SegmentSync {
public:
    static constexpr std::size_t kMost = 4;  // segments in the queue; then take() waits
    /// Called on that thread for each segment that the device refused.
    using Failed = std::function<void(const boost::system::error_code&)>;

    explicit SegmentSync(Failed failed);
    /// As wait().
    ~SegmentSync();
    SegmentSync(const SegmentSync&) = delete;
    SegmentSync& operator=(const SegmentSync&) = delete;

    void take(SegmentPtr sealed);
    /// Waits until the device has taken or refused all segments so far.
    void wait();
    /// The begin of the call that waits for the device; none: no call does.
    std::optional<std::chrono::steady_clock::time_point> since() const;

private:
    void run();

    const Failed failed_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<SegmentPtr> waiting_;  // the first one is under way
    std::optional<std::chrono::steady_clock::time_point> since_;
    bool ending_ = false;
    std::thread thread_;  // last, as it uses all other members
};

}  // namespace proxy
