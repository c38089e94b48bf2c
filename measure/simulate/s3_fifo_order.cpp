#include "measure/simulate/s3_fifo_order.hpp"

namespace measure {

void S3FifoOrder::insert(std::uint32_t object, proxy::SentBy sender) {
    Node* node = nullptr;
    if (free_.empty()) {
        node = &nodes_.emplace_back();
    } else {
        node = free_.back();
        free_.pop_back();
    }
    node->hash = objects_.hash(object);
    node->object = object;
    places_.emplace(object, node);
    queues_[proxy::shard_of(node->hash)].insert(*node, objects_.charged(object), sender);
}

void S3FifoOrder::touch(std::uint32_t object) {
    proxy::EvictionQueue::touch(*places_.find(object)->second);
}

proxy::EvictionQueue::Node* S3FifoOrder::pop_victim() {
    if (favour_ == proxy::Favour::bytes) {
        const auto [fuller, other] = proxy::shards_of_turn(
            turn_++, [this](std::size_t shard) { return queues_[shard].bytes(); });
        return queues_[fuller].pop_victim();
    }
    proxy::EvictionQueue::Node* victim = nullptr;
    proxy::evict_least(
        clock_.load(), [this](std::size_t shard) { return queues_[shard].least(); },
        [&](std::size_t shard, auto most) {
            victim = queues_[shard].pop_victim(most);
            return victim != nullptr;
        });
    return victim;
}

std::uint32_t S3FifoOrder::pop() {
    for (;;) {
        auto* const victim = pop_victim();
        if (victim == nullptr) continue;
        auto& node = static_cast<Node&>(*victim);
        places_.erase(node.object);
        free_.push_back(&node);
        return node.object;
    }
}

}  // namespace measure
