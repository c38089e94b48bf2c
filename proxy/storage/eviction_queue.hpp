#pragma once

#include <algorithm>
#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "proxy/config/config.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The order of eviction: S3-FIFO (Yang et al., SOSP 2023). New objects enter a small queue with a
/// tenth of the bytes. At its end, objects that were used again move to the main queue, and the
/// others are evicted. The queue remembers their keys for a while as ghosts, which enter the main
/// queue directly. So a scan of objects that are used once passes through the small queue, and the
/// rest stays. One thread at a time; the store uses the lock of a shard.
///
/// With Favour::requests the least *value* goes instead: the clock at the time when the object came
/// or was last looked at, and its uses divided by its size (GreedyDual-Size with frequency,
/// Cherkasova, HP Labs 1998). The clock is the value of the last victim. Objects of one size class
/// stand in one list by the time of their last look, so a victim is the oldest of some list: a use
/// costs a hit nothing but the count, and an eviction looks at the ends of kSizeClasses lists.
///
/// The eviction of an object with readers frees nothing, so such an object is *pinned*: it is set
/// aside and left out of bytes() until a later look.
class EvictionQueue {
public:
    static constexpr std::uint8_t kMaxUses = 3;
    static constexpr unsigned kSmallShare = 10;  // the small queue holds one part in this many
    static constexpr std::size_t kMinGhosts = 64;
    static constexpr std::size_t kLooksAtPinned = 8;
    static constexpr std::size_t kSizeClasses = 65;  // by the highest bit of the size in bytes

    class Node {
    public:
        summary::KeyHash hash;
        bool queued() const { return in_ != In::none; }
        unsigned uses() const { return uses_; }  // recently, 0 .. kMaxUses

    private:
        friend class EvictionQueue;
        enum class In : std::uint8_t { none, small, main, pinned };
        Node* previous_ = nullptr;
        Node* next_ = nullptr;
        std::uint64_t bytes_ = 0;
        std::uint32_t value_ = 0;  // modulo 2^32, see ahead()
        In in_ = In::none;
        std::uint8_t uses_ = 0;       // since the last look
        std::uint8_t frequency_ = 0;  // uses before that, with Favour::requests
    };

    /// Adds the bytes() of this queue to `total`, which must outlive it. To be called before the
    /// first insert().
    void count_into(std::atomic<std::uint64_t>& total) { total_ = &total; }
    /// To be called before the first insert().
    void favour(Favour what) { by_size_.resize(what == Favour::requests ? kSizeClasses : 0); }

    /// Adds a node, or changes the size of a queued one.
    void insert(Node& node, std::uint64_t bytes);
    void remove(Node& node);
    static void touch(Node& node) {
        if (node.uses_ < kMaxUses) ++node.uses_;
    }
    /// Takes the next victim out of an unempty queue; otherwise null.
    Node* pop_victim();
    /// Sets a node in use aside, whether it is queued or was taken out.
    void pin(Node& node);
    /// Looks at those that were pinned longest, kLooksAtPinned of them. The nodes that `in_use`
    /// denies become evictable again.
    template <class InUse>
    void unpin_unless(InUse in_use) {
        for (auto looks = std::min(kLooksAtPinned, pinned_.count); looks > 0; --looks) {
            auto& node = *pinned_.tail;
            unlink(node);
            push(in_use(node) ? Node::In::pinned : Node::In::main, node);
        }
    }

    /// The bytes that can be evicted.
    std::uint64_t bytes() const { return evictable_; }

private:
    struct List {
        Node* head = nullptr;  // newest
        Node* tail = nullptr;  // the next one to look at
        std::uint64_t bytes = 0;
        std::size_t count = 0;
    };

    List& list_of(const Node& node);
    void count(Node::In in, std::uint64_t more) {
        if (in == Node::In::pinned) return;
        evictable_ += more;
        if (total_) total_->fetch_add(more, std::memory_order_relaxed);
    }
    void push(Node::In in, Node& node);
    void unlink(Node& node);
    void remember(summary::KeyHash hash);
    void set_value(Node& node) const;
    Node* oldest_unused(List& list);
    Node* pop_least_value();

    std::atomic<std::uint64_t>* total_ = nullptr;
    std::uint64_t evictable_ = 0;
    List small_, main_, pinned_;
    std::vector<List> by_size_;  // in place of small_ and main_; empty: Favour::bytes
    std::uint32_t clock_ = 0;    // value of the last victim
    std::deque<std::uint64_t> ghost_order_;
    boost::unordered_flat_set<std::uint64_t> ghosts_;
};

}  // namespace proxy
