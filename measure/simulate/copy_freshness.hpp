#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/simulate/simulation_config.hpp"
#include "measure/trace/splitmix.hpp"

namespace measure {

/// The freshness of each copy in simulated caches. If `fresh_for` is 0, copies stay fresh for ever,
/// and the object stays empty.
class CopyFreshness {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    CopyFreshness(const SimulationConfig& config, std::size_t caches)
        : lifetime_(config.fresh_for),
          changes_(config.changes),
          random_(config.seed ^ 0xf5e5),
          until_(config.fresh_for.count() > 0 ? caches : 0) {}

    /// Returns the end of freshness of a response that the origin gives or confirms at `now`.
    TimePoint from(TimePoint now) const {
        return until_.empty() ? TimePoint::max() : now + lifetime_;
    }
    bool is_fresh(std::size_t cache, std::uint32_t object, TimePoint now) const {
        return until_.empty() || now < of(cache, object);
    }
    /// Returns the end of freshness of a stored copy.
    TimePoint of(std::size_t cache, std::uint32_t object) const {
        if (until_.empty()) return TimePoint::max();
        const auto at = until_[cache].find(object);
        return at == until_[cache].end() ? TimePoint::min() : at->second;
    }
    void set(std::size_t cache, std::uint32_t object, TimePoint until) {
        if (!until_.empty()) until_[cache].insert_or_assign(object, until);
    }
    void removed(std::size_t cache, std::uint32_t object) {
        if (!until_.empty()) until_[cache].erase(object);
    }
    void clear(std::size_t cache) {
        if (!until_.empty()) until_[cache].clear();
    }

    /// Returns true if the origin has a new version of a stale copy. Drawn anew at each call.
    bool has_changed() { return changes_ > 0 && random_.unit() < changes_; }

private:
    const std::chrono::nanoseconds lifetime_;
    const double changes_;
    SplitMix random_;
    std::vector<boost::unordered_flat_map<std::uint32_t, TimePoint>> until_;  // for each cache
};

}  // namespace measure
