#pragma once

#include <vector>

#include "measure/simulate/knowledge.hpp"
#include "measure/simulate/told_objects.hpp"

namespace measure {

/// The common part of schemes in which proxies announce their changes: the announced objects of
/// each proxy, and the traffic of announcements. If all proxies receive an announcement together
/// with a delay, it also keeps the delivered objects.
class ToldKnowledge : public Knowledge {
public:
    void stored(std::size_t proxy, std::uint32_t object, TimePoint now) final {
        told_.stored(proxy, object);
        changed(proxy, object, true, now);
    }
    void removed(std::size_t proxy, std::uint32_t object, TimePoint now) final {
        told_.removed(proxy, object);
        changed(proxy, object, false, now);
    }
    bool was_told(std::size_t, std::size_t peer, std::uint32_t object) const override {
        return hears_ == Hears::later ? heard_objects_.has(object, peer) : told_.told(peer, object);
    }
    Announced announced() const final { return announced_; }

protected:
    enum class Hears : std::uint8_t {
        at_once,  // at the announcement, or at times that was_announced() of the subclass knows
        later,    // at deliver()
    };
    ToldKnowledge(const Shared& shared, Hears hears)
        : shared_(shared),
          told_(shared.holders, shared.objects.size(), shared.config.proxies),
          hears_(hears),
          heard_objects_(hears == Hears::later ? shared.objects.size() : 0, shared.config.proxies) {
    }

    /// Called when a proxy has stored an object (`held`) or evicted it.
    virtual void changed(std::size_t, std::uint32_t, bool, TimePoint) {}

    /// Delivers changes to all other proxies, for Delivery::later.
    void hear(std::size_t proxy, const std::vector<ToldObjects::Change>& changes) {
        for (const auto& [object, held] : changes) heard_objects_.set(object, proxy, held);
    }

    const Shared shared_;
    ToldObjects told_;
    Announced announced_;

private:
    const Hears hears_;
    Holders heard_objects_;
};

}  // namespace measure
