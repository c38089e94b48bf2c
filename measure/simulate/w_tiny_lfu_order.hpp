#pragma once

#include <array>
#include <cstdint>

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/frequency_sketch.hpp"
#include "measure/simulate/object_lists.hpp"
#include "measure/simulate/objects.hpp"

namespace measure {

/// W-TinyLFU: new objects pass through an LRU window of 1 % of the bytes. The main part is a
/// segmented LRU: objects are on probation until a use protects them, up to 80 % of the main part.
/// When the cache is full, the candidate from the window competes with the victim of the main part,
/// and the less frequent one goes. The doorkeeper is left out. `objects` must outlive it. Source:
/// as FrequencySketch.
class WTinyLfuOrder final : public EvictionOrder {
public:
    static constexpr std::uint64_t kWindowPercent = 1;      // of all bytes
    static constexpr std::uint64_t kProtectedPercent = 80;  // of the bytes of the main part

    explicit WTinyLfuOrder(const Objects& objects) : objects_(objects) {}

    void insert(std::uint32_t object, proxy::SentBy) override;
    void touch(std::uint32_t object) override;
    std::uint32_t pop() override;

private:
    using Place = ObjectLists::Place;
    enum List : unsigned { window, probation, protected_part, kLists };

    std::uint64_t main_bytes() const { return bytes_[probation] + bytes_[protected_part]; }
    bool window_is_full() const {
        return bytes_[window] * 100 >= (bytes_[window] + main_bytes()) * kWindowPercent;
    }
    void move_to(Place place, List list);
    std::uint32_t remove(Place place);
    unsigned frequency(Place place) const {
        return sketch_.estimate(objects_.hash(lists_.object(place)));
    }

    const Objects& objects_;
    ObjectLists lists_{kLists};
    std::array<std::uint64_t, kLists> bytes_{};
    std::uint64_t count_ = 0;
    bool had_to_pop_ = false;  // since the last insertion: the cache is full
    FrequencySketch sketch_;
};

}  // namespace measure
