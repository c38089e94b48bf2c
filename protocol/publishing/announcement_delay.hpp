#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace protocol {

/// The kinds of change of a summary, by the cost of a late announcement.
enum class ChangeKind : std::uint8_t {
    news,     // a key that no peer announces: until then each peer that wants it misses it
    copy,     // a key that a peer announces as well, so all can find it
    removal,  // until then a peer that wants the key makes one request in vain
};

/// So long news hurries after some that came too late.
inline constexpr std::chrono::minutes kHurry{10};

/// Decides how long unannounced changes wait. All times are arguments. One thread.
///
/// A change costs a message to each peer if it is announced alone. A waiting piece of news costs a
/// false miss with a chance that grows with time. So news is due when its waiting times, added up,
/// have reached twice `delay`, but after `delay` at the latest and a third of it at the earliest.
/// An announcement is due when waiting has cost as much as the message, as in the problem of
/// delayed TCP acknowledgements (Dooly, Goldman, Scott 2001). Removals are due after `delay`, and
/// copies after fifteen times `delay`: up to a minute, or `delay` if that is longer.
///
/// News came too late when a peer has announced the same key meanwhile: both have fetched what one
/// could have taken from the other. News of the next kHurry is then due at once.
class AnnouncementDelay {
public:
    using TimePoint = std::chrono::steady_clock::time_point;
    using Duration = std::chrono::nanoseconds;

    explicit AnnouncementDelay(Duration delay) : delay_(delay) {}

    void changed(ChangeKind what, TimePoint now);
    /// All changes are announced.
    void announced();
    /// News has come too late.
    void was_late(TimePoint now) { hurries_until_ = now + kHurry; }

    bool waits() const { return first_.has_value(); }
    /// The time of the first change. Precondition: waits().
    TimePoint first() const { return *first_; }
    /// The time by which the changes should be announced. Precondition: waits().
    TimePoint due() const;

private:
    using Seconds = std::chrono::duration<double>;

    TimePoint news_due() const;
    Duration copies_wait() const;

    Duration delay_;
    std::optional<TimePoint> first_, first_news_, first_removal_;
    TimePoint latest_news_{};
    TimePoint hurries_until_{};
    std::uint64_t news_ = 0;
    Seconds waited_{0};  // by all news together, until latest_news_
};

}  // namespace protocol
