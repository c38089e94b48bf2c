#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "measure/simulate/holders.hpp"

namespace measure {

/// The objects that each proxy has announced, and the number of changes since. `holders` must
/// outlive it.
class AnnouncedObjects {
public:
    struct Change {
        std::uint32_t object = 0;
        bool is_stored = false;
    };

    AnnouncedObjects(const Holders& holders, std::size_t objects, std::size_t proxies)
        : holders_(holders), announced_(objects, proxies), proxies_(proxies) {}

    void stored(std::size_t proxy, std::uint32_t object) {
        auto& of = proxies_[proxy];
        ++of.held;
        ++of.stored;
        of.touched.push_back(object);
    }
    void removed(std::size_t proxy, std::uint32_t object) {
        auto& of = proxies_[proxy];
        --of.held;
        ++of.removed;
        of.touched.push_back(object);
    }
    /// Returns true if this share of a proxy's objects has changed. One stored and one evicted
    /// object count as one change.
    bool has_changed(std::size_t proxy, double part) const {
        const auto& of = proxies_[proxy];
        return static_cast<double>(std::max(of.stored, of.removed)) >=
               part * static_cast<double>(of.held);
    }

    /// Announces all changes since the last call, and returns them.
    std::vector<Change> announce(std::size_t proxy) {
        std::vector<Change> changes;
        auto& of = proxies_[proxy];
        for (const auto object : of.touched) {
            const bool is_stored = holders_.has(object, proxy);
            if (is_stored == announced_.has(object, proxy)) continue;
            announced_.set(object, proxy, is_stored);
            changes.push_back({object, is_stored});
        }
        of.touched.clear();
        of.stored = of.removed = 0;
        return changes;
    }
    /// Forgets the objects and the announcements of a proxy.
    void forget(std::size_t proxy) {
        announced_.remove_all(proxy);
        proxies_[proxy] = {};
    }
    bool has_announced(std::size_t proxy, std::uint32_t object) const {
        return announced_.has(object, proxy);
    }
    bool is_all_announced(std::size_t proxy) const { return proxies_[proxy].touched.empty(); }
    std::uint64_t held(std::size_t proxy) const { return proxies_[proxy].held; }

private:
    struct Proxy {
        std::uint64_t held = 0, stored = 0, removed = 0;  // stored and removed: since the last
                                                          // announcement
        std::vector<std::uint32_t> touched;
    };

    const Holders& holders_;
    Holders announced_;
    std::vector<Proxy> proxies_;
};

}  // namespace measure
