#pragma once

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/object_lists.hpp"

namespace measure {

/// Least recently used.
class LruOrder final : public EvictionOrder {
public:
    void insert(std::uint32_t object, proxy::SentBy) override { list_.insert(object, 0); }
    void touch(std::uint32_t object) override { list_.move_to(list_.find(object), 0); }
    std::uint32_t pop() override { return list_.remove(list_.oldest(0)); }

private:
    ObjectLists list_{1};
};

}  // namespace measure
