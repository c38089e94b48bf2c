#pragma once

#include <chrono>
#include <cstdint>

namespace proxy {

/// How fast bodies come from one place, by those that were long enough to tell. The latest count
/// most. Function of the measurements.
class BodyRate {
public:
    using Duration = std::chrono::nanoseconds;

    /// What came with the head, or was in the socket already, says nothing of the way.
    static constexpr std::uint64_t kSampleBytes = 64 * 1024;
    static constexpr std::chrono::seconds kSampleTime{1};
    static constexpr std::uint64_t kRemembered = 16 * 1024 * 1024;  // bytes; then half of all
    static constexpr std::chrono::seconds kRememberedTime{30};      // likewise

    static bool is_sample(std::uint64_t bytes, Duration waited) {
        return bytes >= kSampleBytes || waited >= kSampleTime;
    }

    /// So many bytes of one body, for which this was waited.
    void measured(std::uint64_t bytes, Duration waited) {
        bytes_ += bytes;
        waited_ += waited;
        while (bytes_ > kRemembered || waited_ > kRememberedTime) {
            bytes_ /= 2;
            waited_ /= 2;
        }
    }

    bool known() const { return bytes_ > 0 || waited_ > Duration::zero(); }
    /// Bytes per second; not below 1 where it is known.
    std::uint64_t per_second() const {
        const auto seconds = std::chrono::duration<double>(waited_ + kLeastTime).count();
        return 1 + static_cast<std::uint64_t>(static_cast<double>(bytes_) / seconds);
    }

private:
    static constexpr std::chrono::microseconds kLeastTime{100};  // a clock is no finer

    std::uint64_t bytes_ = 0;
    Duration waited_{0};
};

}  // namespace proxy
