#pragma once

#include <algorithm>
#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "proxy/config/config.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The sender of an object. The loss of an object costs another fetch from the origin, while the
/// loss of a copy of a peer's response mostly costs a request to the peer.
enum class SentBy : std::uint8_t { origin, peer };

/// The order of eviction: S3-FIFO (Yang et al., SOSP 2023). New objects enter a small queue with a
/// tenth of the bytes. At its end, objects that were used again move to the main queue, and the
/// others are evicted. The queue remembers their keys for a while as ghosts, which enter the main
/// queue directly. So a scan of objects that are used once passes through the small queue, and the
/// rest stays. A copy of a peer's response takes the small queue even if it returns, takes two uses
/// to leave it, and has one round in the main queue for all its uses. One thread at a time; the
/// store uses the lock of a shard.
///
/// With Favour::requests the least *value* goes instead: the clock at the time when the object came
/// or was last looked at, and its *worth*, which is its uses divided by its size (GreedyDual-Size
/// with frequency, Cherkasova, HP Labs 1998). The clock is the value of the last victim of all
/// shards. A copy of a peer's response has a quarter of the worth. Worth counts as a power of two.
/// Objects of one such class stand in one list by the time of their last look, so the least value
/// is at the end of a list: a use costs a hit nothing but the count, and an eviction looks at
/// kWorthClasses ends.
///
/// The eviction of an object with readers frees nothing, so such an object is *pinned*: it is set
/// aside and left out of bytes() until a later look.
class EvictionQueue {
public:
    static constexpr std::uint8_t kMaxUses = 3;
    static constexpr unsigned kSmallShare = 10;  // the small queue holds one part in this many
    static constexpr std::size_t kMinGhosts = 64;
    static constexpr std::size_t kLooksAtPinned = 8;
    static constexpr std::size_t kWorthClasses = 27;

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
        std::uint8_t uses_ = 0;  // since the last look
        // With Favour::requests:
        std::uint8_t frequency_ = 0;  // uses before that
        SentBy sender_ = SentBy::origin;
    };

    /// Adds the bytes() of this queue to `total`, which must outlive it. To be called before the
    /// first insert().
    void count_into(std::atomic<std::uint64_t>& total) { total_ = &total; }
    /// `clock` is shared by all shards, and must outlive it. To be called before the first
    /// insert().
    void favour(Favour what, std::atomic<std::uint32_t>& clock);

    /// Adds a node, or changes a queued one.
    void insert(Node& node, std::uint64_t bytes, SentBy sender = SentBy::origin);
    void remove(Node& node);
    static void touch(Node& node) {
        if (node.uses_ < kMaxUses) ++node.uses_;
    }
    /// Takes the next victim out of an unempty queue; otherwise null. With Favour::requests also
    /// null if its value is ahead of `most`.
    Node* pop_victim(std::optional<std::uint32_t> most = std::nullopt);
    /// Sets a node in use aside, whether it is queued or was taken out.
    void pin(Node& node);
    /// Looks at those that were pinned longest, kLooksAtPinned of them. The nodes that `in_use`
    /// denies become evictable again.
    template <class InUse>
    void unpin_unless(InUse in_use) {
        for (auto looks = std::min(kLooksAtPinned, pinned_.count); looks > 0; --looks) {
            auto& node = *pinned_.tail;
            unlink(node);
            set_value(node);
            push(in_use(node) ? Node::In::pinned : Node::In::main, node);
        }
    }

    /// The bytes that can be evicted.
    std::uint64_t bytes() const { return evictable_; }
    /// With Favour::requests, the least value that the next victim may have. Any thread.
    std::uint32_t least() const { return least_.load(std::memory_order_relaxed); }

private:
    struct List {
        Node* head = nullptr;  // newest
        Node* tail = nullptr;  // the next one to look at
        std::uint64_t bytes = 0;
        std::size_t count = 0;
    };

    static std::size_t worth_class(const Node& node);
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
    void renew(Node& node);
    void note_least();
    Node* pop_least_value(std::optional<std::uint32_t> most);

    std::atomic<std::uint64_t>* total_ = nullptr;
    std::uint64_t evictable_ = 0;
    List small_, main_, pinned_;
    std::vector<List> by_worth_;  // in place of small_ and main_; empty: Favour::bytes
    std::atomic<std::uint32_t>* clock_ = nullptr;
    std::atomic<std::uint32_t> least_{0};  // no value in the lists is below it
    std::deque<std::uint64_t> ghost_order_;
    boost::unordered_flat_set<std::uint64_t> ghosts_;
};

}  // namespace proxy
