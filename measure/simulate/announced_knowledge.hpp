#pragma once

#include <vector>

#include "measure/simulate/announced_objects.hpp"
#include "measure/simulate/knowledge.hpp"

namespace measure {

/// The common part of schemes in which proxies announce their changes: the announced objects of
/// each proxy, and the traffic of announcements. If all proxies receive an announcement together
/// with a delay, it also keeps the delivered objects.
class AnnouncedKnowledge : public Knowledge {
public:
    void stored(std::size_t proxy, std::uint32_t object, TimePoint now) final {
        announced_objects_.stored(proxy, object);
        changed(proxy, object, true, now);
    }
    void removed(std::size_t proxy, std::uint32_t object, TimePoint now) final {
        announced_objects_.removed(proxy, object);
        changed(proxy, object, false, now);
    }
    bool was_announced(std::size_t, std::size_t peer, std::uint32_t object) const override {
        return delivery_ == Delivery::later ? delivered_objects_.has(object, peer)
                                            : announced_objects_.has_announced(peer, object);
    }
    AnnouncementTotals announced() const final { return announced_; }

protected:
    enum class Delivery : std::uint8_t {
        at_once,  // at the announcement, or at times that was_announced() of the subclass knows
        later,    // at deliver()
    };
    AnnouncedKnowledge(const KnowledgeInputs& shared, Delivery delivery)
        : shared_(shared),
          announced_objects_(shared.holders, shared.objects.size(), shared.config.proxies),
          delivery_(delivery),
          delivered_objects_(delivery == Delivery::later ? shared.objects.size() : 0,
                             shared.config.proxies) {}

    /// Called when a proxy has stored an object (`is_stored`) or evicted it.
    virtual void changed(std::size_t, std::uint32_t, bool, TimePoint) {}

    /// Delivers changes to all other proxies, for Delivery::later.
    void deliver(std::size_t proxy, const std::vector<AnnouncedObjects::Change>& changes) {
        for (const auto& [object, is_stored] : changes)
            delivered_objects_.set(object, proxy, is_stored);
    }

    const KnowledgeInputs shared_;
    AnnouncedObjects announced_objects_;
    AnnouncementTotals announced_;

private:
    const Delivery delivery_;
    Holders delivered_objects_;
};

}  // namespace measure
