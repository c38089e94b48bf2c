#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <compare>
#include <cstdint>
#include <set>

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/objects.hpp"

namespace measure {

/// GreedyDual-Size with frequency: evicts the object with the least clock + uses / bytes. The clock
/// is the priority of the last victim, taken at the object's last use. Small and popular objects
/// stay; all misses cost alike. Among equals the least recently used object goes. `objects` must
/// outlive it. Source: Cherkasova, "Improving WWW Proxies Performance with
/// Greedy-Dual-Size-Frequency Caching Policy", HP Labs 1998.
class GdsfOrder final : public EvictionOrder {
public:
    explicit GdsfOrder(const Objects& objects) : objects_(objects) {}

    void insert(std::uint32_t object, proxy::SentBy) override { place(object, 1); }
    void touch(std::uint32_t object) override {
        const auto at = entries_.find(object)->second;
        order_.erase(at);
        place(object, at.uses + 1);
    }
    std::uint32_t pop() override {
        const auto first = *order_.begin();
        clock_ = first.priority;
        order_.erase(order_.begin());
        entries_.erase(first.object);
        return first.object;
    }

private:
    struct Entry {
        double priority;
        std::uint64_t turn;  // of its last use
        std::uint32_t object;
        std::uint32_t uses;
        std::partial_ordering operator<=>(const Entry& other) const {
            const auto order = priority <=> other.priority;
            return order != 0 ? order : std::partial_ordering(turn <=> other.turn);
        }
    };
    void place(std::uint32_t object, std::uint32_t uses) {
        const auto bytes = static_cast<double>(objects_.charged(object));
        const Entry entry{clock_ + uses / bytes, ++turns_, object, uses};
        order_.insert(entry);
        entries_.insert_or_assign(object, entry);
    }

    const Objects& objects_;
    double clock_ = 0;
    std::uint64_t turns_ = 0;
    std::set<Entry> order_;
    boost::unordered_flat_map<std::uint32_t, Entry> entries_;
};

}  // namespace measure
