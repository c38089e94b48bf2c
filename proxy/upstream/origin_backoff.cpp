#include "proxy/upstream/origin_backoff.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace proxy {

bool OriginBackoff::may_ask(const std::string& place, Time now) {
    const auto found = places_.find(place);
    if (found == places_.end()) return true;
    auto& pause = found->second;
    if (now < pause.until) return false;
    pause.until = now + pause.length;
    pause.is_stated = false;
    return true;
}

OriginBackoff::Pause* OriginBackoff::find(const std::string& place, Time now) {
    const auto found = places_.find(place);
    if (found != places_.end()) return &found->second;
    if (places_.size() >= kMaxBackoffs) {
        std::erase_if(places_, [now](const auto& entry) { return entry.second.until < now; });
        if (places_.size() >= kMaxBackoffs) return nullptr;
    }
    return &places_[place];
}

void OriginBackoff::refused(const std::string& place,
                            std::optional<std::chrono::seconds> retry_after, Time began, Time now) {
    auto* const pause = find(place, now);
    if (pause == nullptr) return;
    const auto is_first = pause->length.count() == 0;
    const auto is_news = is_first || began >= pause->noted;
    if (!is_news && !retry_after) return;
    pause->is_slow = false;
    if (is_news)
        pause->length = is_first ? kBackoffFirst : std::min(2 * pause->length, kBackoffMost);
    pause->noted = now;
    // A place may ask for a pause of 0 s.
    const auto length =
        retry_after ? std::clamp<std::chrono::seconds>(*retry_after, kBackoffFirst, kRetryAfterMost)
                    : pause->length;
    pause->until = std::max(pause->until, now + length);
    pause->is_stated = pause->is_stated || retry_after.has_value();
}

void OriginBackoff::failed_slowly(const std::string& place, const std::string& resource, Time began,
                                  Time now) {
    refused(resource, std::nullopt, began, now);
    auto* const own = find(resource, now);
    auto* const pause = find(place, now);
    if (own == nullptr || pause == nullptr) return;
    own->is_slow = true;
    const auto hash = std::hash<std::string>()(resource);
    if (std::exchange(pause->last, hash) != hash) ++pause->slow;
    if (pause->slow < kSlowResources) return;
    refused(place, std::nullopt, began, now);
    pause->is_slow = true;
}

bool OriginBackoff::is_slow(const std::string& place, Time now) const {
    const auto found = places_.find(place);
    if (found == places_.end()) return false;
    const auto& pause = found->second;
    return pause.is_slow && now - pause.noted <= pause.length + kBackoffMost;
}

void OriginBackoff::answered(const std::string& place, Time now) {
    const auto found = places_.find(place);
    if (found == places_.end()) return;
    if (found->second.is_stated && now < found->second.until) return;
    places_.erase(found);
}

std::string backoff_key(const UpstreamTarget& origin, std::string_view host,
                        std::string_view rule) {
    auto key = connection_key(origin);
    return key.append(" ").append(host).append(" ").append(rule);
}

}  // namespace proxy
