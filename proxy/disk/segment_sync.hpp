#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "proxy/disk/segment.hpp"

namespace proxy {

/// Lets the device take what was sealed, on a thread of its own: a writer that waited for it would
/// have to leave out what comes meanwhile. What is still on its way is lost with the power, not
/// with the process. Any thread.
class SegmentSync {
public:
    static constexpr std::size_t kMost = 4;  // that wait; then take() waits
    /// On that thread, for each that the device did not take.
    using Failed = std::function<void(const boost::system::error_code&)>;

    explicit SegmentSync(Failed failed);
    /// As wait().
    ~SegmentSync();
    SegmentSync(const SegmentSync&) = delete;
    SegmentSync& operator=(const SegmentSync&) = delete;

    void take(SegmentPtr sealed);
    /// Until the device has, or has refused, all that was taken.
    void wait();

private:
    void run();

    const Failed failed_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<SegmentPtr> waiting_;  // the first one is being taken
    bool ending_ = false;
    std::thread thread_;  // last: it uses all of the above
};

}  // namespace proxy
