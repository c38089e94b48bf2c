#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>

#include "proxy/http/storage_verdict.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Remembers for an explanation why responses of late were not stored: one verdict for each key, of
/// which a later key with the same place takes the place. Fixed memory: kPlaces times 40 bytes. Any
/// thread; a fetch whose response is not stored takes the lock once, and others never do.
class RecentVerdicts {
public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr std::size_t kPlaces = 1024;

    struct Note {
        StorageVerdict verdict = StorageVerdict::store;
        Time at{};
    };

    void note(summary::KeyHash key, StorageVerdict verdict, Time now) {
        const std::lock_guard lock(access_);
        places_[key.low % kPlaces] = {key, {verdict, now}};
    }
    /// Returns the last verdict on this key, or nothing.
    std::optional<Note> find(summary::KeyHash key) const {
        const std::lock_guard lock(access_);
        const auto& place = places_[key.low % kPlaces];
        if (place.key != key || place.note.verdict == StorageVerdict::store) return std::nullopt;
        return place.note;
    }

private:
    struct Place {
        summary::KeyHash key{};
        Note note;
    };
    mutable std::mutex access_;
    std::array<Place, kPlaces> places_{};
};

}  // namespace proxy
