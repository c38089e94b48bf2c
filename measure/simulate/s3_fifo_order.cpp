#include "measure/simulate/s3_fifo_order.hpp"

namespace measure {

void S3FifoOrder::insert(std::uint32_t object) {
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
    queues_[proxy::shard_of(node->hash)].insert(*node, objects_.charged(object));
}

void S3FifoOrder::touch(std::uint32_t object) {
    proxy::EvictionQueue::touch(*places_.find(object)->second);
}

std::uint32_t S3FifoOrder::pop() {
    const auto bytes_in = [this](std::size_t shard) { return queues_[shard].bytes(); };
    for (;;) {
        const auto [fuller, other] = proxy::shards_of_turn(turn_++, bytes_in);
        auto* const victim = queues_[fuller].pop_victim();
        if (victim == nullptr) continue;
        auto& node = static_cast<Node&>(*victim);
        places_.erase(node.object);
        free_.push_back(&node);
        return node.object;
    }
}

}  // namespace measure
