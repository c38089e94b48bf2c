#include "proxy/node/blocked_signals.hpp"

#include <signal.h>

namespace proxy {

BlockedSignals::BlockedSignals() {
    sigset_t blocked;
    sigemptyset(&blocked);
    for (const auto signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ})
        sigaddset(&blocked, signal);
    pthread_sigmask(SIG_BLOCK, &blocked, &before_);
}

BlockedSignals::~BlockedSignals() {
    release();
}

void BlockedSignals::release() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace proxy
