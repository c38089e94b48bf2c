// Who may wait for what is being fetched: the fetches of one target URI, each for one class of
// requests, and the classes whose answers turned out to be for one client each.
#include <algorithm>
#include <ranges>
#include <utility>

#include "proxy/storage/request_class.hpp"
#include "proxy/storage/store.hpp"

namespace proxy {
namespace {

/// The name under which a class of a target's requests is remembered; of the same shard.
summary::KeyHash of_class(summary::KeyHash target, const RequestClass& asked) {
    constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
    target.low ^= asked.values * kSpread + static_cast<std::uint64_t>(asked.credentials) * kSpread;
    return target;
}

/// What is over goes first, and everything when that is not much.
template <class Notes>
void make_room_among(Notes& notes, Store::Clock::time_point now) {
    if (notes.size() < kMaxUnshareableKeys) return;
    erase_if(notes, [now](const auto& note) { return note.second <= now; });
    if (notes.size() > kMaxUnshareableKeys / 2) notes.clear();
}

/// It was good for others, and is so no more while the rest of its body still comes: the next fetch
/// may bring one that is.
bool is_outlived(const StoredResponse& coming, Store::Clock::time_point now) {
    return coming.freshness.serves_others() && !is_fresh(coming.freshness, coming.residence(now));
}

/// A part of a second that a response took to come counts as time that it has been here, so what
/// seems to be this much older may have come just now.
constexpr std::chrono::seconds kPartOfASecond{1};

}  // namespace

/// The newest response that tells how the target varies; null when nothing is known of it. Those
/// that are for one client each are in no entry.
std::shared_ptr<const StoredResponse> Store::newest(const Entry& entry) {
    for (const auto& filling : std::views::reverse(entry.fillings))
        if (auto coming = filling.fill->coming()) return coming;
    return entry.variants.empty() ? nullptr : entry.variants.back().response;
}

/// The fetch whose answer is for this request, or will be as far as that can be told. Requests with
/// and without credentials do not wait for each other while nothing is known of the target, nor
/// where those with a cookie have got answers of their own.
std::shared_ptr<Fill> Store::fill_for(Shard& in, const Entry& entry, const Selecting& request,
                                      Clock::time_point now) {
    const auto known = newest(entry);
    RequestClass like;
    auto apart = false;
    if (!request.hashed) {
        like = class_of(known ? known->vary_names : std::string_view(), request, in.scratch);
        const auto with_cookie = of_class(entry.hash, {like.values, Credentials::cookie});
        apart = !known || in.unshareable.contains(with_cookie);
    }
    for (const auto& filling : std::views::reverse(entry.fillings)) {
        if (const auto coming = filling.fill->coming()) {
            const auto is_variant =
                coming->vary_names.empty() ||
                variant_matches(coming->vary_names, coming->variant, request, in.scratch);
            if (is_variant && !is_outlived(*coming, now)) return filling.fill;
            continue;
        }
        // A peer's question does not wait: it is told that something is on its way.
        const auto& asked = filling.asked;
        if (request.hashed ||
            (asked.values == like.values && (!apart || asked.credentials == like.credentials)))
            return filling.fill;
    }
    return nullptr;
}

Store::Claimed Store::claim(summary::KeyHash hash, std::string_view uri, const Found& seen,
                            const std::shared_ptr<Fill>& fill, const Selecting& request) {
    if (!fill) return {nullptr, true};  // nobody can wait for it
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    auto* entry = entry_for(in, hash, uri);
    if (!entry) return {fill, true};  // fetched, but publish() will not store it
    if (!entry->fillings.empty())
        if (auto other = fill_for(in, *entry, request, seen.at)) return {std::move(other), false};
    const auto& variants = entry->variants;
    const auto same = seen.response ? std::ranges::find(variants, seen.response,
                                                        &Variant::response) != variants.end()
                                    : (variants.empty() || seen.other_variants);
    if (!same && !variants.empty()) return {nullptr, false};
    // The variant may be there by now, behind a look that found others.
    const auto* const selected = seen.response ? nullptr : select(in, *entry, request);
    if (selected && selected->response->arrival.steady + kPartOfASecond > seen.at)
        return {nullptr, false};
    if (entry->fillings.size() < kMaxFillings) {
        const auto known = newest(*entry);
        const auto names = known ? std::string_view(known->vary_names) : std::string_view();
        entry->fillings.push_back({fill, class_of(names, request, in.scratch), {}});
    }
    return {fill, true};
}

void Store::abandon(summary::KeyHash hash, const Fill* fill, bool unshareable,
                    const Selecting& request, Clock::time_point now) {
    Filling ended;  // destroyed after the lock is gone
    auto& in = shard(hash);
    const std::lock_guard lock(in.mutex);
    const auto it = in.entries.find(hash);
    auto* const entry = it == in.entries.end() ? nullptr : it->second.get();
    if (entry) ended = end_fill(*entry, fill);
    if (unshareable) {
        // By what others know of the target: what came is not for them.
        const auto known = entry ? newest(*entry) : nullptr;
        const auto names = known ? std::string_view(known->vary_names) : std::string_view();
        make_room_among(in.unshareable, now);
        in.unshareable[of_class(hash, class_of(names, request, in.scratch))] = now + kHitForMiss;
    }
    if (ended.fill) erase_if_empty(in, *entry);
}

/// `entry`: the target's, may be null.
bool Store::is_unshareable(Shard& in, summary::KeyHash hash, const Entry* entry,
                           const Selecting& request, Clock::time_point now) {
    const auto known = entry ? newest(*entry) : nullptr;
    const auto names = known ? std::string_view(known->vary_names) : std::string_view();
    const auto seen = in.unshareable.find(of_class(hash, class_of(names, request, in.scratch)));
    return seen != in.unshareable.end() && now < seen->second;
}

/// The newest variant is what such a request has brought, and it is for all.
void Store::refute_unshareable(Shard& in, const Entry& entry, const Selecting& request) {
    if (in.unshareable.empty()) return;
    const auto& stored = *entry.variants.back().response;
    const auto values = values_of(stored.vary_names, stored.variant, in.scratch);
    in.unshareable.erase(of_class(entry.hash, {values, credentials_of(request.fields)}));
}

Store::Filling Store::end_fill(Entry& entry, const Fill* fill) {
    Filling ended;
    auto& fillings = entry.fillings;
    const auto own = std::ranges::find(fillings, fill, [](const auto& f) { return f.fill.get(); });
    if (own == fillings.end()) return ended;
    ended = std::move(*own);
    fillings.erase(own);
    return ended;
}

std::vector<Store::Filling> Store::end_fills(Entry& entry) {
    return std::exchange(entry.fillings, {});
}

}  // namespace proxy
