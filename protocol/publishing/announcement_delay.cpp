#include "protocol/publishing/announcement_delay.hpp"

#include <algorithm>

namespace protocol {

void AnnouncementDelay::changed(ChangeKind what, TimePoint now) {
    if (!first_) first_ = now;
    if (what == ChangeKind::removal && !first_removal_) first_removal_ = now;
    if (what != ChangeKind::news) return;
    if (!first_news_) first_news_ = latest_news_ = now;
    waited_ += static_cast<double>(news_) * Seconds(now - latest_news_);
    latest_news_ = now;
    ++news_;
}

void AnnouncementDelay::announced() {
    const auto hurries_until = hurries_until_;
    *this = AnnouncementDelay(delay_);
    hurries_until_ = hurries_until;
}

AnnouncementDelay::TimePoint AnnouncementDelay::due() const {
    auto due = *first_ + copies_wait();
    if (first_removal_) due = std::min(due, *first_removal_ + delay_);
    return first_news_ ? std::min(due, news_due()) : due;
}

AnnouncementDelay::TimePoint AnnouncementDelay::news_due() const {
    if (*first_news_ < hurries_until_) return *first_news_;
    const Seconds most(delay_);
    const auto left =
        std::clamp((2 * most - waited_) / static_cast<double>(news_), Seconds(0), most);
    return std::clamp(latest_news_ + std::chrono::duration_cast<Duration>(left),
                      *first_news_ + delay_ / 3, *first_news_ + delay_);
}

AnnouncementDelay::Duration AnnouncementDelay::copies_wait() const {
    constexpr Duration kLongest = std::chrono::minutes(1);
    return std::max(delay_, std::min(kLongest, 15 * std::min(delay_, kLongest)));
}

}  // namespace protocol
