#include "proxy/storage/invalidation_memory.hpp"

#include "proxy/http/tags.hpp"

namespace proxy {

void InvalidationMemory::note(summary::KeyHash what, Time now) {
    const std::lock_guard lock(mutex_);
    const Note note{invalidations_.load(std::memory_order_relaxed) + 1, now};
    latest_.use(what) = note;
    invalidations_.store(note.invalidations, std::memory_order_release);
    if (latest_.size() <= limits_.latest) return;
    move_to_stretch(latest_.oldest().first, latest_.oldest().second);
    latest_.drop_oldest();
}

void InvalidationMemory::note_prefix(summary::KeyHash tag, const summary::KeyHasher& hasher,
                                     Time now) {
    prefix_hasher_.store(&hasher, std::memory_order_release);
    note(tag, now);
}

bool InvalidationMemory::prefix_noted_since(std::string_view uri,
                                            std::uint64_t invalidations) const {
    const auto* const hasher = prefix_hasher_.load(std::memory_order_acquire);
    return hasher && invalidations != this->invalidations() &&
           any_noted_since(prefix_tags_of(uri, *hasher), invalidations);
}

std::optional<InvalidationMemory::Time> InvalidationMemory::last_prefix(
    std::string_view uri) const {
    std::optional<Time> latest;
    const auto* const hasher = prefix_hasher_.load(std::memory_order_acquire);
    if (!hasher) return latest;
    for (const auto& tag : prefix_tags_of(uri, *hasher)) latest = std::max(latest, last(tag));
    return latest;
}

void InvalidationMemory::move_to_stretch(summary::KeyHash what, const Note& note) {
    if (stretches_.empty() || stretches_.back().count >= limits_.stretch) {
        if (stretches_.size() == limits_.stretches) {
            floor_ = stretches_.front().end;
            stretches_.pop_front();
        }
        stretches_.emplace_back(summary::Shape{limits_.stretch * kBitsEach, kHashes});
    }
    auto& stretch = stretches_.back();
    stretch.noted.insert(what);
    ++stretch.count;
    stretch.end = note;
}

void InvalidationMemory::note_all(Time now) {
    const std::lock_guard lock(mutex_);
    const Note note{invalidations_.load(std::memory_order_relaxed) + 1, now};
    floor_ = note;
    latest_ = {};
    stretches_.clear();
    invalidations_.store(note.invalidations, std::memory_order_release);
}

std::optional<InvalidationMemory::Note> InvalidationMemory::find(summary::KeyHash what) const {
    if (const auto* const seen = latest_.find(what)) return *seen;
    const auto positions = summary::positions(what, {limits_.stretch * kBitsEach, kHashes});
    for (auto stretch = stretches_.rbegin(); stretch != stretches_.rend(); ++stretch)
        if (stretch->noted.contains(positions)) return stretch->end;
    return floor_;
}

bool InvalidationMemory::noted_since(summary::KeyHash what, std::uint64_t invalidations) const {
    if (invalidations == this->invalidations()) return false;
    const std::lock_guard lock(mutex_);
    const auto note = find(what);
    return note && note->invalidations > invalidations;
}

std::optional<InvalidationMemory::Time> InvalidationMemory::last(summary::KeyHash what) const {
    if (invalidations() == 0) return std::nullopt;
    const std::lock_guard lock(mutex_);
    const auto note = find(what);
    if (!note) return std::nullopt;
    return note->at;
}

}  // namespace proxy
