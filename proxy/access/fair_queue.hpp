#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <utility>

namespace proxy {

/// A bounded queue in which owners have turns: pop() takes one element of each owner after the
/// other. An owner may have half of the places that are free, so others find room whatever one
/// owner does. One thread at a time.
template <class Owner, class T>
class FairQueue {
public:
    explicit FairQueue(std::size_t most) : most_(most) {}

    /// False: there is no room for another element of this owner.
    bool push(const Owner& owner, T element) {
        const auto found = by_owner_.find(owner);
        const auto own = found == by_owner_.end() ? 0 : found->second.size();
        const auto free = most_ - (size_ - own);  // for this owner and those to come
        if (own >= (free + 1) / 2) return false;
        if (own == 0) turns_.push_back(owner);
        by_owner_[owner].push_back(std::move(element));
        ++size_;
        return true;
    }

    std::optional<T> pop() {
        if (turns_.empty()) return std::nullopt;
        const auto at = by_owner_.find(turns_.front());
        std::optional<T> element(std::move(at->second.front()));
        at->second.pop_front();
        --size_;
        if (at->second.empty()) {
            by_owner_.erase(at);
            turns_.pop_front();
        } else {
            turns_.splice(turns_.end(), turns_, turns_.begin());
        }
        return element;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    void clear() {
        by_owner_.clear();
        turns_.clear();
        size_ = 0;
    }

private:
    const std::size_t most_;
    std::size_t size_ = 0;
    std::map<Owner, std::deque<T>> by_owner_;
    std::list<Owner> turns_;  // owners with elements
};

}  // namespace proxy
