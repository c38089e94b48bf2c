#include "proxy/fetch/remote_hits.hpp"

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

}  // namespace proxy
