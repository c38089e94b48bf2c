#include "proxy/telemetry/rate_limited_log.hpp"

#include <utility>

namespace proxy {

std::optional<std::string> RateLimitedLog::admit(std::string_view subject, Time now) {
    if (now >= round_ends_) {
        round_ends_ = now + kPause;
        lines_ = 0;
    }
    auto known = subjects_.find(subject);
    if (known != subjects_.end() && now < known->second.quiet_until) {
        ++known->second.left_out;
        return std::nullopt;
    }
    if (lines_ >= kLinesAtMost) {
        ++left_out_;
        return std::nullopt;
    }
    if (known == subjects_.end()) {
        if (subjects_.size() >= kMaxSubjects) {
            for (const auto& [name, rests] : subjects_)
                if (now >= rests.quiet_until) left_out_ += rests.left_out;
            std::erase_if(subjects_,
                          [&](const auto& each) { return now >= each.second.quiet_until; });
        }
        known = subjects_.emplace(subject, Subject{}).first;
    }
    ++lines_;
    known->second.quiet_until = now + kPause;
    const auto more = std::exchange(known->second.left_out, 0);
    const auto others = std::exchange(left_out_, 0);
    std::string text;
    if (more > 0) text = " (" + std::to_string(more) + " more were not logged)";
    if (others > 0) text += " (" + std::to_string(others) + " about others were not logged)";
    return text;
}

}  // namespace proxy
