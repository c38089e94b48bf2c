#include "proxy/signals_held.hpp"

#include <signal.h>

namespace proxy {

SignalsHeld::SignalsHeld() {
    sigset_t held;
    sigemptyset(&held);
    for (const auto signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ})
        sigaddset(&held, signal);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
}

SignalsHeld::~SignalsHeld() {
    release();
}

void SignalsHeld::release() {
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace proxy
