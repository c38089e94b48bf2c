#include "proxy/cache/copy_plan.hpp"

#include <utility>

namespace proxy {

bool RemoteHits::note(summary::KeyHash key) {
    const auto mark = key.low ^ key.high;
    const auto is_new = newer_.insert(mark).second;
    const auto came_before = !is_new || older_.contains(mark);
    if (newer_.size() >= window_) {
        older_ = std::exchange(newer_, Keys());
    }
    return came_before;
}

bool stores_copy(CopyPolicy policy, const RemoteHit& hit, RemoteHits& lately) {
    switch (policy) {
        case CopyPolicy::always:
            return true;
        case CopyPolicy::second_use:
            return lately.note(hit.key) || hit.awaited || hit.renews;
        case CopyPolicy::never:
            break;
    }
    return hit.renews;
}

}  // namespace proxy
