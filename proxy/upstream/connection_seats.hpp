#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace proxy {

/// The number of open connections by key. A connection owns one seat of its key. One thread.
class ConnectionSeats {
public:
    using Seat = std::shared_ptr<const void>;

    /// Null when `most` seats of this key are taken.
    Seat take(const std::string& key, std::size_t most) {
        if (seats_.size() >= sweep_at_) {
            std::erase_if(seats_, [](const auto& entry) { return entry.second.expired(); });
            sweep_at_ = kFirstSweep + 2 * seats_.size();
        }
        auto& known = seats_[key];
        auto seat = known.lock();
        if (!seat) known = seat = std::make_shared<const Seats>();
        const auto taken = static_cast<std::size_t>(seat.use_count() - 1);
        return taken < most ? seat : nullptr;
    }

private:
    static constexpr std::size_t kFirstSweep = 64;
    struct Seats {};

    std::unordered_map<std::string, std::weak_ptr<const Seats>> seats_;
    std::size_t sweep_at_ = kFirstSweep;
};

}  // namespace proxy
