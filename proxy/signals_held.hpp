#pragma once

#include <csignal>

namespace proxy {

/// Holds back the signals that a node handles while it starts: without handlers they would end the
/// process. They are delivered at release(), or at the end of this. Affects the calling thread and
/// the threads that it starts meanwhile.
class SignalsHeld {
public:
    SignalsHeld();
    ~SignalsHeld();
    SignalsHeld(const SignalsHeld&) = delete;
    SignalsHeld& operator=(const SignalsHeld&) = delete;

    /// The handlers are in place.
    void release();

private:
    sigset_t before_{};
};

}  // namespace proxy
