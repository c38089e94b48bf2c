#include "proxy/storage/eviction_queue.hpp"

#include <algorithm>
#include <bit>

namespace proxy {
namespace {

/// A use of a copy is worth kWorthOfAByte divided by the size, which counts as kSmallest at least:
/// 2^20 for small objects, 1 from 64 MiB on. A use of what the origin sent is worth kWorthOfOrigin
/// times as much.
constexpr std::uint64_t kWorthOfAByte = 1 << 26, kSmallest = 64, kWorthOfOrigin = 4;
constexpr std::uint8_t kMaxFrequency = 30;
static_assert(std::bit_width(kWorthOfAByte / kSmallest * kWorthOfOrigin * (kMaxFrequency + 1)) ==
              EvictionQueue::kWorthClasses);
/// So far ahead of the clock is the value of a victim that is not there. Above all others.
constexpr std::uint32_t kFar = 1u << 30;

/// Values grow without end, so they are compared by their distance.
bool ahead(std::uint32_t value, std::uint32_t other) {
    return static_cast<std::int32_t>(value - other) > 0;
}

}  // namespace

std::size_t EvictionQueue::worth_class(const Node& node) {
    const auto of_a_use =
        std::max<std::uint64_t>(kWorthOfAByte / std::max(node.bytes_, kSmallest), 1);
    const auto times = node.sender_ == SentBy::peer ? 1 : kWorthOfOrigin;
    return static_cast<std::size_t>(std::bit_width(of_a_use * times * (1u + node.frequency_))) - 1;
}

EvictionQueue::List& EvictionQueue::list_of(const Node& node) {
    if (node.in_ == Node::In::pinned) return pinned_;
    if (!by_worth_.empty()) return by_worth_[worth_class(node)];
    return node.in_ == Node::In::small ? small_ : main_;
}

void EvictionQueue::favour(Favour what, std::atomic<std::uint32_t>& clock) {
    by_worth_.resize(what == Favour::requests ? kWorthClasses : 0);
    clock_ = &clock;
    note_least();
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
    if (in == Node::In::pinned || by_worth_.empty()) return;
    if (ahead(least_.load(std::memory_order_relaxed), node.value_))
        least_.store(node.value_, std::memory_order_relaxed);
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

void EvictionQueue::insert(Node& node, std::uint64_t bytes, SentBy sender) {
    if (node.queued()) {
        const auto in = node.in_;
        if (!by_worth_.empty()) {
            unlink(node);
            node.bytes_ = bytes;
            node.sender_ = sender;
            set_value(node);
            return push(in, node);
        }
        auto& of = list_of(node);
        of.bytes = of.bytes - node.bytes_ + bytes;
        count(in, bytes - node.bytes_);
        node.bytes_ = bytes;
        node.sender_ = sender;
        return;
    }
    node.bytes_ = bytes;
    node.sender_ = sender;
    node.uses_ = 0;
    node.frequency_ = 0;
    set_value(node);
    if (!by_worth_.empty()) return push(Node::In::main, node);
    const auto returns = ghosts_.erase(node.hash.low) > 0 && sender == SentBy::origin;
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
    if (by_worth_.empty()) return;
    node.value_ = clock_->load(std::memory_order_relaxed) + (std::uint32_t{1} << worth_class(node));
}

/// The uses since the last look take effect.
void EvictionQueue::renew(Node& node) {
    unlink(node);
    node.frequency_ = static_cast<std::uint8_t>(
        std::min<unsigned>(kMaxFrequency, node.frequency_ + unsigned{node.uses_}));
    node.uses_ = 0;
    set_value(node);
    push(Node::In::main, node);
}

void EvictionQueue::note_least() {
    auto least = clock_->load(std::memory_order_relaxed) + kFar;
    for (const auto& list : by_worth_)
        if (list.tail && ahead(least, list.tail->value_)) least = list.tail->value_;
    least_.store(least, std::memory_order_relaxed);
}

EvictionQueue::Node* EvictionQueue::pop_least_value(std::optional<std::uint32_t> most) {
    Node* least = nullptr;
    for (auto& list : by_worth_) {
        const auto may_be_least = [&] {
            return list.tail && (!least || ahead(least->value_, list.tail->value_));
        };
        while (may_be_least() && list.tail->uses_ > 0) renew(*list.tail);
        if (may_be_least()) least = list.tail;
    }
    const auto goes = least && !(most && ahead(least->value_, *most));
    if (goes) {
        unlink(*least);
        if (ahead(least->value_, clock_->load(std::memory_order_relaxed)))
            clock_->store(least->value_, std::memory_order_relaxed);
    }
    note_least();
    return goes ? least : nullptr;
}

EvictionQueue::Node* EvictionQueue::pop_victim(std::optional<std::uint32_t> most) {
    if (!by_worth_.empty()) return pop_least_value(most);
    while (small_.tail || main_.tail) {
        const auto from_small =
            small_.tail && (!main_.tail || small_.bytes * kSmallShare >= bytes());
        auto& node = from_small ? *small_.tail : *main_.tail;
        unlink(node);
        if (from_small) {
            // Another request used it beside the one that brought it.
            if (node.uses_ >= (node.sender_ == SentBy::peer ? 2 : 1)) {
                node.uses_ = 0;
                push(Node::In::main, node);
                continue;
            }
            remember(node.hash);
            return &node;
        }
        if (node.uses_ > 0) {
            node.uses_ = node.sender_ == SentBy::peer ? 0 : node.uses_ - 1;
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
