#include "proxy/storage/eviction_queue.hpp"

#include <algorithm>
#include <bit>

namespace proxy {
namespace {

/// A use has the value kWorthOfAByte divided by the size, which counts as kSmallest at least: 2^20
/// for small objects, 1 from 64 MiB on. The largest value, with all uses, is far below 2^31.
constexpr std::uint64_t kWorthOfAByte = 1 << 26, kSmallest = 64;
constexpr std::uint8_t kMaxFrequency = 30;

/// Values grow without end, so they are compared by their distance.
bool ahead(std::uint32_t value, std::uint32_t other) {
    return static_cast<std::int32_t>(value - other) > 0;
}

}  // namespace

EvictionQueue::List& EvictionQueue::list_of(const Node& node) {
    if (node.in_ == Node::In::pinned) return pinned_;
    if (!by_size_.empty()) return by_size_[static_cast<std::size_t>(std::bit_width(node.bytes_))];
    return node.in_ == Node::In::small ? small_ : main_;
}

void EvictionQueue::push(Node::In in, Node& node) {
    node.in_ = in;
    auto& to = list_of(node);
    node.previous_ = nullptr;
    node.next_ = to.head;
    (to.head ? to.head->previous_ : to.tail) = &node;
    to.head = &node;
    to.bytes += node.bytes_;
    ++to.count;
    count(in, node.bytes_);
}

void EvictionQueue::unlink(Node& node) {
    auto& from = list_of(node);
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
        const auto in = node.in_;
        if (!by_size_.empty() && in != Node::In::pinned) {
            unlink(node);
            node.bytes_ = bytes;
            set_value(node);
            return push(in, node);
        }
        auto& of = list_of(node);
        of.bytes = of.bytes - node.bytes_ + bytes;
        count(in, bytes - node.bytes_);
        node.bytes_ = bytes;
        return;
    }
    node.bytes_ = bytes;
    node.uses_ = 0;
    node.frequency_ = 0;
    set_value(node);
    if (!by_size_.empty()) return push(Node::In::main, node);
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

void EvictionQueue::set_value(Node& node) const {
    const auto of_a_use =
        std::max<std::uint64_t>(kWorthOfAByte / std::max(node.bytes_, kSmallest), 1);
    node.value_ = clock_ + static_cast<std::uint32_t>(of_a_use * (1u + node.frequency_));
}

/// Objects that were used since the last look get their new value, and go to the other end.
EvictionQueue::Node* EvictionQueue::oldest_unused(List& list) {
    while (list.tail && list.tail->uses_ > 0) {
        auto& node = *list.tail;
        unlink(node);
        node.frequency_ = static_cast<std::uint8_t>(
            std::min<unsigned>(kMaxFrequency, node.frequency_ + unsigned{node.uses_}));
        node.uses_ = 0;
        set_value(node);
        push(Node::In::main, node);
    }
    return list.tail;
}

EvictionQueue::Node* EvictionQueue::pop_least_value() {
    Node* least = nullptr;
    for (auto& list : by_size_) {
        auto* const oldest = oldest_unused(list);
        if (oldest && (!least || ahead(least->value_, oldest->value_))) least = oldest;
    }
    if (!least) return nullptr;
    unlink(*least);
    if (ahead(least->value_, clock_)) clock_ = least->value_;
    return least;
}

EvictionQueue::Node* EvictionQueue::pop_victim() {
    if (!by_size_.empty()) return pop_least_value();
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
