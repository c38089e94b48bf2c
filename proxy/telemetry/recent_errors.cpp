#include "proxy/telemetry/recent_errors.hpp"

#include <algorithm>
#include <utility>

namespace proxy {
namespace {

constexpr std::string_view kCutMark = "...";

}  // namespace

void RecentErrors::note(std::chrono::system_clock::time_point at, bool is_error,
                        std::string_view text) {
    const std::lock_guard lock(mutex_);
    auto& line = lines_[noted_++ % kLines];
    line.at = at;
    line.is_error = is_error;
    const auto fits = text.size() <= kLineBytes;
    const auto kept = fits ? text.size() : kLineBytes - kCutMark.size();
    const auto end = std::copy_n(text.begin(), kept, line.text.begin());
    if (!fits) std::copy(kCutMark.begin(), kCutMark.end(), end);
    line.bytes = static_cast<std::uint16_t>(fits ? kept : kLineBytes);
}

std::vector<RecentErrors::Line> RecentErrors::lines() const {
    const std::lock_guard lock(mutex_);
    std::vector<Line> all;
    const auto count = std::min<std::uint64_t>(noted_, kLines);
    for (std::uint64_t i = 1; i <= count; ++i) {
        const auto& line = lines_[(noted_ - i) % kLines];
        all.push_back({line.at, line.is_error, std::string(line.text.data(), line.bytes)});
    }
    return all;
}

RecentErrorsSink::RecentErrorsSink(std::shared_ptr<RecentErrors> lines) : lines_(std::move(lines)) {
    set_level(spdlog::level::warn);
}

void RecentErrorsSink::log(const spdlog::details::log_msg& message) {
    lines_->note(message.time, message.level >= spdlog::level::err,
                 {message.payload.data(), message.payload.size()});
}

}  // namespace proxy
