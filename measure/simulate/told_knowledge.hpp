#pragma once

#include "measure/simulate/knowledge.hpp"
#include "measure/simulate/told_objects.hpp"

namespace measure {

/// What ways of knowing have in common whose proxies tell each other of what changes: what each
/// has told, object by object, and what that took.
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
    /// Where what is told is heard before anybody asks.
    bool was_told(std::size_t, std::size_t peer, std::uint32_t object) const override {
        return told_.told(peer, object);
    }
    Announced announced() const final { return announced_; }

protected:
    explicit ToldKnowledge(const Shared& shared)
        : shared_(shared), told_(shared.holders, shared.objects.size(), shared.config.proxies) {}

    /// It holds the object now, or no longer.
    virtual void changed(std::size_t, std::uint32_t, bool, TimePoint) {}

    const Shared shared_;
    ToldObjects told_;
    Announced announced_;
};

}  // namespace measure
