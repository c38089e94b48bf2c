#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

namespace measure {

/// Objects of a simulated cache in one or more lists, each ordered from its oldest to its newest.
/// Memory: 16 bytes for each object at the largest size so far, and a place in a hash table.
class ObjectLists {
public:
    using Place = std::uint32_t;

    explicit ObjectLists(unsigned lists) : lists_(lists) {
        for (Place end = 0; end < lists; ++end) nodes_.push_back({0, end, end, 0, false});
    }

    /// Precondition: the object is in no list.
    void insert(std::uint32_t object, unsigned list) {
        Place place = 0;
        if (free_.empty()) {
            place = static_cast<Place>(nodes_.size());
            nodes_.emplace_back();
        } else {
            place = free_.back();
            free_.pop_back();
        }
        nodes_[place].object = object;
        nodes_[place].mark = false;
        places_.emplace(object, place);
        link(place, list);
    }
    /// Precondition: the object is in a list.
    Place find(std::uint32_t object) const { return places_.find(object)->second; }
    /// Makes the object the newest of that list.
    void move_to(Place place, unsigned list) {
        unlink(place);
        link(place, list);
    }
    /// Removes and returns the object.
    std::uint32_t remove(Place place) {
        unlink(place);
        free_.push_back(place);
        places_.erase(nodes_[place].object);
        return nodes_[place].object;
    }

    /// Returns the oldest place, or the end of an empty list.
    Place oldest(unsigned list) const { return nodes_[list].newer; }
    Place newer(Place place) const { return nodes_[place].newer; }
    bool is_end(Place place) const { return place < lists_; }

    std::uint32_t object(Place place) const { return nodes_[place].object; }
    unsigned list_of(Place place) const { return nodes_[place].list; }
    /// A note of the eviction order about the object; false at first.
    bool mark(Place place) const { return nodes_[place].mark; }
    void set_mark(Place place, bool mark) { nodes_[place].mark = mark; }

private:
    struct Node {
        std::uint32_t object = 0;
        Place newer = 0, older = 0;
        std::uint8_t list = 0;
        bool mark = false;
    };

    void link(Place place, unsigned list) {
        auto& node = nodes_[place];
        node.list = static_cast<std::uint8_t>(list);
        node.newer = list;
        node.older = nodes_[list].older;
        nodes_[node.older].newer = place;
        nodes_[list].older = place;
    }
    void unlink(Place place) {
        const auto& node = nodes_[place];
        nodes_[node.older].newer = node.newer;
        nodes_[node.newer].older = node.older;
    }

    Place lists_;
    std::vector<Node> nodes_;  // first the ends of the lists, which are rings
    std::vector<Place> free_;
    boost::unordered_flat_map<std::uint32_t, Place> places_;
};

}  // namespace measure
