#pragma once

#include <vector>

#include "measure/simulate/knowledge.hpp"
#include "measure/simulate/told_objects.hpp"

namespace measure {

/// What ways of knowing have in common whose proxies tell each other of what changes: what each
/// has told, object by object, and what that took. Where all others hear it together, and not at
/// once, also what they have heard.
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
        at_once,  // or not all the same, and was_told() is another's
        later,    // when hear() says so
    };
    ToldKnowledge(const Shared& shared, Hears hears)
        : shared_(shared),
          told_(shared.holders, shared.objects.size(), shared.config.proxies),
          hears_(hears),
          heard_objects_(hears == Hears::later ? shared.objects.size() : 0, shared.config.proxies) {
    }

    /// It holds the object now, or no longer.
    virtual void changed(std::size_t, std::uint32_t, bool, TimePoint) {}

    /// What others are to hear together; for `later`.
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
