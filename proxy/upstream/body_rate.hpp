#pragma once

#include <chrono>
#include <cstdint>

namespace proxy {

/// The rate at which bodies come from one place, weighted towards the latest. Short bodies do not
/// count. Function of the measurements.
class BodyRate {
public:
    using Duration = std::chrono::nanoseconds;

    /// A smaller sample says nothing about the way: it came with the head, or was in the socket
    /// already.
    static constexpr std::uint64_t kSampleBytes = 64 * 1024;
    static constexpr std::chrono::seconds kSampleTime{1};
    static constexpr std::uint64_t kRemembered =
        16 * 1024 * 1024;  // bytes; then they count half of all
    static constexpr std::chrono::seconds kRememberedTime{30};  // then they count half of all

    static bool is_sample(std::uint64_t bytes, Duration waited) {
        return bytes >= kSampleBytes || waited >= kSampleTime;
    }

    /// Counts `bytes` of one body, for which the fetch waited this long.
    void measured(std::uint64_t bytes, Duration waited) {
        bytes_ += bytes;
        waited_ += waited;
        while (bytes_ > kRemembered || waited_ > kRememberedTime) {
            bytes_ /= 2;
            waited_ /= 2;
        }
    }

    bool known() const { return bytes_ > 0 || waited_ > Duration::zero(); }
    /// Bytes per second, at least 1 where it is known.
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
