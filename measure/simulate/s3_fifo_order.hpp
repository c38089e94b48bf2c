#pragma once

#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <vector>

#include "measure/simulate/eviction_order.hpp"
#include "measure/simulate/objects.hpp"
#include "proxy/storage/eviction_queue.hpp"
#include "proxy/storage/shards.hpp"

namespace measure {

/// The node's own code, used as its store uses it: a queue for each shard. The fuller of the two
/// shards whose turn it is evicts one object, or with Favour::requests the one with the least
/// value. `objects` must outlive it.
class S3FifoOrder final : public EvictionOrder {
public:
    S3FifoOrder(const Objects& objects, proxy::Favour favour) : objects_(objects), favour_(favour) {
        for (auto& queue : queues_) queue.favour(favour, clock_);
    }

    void insert(std::uint32_t object, proxy::SentBy sender) override;
    void touch(std::uint32_t object) override;
    std::uint32_t pop() override;

private:
    struct Node : proxy::EvictionQueue::Node {
        std::uint32_t object = 0;
    };

    proxy::EvictionQueue::Node* pop_victim();

    const Objects& objects_;
    const proxy::Favour favour_;
    std::atomic<std::uint32_t> clock_{0};
    std::array<proxy::EvictionQueue, proxy::kShards> queues_;
    std::size_t turn_ = 0;
    std::deque<Node> nodes_;
    std::vector<Node*> free_;
    boost::unordered_flat_map<std::uint32_t, Node*> places_;
};

}  // namespace measure
