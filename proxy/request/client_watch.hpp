#pragma once

#include <chrono>

#include "base/async/timer_wheel.hpp"
#include "proxy/request/disconnect_detector.hpp"
#include "proxy/request/transaction.hpp"
#include "proxy/upstream/exchange.hpp"

namespace proxy {

/// Ends an exchange when its client leaves while the origin is waited for. One thread; transaction
/// and exchange outlive it.
class ClientWatch final : base::TimerWheel::Timer {
public:
    ClientWatch(Transaction& transaction, Exchange& exchange)
        : transaction_(transaction), exchange_(exchange) {}

    void begin() {
        transaction_.service.wheel.arm(*this,
                                       base::TimerWheel::Clock::now() + DisconnectDetector::kLook);
    }
    void end() { transaction_.service.wheel.disarm(*this); }
    bool client_left() const { return left_; }

private:
    void expire() override {
        if (!transaction_.writer.client_has_left()) return begin();
        left_ = true;
        exchange_.abandon();
    }

    Transaction& transaction_;
    Exchange& exchange_;
    bool left_ = false;
};

}  // namespace proxy
