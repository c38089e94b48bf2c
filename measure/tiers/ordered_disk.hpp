#pragma once

#include <memory>
#include <vector>

#include "measure/simulate/eviction_order.hpp"
#include "measure/tiers/simulated_disk.hpp"

namespace measure {

/// An ideal disk for comparison: it may evict any object at any time, and reuses the space at once.
class OrderedDisk final : public SimulatedDisk {
public:
    /// `record_bytes` (of each object) must outlive it.
    OrderedDisk(std::uint64_t capacity, const std::vector<std::uint64_t>& record_bytes,
                std::unique_ptr<EvictionOrder> order)
        : capacity_(capacity),
          record_bytes_(record_bytes),
          order_(std::move(order)),
          held_(record_bytes.size()) {}

    bool has(std::uint32_t object) const override { return held_[object]; }
    void use(std::uint32_t object) override { order_->touch(object); }
    void write(std::uint32_t object) override {
        while (used_bytes_ + record_bytes_[object] > capacity_) {
            const auto victim = order_->pop();
            used_bytes_ -= record_bytes_[victim];
            held_[victim] = false;
            --objects_;
        }
        order_->insert(object);
        used_bytes_ += record_bytes_[object];
        held_[object] = true;
        ++objects_;
    }
    std::uint64_t used_bytes() const override { return used_bytes_; }
    std::uint64_t objects() const override { return objects_; }
    std::uint64_t written_again_bytes() const override { return 0; }

private:
    const std::uint64_t capacity_;
    const std::vector<std::uint64_t>& record_bytes_;
    const std::unique_ptr<EvictionOrder> order_;
    std::vector<bool> held_;
    std::uint64_t used_bytes_ = 0, objects_ = 0;
};

}  // namespace measure
