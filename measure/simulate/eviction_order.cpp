#include "measure/simulate/eviction_order.hpp"

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cassert>
#include <deque>
#include <utility>
#include <vector>

#include "proxy/storage/eviction_queue.hpp"
#include "proxy/storage/store.hpp"

namespace measure {
namespace {

/// As the store does it: a queue for each shard, which give up one object in turn.
class S3Fifo final : public EvictionOrder {
public:
    explicit S3Fifo(const Objects& objects) : objects_(objects) {}

    void insert(std::uint32_t object) override {
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
        queues_[node->hash.high >> 60].insert(*node, objects_.charged(object));
    }
    void touch(std::uint32_t object) override {
        proxy::EvictionQueue::touch(*places_.find(object)->second);
    }
    std::uint32_t pop() override {
        for (;;) {
            auto* const victim = queues_[next_++ % queues_.size()].pop_victim();
            if (victim == nullptr) continue;
            auto& node = static_cast<Node&>(*victim);
            places_.erase(node.object);
            free_.push_back(&node);
            return node.object;
        }
    }

private:
    struct Node : proxy::EvictionQueue::Node {
        std::uint32_t object = 0;
    };

    const Objects& objects_;
    std::array<proxy::EvictionQueue, proxy::Store::kShards> queues_;
    static_assert(proxy::Store::kShards == 16);
    std::size_t next_ = 0;
    std::deque<Node> nodes_;
    std::vector<Node*> free_;
    boost::unordered_flat_map<std::uint32_t, Node*> places_;
};

/// Least recently used, with regard to what others hold if so wished.
class Lru final : public EvictionOrder {
public:
    /// Among so many of the oldest that first which others hold.
    static constexpr unsigned kLooksForCopies = 16;

    Lru(Replacement replacement, const Holders& holders, std::size_t proxy)
        : replacement_(replacement), holders_(holders), proxy_(proxy) {
        nodes_.push_back({});  // the end of the ring
    }

    void insert(std::uint32_t object) override {
        std::uint32_t place = 0;
        if (free_.empty()) {
            place = static_cast<std::uint32_t>(nodes_.size());
            nodes_.push_back({});
        } else {
            place = free_.back();
            free_.pop_back();
        }
        nodes_[place].object = object;
        nodes_[place].spared = false;
        places_.emplace(object, place);
        link(place);
    }
    void touch(std::uint32_t object) override {
        const auto place = places_.find(object)->second;
        nodes_[place].spared = false;
        unlink(place);
        link(place);
    }
    std::uint32_t pop() override {
        const auto place = victim();
        const auto object = nodes_[place].object;
        unlink(place);
        free_.push_back(place);
        places_.erase(object);
        return object;
    }

private:
    struct Node {
        std::uint32_t object = 0;
        std::uint32_t newer = 0, older = 0;  // places; 0 is the end
        bool spared = false;
    };

    void link(std::uint32_t place) {
        auto& end = nodes_[0];
        nodes_[place].newer = 0;
        nodes_[place].older = end.older;
        nodes_[end.older].newer = place;
        end.older = place;
    }
    void unlink(std::uint32_t place) {
        nodes_[nodes_[place].older].newer = nodes_[place].newer;
        nodes_[nodes_[place].newer].older = nodes_[place].older;
    }
    bool others_hold(std::uint32_t place) const {
        return holders_.any_but(nodes_[place].object, proxy_);
    }

    std::uint32_t victim() {
        const auto oldest = nodes_[0].newer;
        assert(oldest != 0);
        if (replacement_ == Replacement::lru_copies) {
            auto place = oldest;
            for (unsigned i = 0; i < kLooksForCopies && place != 0; ++i) {
                if (others_hold(place)) return place;
                place = nodes_[place].newer;
            }
        }
        if (replacement_ != Replacement::lru_keep_last) return oldest;
        for (auto place = oldest;; place = nodes_[0].newer) {
            if (nodes_[place].spared || others_hold(place)) return place;
            nodes_[place].spared = true;
            unlink(place);
            link(place);
        }
    }

    const Replacement replacement_;
    const Holders& holders_;
    const std::size_t proxy_;
    std::vector<Node> nodes_;  // a ring: 0, the oldest, ..., the newest
    std::vector<std::uint32_t> free_;
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> places_;
};

}  // namespace

std::unique_ptr<EvictionOrder> make_eviction_order(Replacement replacement, const Objects& objects,
                                                   const Holders& holders, std::size_t proxy) {
    if (replacement == Replacement::s3_fifo) return std::make_unique<S3Fifo>(objects);
    return std::make_unique<Lru>(replacement, holders, proxy);
}

}  // namespace measure
