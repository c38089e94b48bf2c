#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <functional>
#include <list>
#include <utility>

namespace base {

/// A map that knows the order in which its keys were used last. Its owner decides what counts as a
/// use, and when the oldest entry goes. One thread at a time.
template <class Key, class Value, class Hash = std::hash<Key>>
class RecentMap {
public:
    using Entry = std::pair<const Key, Value>;

    /// No use. Null if the key is absent.
    const Value* find(const Key& key) const {
        const auto known = by_key_.find(key);
        return known == by_key_.end() ? nullptr : &known->second->second;
    }
    /// The value of the key, which becomes the latest. A new one is empty.
    Value& use(const Key& key) {
        const auto [known, is_new] = by_key_.try_emplace(key);
        if (is_new) {
            entries_.emplace_front(key, Value());
            known->second = entries_.begin();
        } else {
            entries_.splice(entries_.begin(), entries_, known->second);
        }
        return entries_.front().second;
    }
    /// Precondition: there is one.
    const Entry& oldest() const { return entries_.back(); }
    void drop_oldest() {
        by_key_.erase(oldest().first);
        entries_.pop_back();
    }

    std::size_t size() const { return entries_.size(); }
    /// The latest in front.
    const std::list<Entry>& entries() const { return entries_; }

private:
    std::list<Entry> entries_;
    boost::unordered_flat_map<Key, typename std::list<Entry>::iterator, Hash> by_key_;
};

}  // namespace base
