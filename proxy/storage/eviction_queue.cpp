#include "proxy/storage/eviction_queue.hpp"

#include <algorithm>

namespace proxy {

void EvictionQueue::push(Node::In in, Node& node) {
    auto& to = list(in);
    node.in_ = in;
    node.previous_ = nullptr;
    node.next_ = to.head;
    (to.head ? to.head->previous_ : to.tail) = &node;
    to.head = &node;
    to.bytes += node.bytes_;
    ++to.count;
    count(in, node.bytes_);
}

void EvictionQueue::unlink(Node& node) {
    auto& from = list(node.in_);
    (node.previous_ ? node.previous_->next_ : from.head) = node.next_;
    (node.next_ ? node.next_->previous_ : from.tail) = node.previous_;
    from.bytes -= node.bytes_;
    --from.count;
    count(node.in_, 0 - node.bytes_);
    node.in_ = Node::In::none;
    node.previous_ = node.next_ = nullptr;
}

void EvictionQueue::insert(Node& node, std::uint64_t bytes) {
    if (node.queued()) {
        auto& in = list(node.in_);
        in.bytes = in.bytes - node.bytes_ + bytes;
        count(node.in_, bytes - node.bytes_);
        node.bytes_ = bytes;
        return;
    }
    node.bytes_ = bytes;
    node.uses_ = 0;
    const auto returns = ghosts_.erase(node.hash.low) > 0;
    push(returns ? Node::In::main : Node::In::small, node);
}

void EvictionQueue::remove(Node& node) {
    if (node.queued()) unlink(node);
}

void EvictionQueue::pin(Node& node) {
    remove(node);
    push(Node::In::pinned, node);
}

EvictionQueue::Node* EvictionQueue::pop_victim() {
    while (small_.tail || main_.tail) {
        const auto from_small =
            small_.tail && (!main_.tail || small_.bytes * kSmallShare >= bytes());
        auto& node = from_small ? *small_.tail : *main_.tail;
        unlink(node);
        if (from_small) {
            // Another request used it beside the one that brought it.
            if (node.uses_ > 0) {
                node.uses_ = 0;
                push(Node::In::main, node);
                continue;
            }
            remember(node.hash);
            return &node;
        }
        if (node.uses_ > 0) {
            --node.uses_;
            push(Node::In::main, node);
            continue;
        }
        return &node;
    }
    return nullptr;
}

void EvictionQueue::remember(summary::KeyHash hash) {
    if (!ghosts_.insert(hash.low).second) return;
    ghost_order_.push_back(hash.low);
    while (ghost_order_.size() > std::max(kMinGhosts, main_.count + small_.count)) {
        ghosts_.erase(ghost_order_.front());
        ghost_order_.pop_front();
    }
}

}  // namespace proxy
