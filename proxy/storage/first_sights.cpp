#include "proxy/storage/first_sights.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "proxy/http/min_age.hpp"

namespace proxy {

std::optional<WallTime> FirstSights::note(const JudgedResponse& response, WallTime had,
                                          WallTime now) {
    const auto content = content_of(response, now);
    if (!content) return std::nullopt;
    const auto first = had < kEarliest ? now : std::min(had, now);
    const std::lock_guard lock(mutex_);
    return take({*content, first, now});
}

std::optional<WallTime> FirstSights::find(const JudgedResponse& response, WallTime now) const {
    const auto content = content_of(response, now);
    if (!content) return std::nullopt;
    const std::lock_guard lock(mutex_);
    if (sights_.empty()) return std::nullopt;
    const auto set = std::span(sights_).subspan(content->low % kSets * kWays, kWays);
    const auto known = std::ranges::find(set, *content, &Sight::content);
    if (known == set.end() || known->is_empty()) return std::nullopt;
    return known->first;
}

void FirstSights::learn(const JudgedResponse& response, WallTime now) {
    const auto stated = stated_first_seen(response.fields);
    if (stated) note(response, *stated, now);
}

std::uint64_t FirstSights::changes() const {
    const std::lock_guard lock(mutex_);
    return changes_;
}

std::vector<FirstSights::Sight> FirstSights::all() const {
    std::vector<Sight> out;
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(sights_, std::back_inserter(out),
                         [](const Sight& sight) { return !sight.is_empty(); });
    return out;
}

void FirstSights::restore(std::span<const Sight> sights, WallTime now) {
    const std::lock_guard lock(mutex_);
    for (const auto& sight : sights)
        if (sight.first >= kEarliest)
            take({sight.content, std::min(sight.first, now),
                  std::clamp(sight.last, std::min(sight.first, now), now)});
}

/// nullopt if the age of the response does not count from its first sight, or the clock is unset.
std::optional<summary::KeyHash> FirstSights::content_of(const JudgedResponse& response,
                                                        WallTime now) const {
    if (now < kEarliest) return std::nullopt;
    const auto tag = tag_of_first_sight(response.rule, response.status, response.fields, now);
    if (tag.empty()) return std::nullopt;
    std::string text("first sight\n");  // no URI, so it is the hash of no key
    text.append(response.uri).append("\n").append(tag);
    return hasher_(text);
}

std::span<FirstSights::Sight> FirstSights::set_of(summary::KeyHash content) {
    if (sights_.empty()) sights_.resize(kMost);
    return std::span(sights_).subspan(content.low % kSets * kWays, kWays);
}

/// Notes the sight, and returns the first one of its content. The caller has the lock.
WallTime FirstSights::take(const Sight& sight) {
    const auto set = set_of(sight.content);
    const auto known = std::ranges::find_if(
        set, [&](const Sight& each) { return !each.is_empty() && each.content == sight.content; });
    if (known != set.end()) {
        known->last = std::max(known->last, sight.last);
        if (sight.first < known->first) {
            known->first = sight.first;
            ++changes_;
        }
        return known->first;
    }
    // An empty place was used for no time, and longest ago.
    const auto least = std::ranges::min_element(
        set, {}, [](const Sight& each) { return std::pair(each.last - each.first, each.last); });
    *least = sight;
    ++changes_;
    return sight.first;
}

}  // namespace proxy
