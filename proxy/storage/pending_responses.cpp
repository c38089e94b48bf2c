#include "proxy/storage/pending_responses.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "proxy/http/freshness.hpp"
#include "proxy/http/vary.hpp"

namespace proxy {
namespace {

/// The name under which a class of a target's requests is noted. It belongs to the same shard.
summary::KeyHash class_name(summary::KeyHash target, const RequestClass& asked) {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    target.low ^= asked.values * kSpread + static_cast<std::uint64_t>(asked.credentials) * kSpread;
    return target;
}

/// The response was good for others and is stale while its body still comes. The next fetch may
/// bring a fresh one.
bool is_outlived(const StoredResponse& coming, PendingResponses::Clock::time_point now) {
    return coming.freshness.serves_others() && !is_fresh(coming.freshness, coming.residence(now));
}

}  // namespace

const PendingResponses::Target* PendingResponses::of(summary::KeyHash target,
                                                     std::string_view uri) const {
    const auto it = targets_.find(target);
    if (it == targets_.end() || it->second.fetches.front().uri != uri) return nullptr;
    return &it->second;
}

/// The newest response that says how the target varies, or null. A response for a single client is
/// never stored, so it counts only while it comes.
PendingResponses::Stored PendingResponses::newest(const Target* target, const Stored& stored) {
    if (target)
        for (const auto& pending : std::views::reverse(target->fetches))
            if (auto coming = pending.fill->coming()) return coming;
    return stored;
}

RequestClass PendingResponses::class_now(summary::KeyHash target, const SelectingFields& request,
                                         const Stored& stored) {
    const auto it = targets_.find(target);
    const auto known = newest(it == targets_.end() ? nullptr : &it->second, stored);
    return class_of(known ? std::string_view(known->vary_names) : std::string_view(), request,
                    scratch_);
}

std::shared_ptr<Fill> PendingResponses::find(summary::KeyHash hash, std::string_view uri,
                                             const SelectingFields& request, const Stored& stored,
                                             Clock::time_point now) {
    const auto* const target = of(hash, uri);
    if (!target) return nullptr;
    const auto known = newest(target, stored);
    RequestClass like;
    auto apart = false;
    if (!request.hashed) {
        like = class_of(known ? known->vary_names : std::string_view(), request, scratch_);
        apart =
            !known || unshareable_.contains(class_name(hash, {like.values, Credentials::cookie}));
    }
    for (const auto& pending : std::views::reverse(target->fetches)) {
        if (const auto coming = pending.fill->coming()) {
            const auto is_variant =
                coming->vary_names.empty() ||
                variant_matches(coming->vary_names, coming->variant, request, scratch_);
            if (is_variant && !is_outlived(*coming, now)) return pending.fill;
            continue;
        }
        // A peer request never waits, so any fetch of the target will do for its answer.
        const auto& asked = pending.of_class;
        if (request.hashed ||
            (asked.values == like.values && (!apart || asked.credentials == like.credentials)))
            return pending.fill;
    }
    return nullptr;
}

void PendingResponses::add(summary::KeyHash target, std::string_view uri,
                           std::shared_ptr<Fill> fill, const SelectingFields& request,
                           const Stored& stored) {
    const auto asked = class_now(target, request, stored);
    auto& fetches = targets_[target].fetches;
    if (fetches.size() >= kMaxPerTarget || (!fetches.empty() && fetches.front().uri != uri)) return;
    fetches.push_back({std::move(fill), uri, asked, {}});
}

void PendingResponses::index_tags(summary::KeyHash key, Target& target) {
    std::vector<summary::KeyHash> tags;
    for (const auto& pending : target.fetches)
        tags.insert(tags.end(), pending.tags.begin(), pending.tags.end());
    tagged_.set(key, target.tags, std::move(tags));
}

void PendingResponses::tag(summary::KeyHash target, const Fill* fill,
                           std::span<const summary::KeyHash> tags) {
    const auto it = targets_.find(target);
    if (it == targets_.end()) return;
    for (auto& pending : it->second.fetches)
        if (pending.fill.get() == fill) pending.tags.assign(tags.begin(), tags.end());
    index_tags(target, it->second);
}

std::shared_ptr<Fill> PendingResponses::end(summary::KeyHash target, const Fill* fill) {
    const auto it = targets_.find(target);
    if (it == targets_.end()) return nullptr;
    auto& fetches = it->second.fetches;
    const auto own =
        std::ranges::find(fetches, fill, [](const auto& pending) { return pending.fill.get(); });
    if (own == fetches.end()) return nullptr;
    auto ended = std::move(own->fill);
    fetches.erase(own);
    index_tags(target, it->second);
    if (fetches.empty()) targets_.erase(it);
    return ended;
}

void PendingResponses::end_target(summary::KeyHash target, Fills& out) {
    const auto it = targets_.find(target);
    if (it == targets_.end()) return;
    for (auto& pending : it->second.fetches) out.push_back(std::move(pending.fill));
    tagged_.set(target, it->second.tags, {});
    targets_.erase(it);
}

void PendingResponses::end_all(Fills& out) {
    for (auto& [key, target] : targets_)
        for (auto& pending : target.fetches) out.push_back(std::move(pending.fill));
    targets_.clear();
    tagged_.clear();
}

bool PendingResponses::is_unshareable(summary::KeyHash target, const SelectingFields& request,
                                      const Stored& stored, Clock::time_point now) {
    if (unshareable_.empty()) return false;
    const auto noted = unshareable_.find(class_name(target, class_now(target, request, stored)));
    return noted != unshareable_.end() && now < noted->second;
}

/// Removes the notes whose time is over; if many are left those that were not renewed lately, and
/// in the end all of them.
void PendingResponses::make_room(Clock::time_point now) {
    if (unshareable_.size() < kMaxUnshareable) return;
    for (const auto left : {std::chrono::seconds(0), kHitForMiss / 2, kHitForMiss}) {
        erase_if(unshareable_, [&](const auto& note) { return note.second <= now + left; });
        if (unshareable_.size() <= kMaxUnshareable / 2) return;
    }
}

void PendingResponses::note_unshareable(summary::KeyHash target, const SelectingFields& request,
                                        const Stored& stored, std::chrono::seconds time,
                                        Clock::time_point now) {
    const auto asked = class_now(target, request, stored);
    make_room(now);
    auto& until = unshareable_[class_name(target, asked)];
    until = std::max(until, now + time);
}

void PendingResponses::refute_unshareable(summary::KeyHash target, const SelectingFields& request,
                                          const StoredResponse& stored) {
    if (unshareable_.empty()) return;
    const auto values = values_of(stored.vary_names, stored.variant, scratch_);
    unshareable_.erase(class_name(target, {values, credentials_of(request.fields)}));
}

}  // namespace proxy
