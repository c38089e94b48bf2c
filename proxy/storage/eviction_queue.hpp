#pragma once

#include <algorithm>
#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <deque>

#include "summary/key_hash.hpp"

namespace proxy {

/// Which object goes next: S3-FIFO (Yang et al., SOSP 2023). New objects enter a small queue of a
/// tenth of the bytes; those used again by the time they reach its end move to the main queue, the
/// others go, and their keys are remembered for a while as ghosts that enter the main queue
/// directly. A scan of objects used once therefore passes through the small queue and leaves the
/// rest alone. One thread at a time (the store's shard lock).
///
/// What is in use frees nothing when it goes, so it is *held* aside: it counts for nothing here
/// until it is looked at again.
class EvictionQueue {
public:
    static constexpr std::uint8_t kMaxUses = 3;
    static constexpr unsigned kSmallShare = 10;  // the small queue holds one part in this many
    static constexpr std::size_t kMinGhosts = 64;
    static constexpr std::size_t kLooksAtHeld = 8;

    class Node {
    public:
        summary::KeyHash hash;
        bool queued() const { return in_ != In::none; }
        unsigned uses() const { return uses_; }  // lately, 0 .. kMaxUses

    private:
        friend class EvictionQueue;
        enum class In : std::uint8_t { none, small, main, held };
        Node* previous_ = nullptr;
        Node* next_ = nullptr;
        std::uint64_t bytes_ = 0;
        In in_ = In::none;
        std::uint8_t uses_ = 0;
    };

    /// `total`, which outlives the queue, has the bytes() of all queues that count into it. Before
    /// the first node.
    void count_into(std::atomic<std::uint64_t>& total) { total_ = &total; }

    /// Adds a node, or changes the size of one that is queued.
    void insert(Node& node, std::uint64_t bytes);
    void remove(Node& node);
    static void touch(Node& node) {
        if (node.uses_ < kMaxUses) ++node.uses_;
    }
    /// Takes the next victim out; null when there is none.
    Node* pop_victim();
    /// It is in use, queued or taken out.
    void hold(Node& node);
    /// Looks at some of those that were held longest: what `in_use` denies can be evicted again.
    template <class InUse>
    void release(InUse in_use) {
        for (auto looks = std::min(kLooksAtHeld, held_.count); looks > 0; --looks) {
            auto& node = *held_.tail;
            unlink(node);
            push(in_use(node) ? Node::In::held : Node::In::main, node);
        }
    }

    /// Of what can be evicted.
    std::uint64_t bytes() const { return small_.bytes + main_.bytes; }

private:
    struct List {
        Node* head = nullptr;  // newest
        Node* tail = nullptr;  // next to be looked at
        std::uint64_t bytes = 0;
        std::size_t count = 0;
    };

    List& list(Node::In in) {
        return in == Node::In::small ? small_ : in == Node::In::main ? main_ : held_;
    }
    void count(Node::In in, std::uint64_t more) {
        if (total_ && in != Node::In::held) total_->fetch_add(more, std::memory_order_relaxed);
    }
    void push(Node::In in, Node& node);
    void unlink(Node& node);
    void remember(summary::KeyHash hash);

    std::atomic<std::uint64_t>* total_ = nullptr;
    List small_, main_, held_;
    std::deque<std::uint64_t> ghost_order_;
    boost::unordered_flat_set<std::uint64_t> ghosts_;
};

}  // namespace proxy
