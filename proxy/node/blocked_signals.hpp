#pragma once

#include <csignal>

namespace proxy {

/// Blocks the signals that a node handles, because they would end the process before their handlers
/// are in place. release() or the destructor delivers them. Affects the calling thread, and threads
/// that it starts in between.
class BlockedSignals {
public:
    BlockedSignals();
    ~BlockedSignals();
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

    /// Call it when the handlers are in place.
    void release();

private:
    sigset_t before_{};
};

}  // namespace proxy
