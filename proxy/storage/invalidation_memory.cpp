#include "proxy/storage/invalidation_memory.hpp"

namespace proxy {

void InvalidationMemory::note(summary::KeyHash what, Time now) {
    notes_[what] = {++generation_, now};
    order_.push_back({what, generation_});
    if (order_.size() <= limit_) return;
    const auto oldest = order_.front();
    order_.pop_front();
    const auto seen = notes_.find(oldest.what);
    if (seen->second.generation != oldest.generation) return;  // noted again since
    floor_ = seen->second;
    notes_.erase(seen);
}

void InvalidationMemory::note_all(Time now) {
    floor_ = Note{++generation_, now};
    notes_.clear();
    order_.clear();
}

bool InvalidationMemory::noted_since(summary::KeyHash what, std::uint64_t generation) const {
    if (generation == generation_) return false;
    if (floor_ && floor_->generation > generation) return true;
    const auto seen = notes_.find(what);
    return seen != notes_.end() && seen->second.generation > generation;
}

std::optional<InvalidationMemory::Time> InvalidationMemory::last(summary::KeyHash what) const {
    const auto seen = notes_.find(what);
    if (seen != notes_.end()) return seen->second.at;
    if (floor_) return floor_->at;
    return std::nullopt;
}

}  // namespace proxy
