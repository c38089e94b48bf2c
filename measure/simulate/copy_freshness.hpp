#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "measure/simulate/simulation_config.hpp"
#include "measure/trace/splitmix.hpp"

namespace measure {

/// The freshness and the version of each copy in simulated caches. If `fresh_for` is 0, copies stay
/// fresh for ever, and the object stays empty.
class CopyFreshness {
public:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Copy {
        TimePoint fresh_until = TimePoint::min();
        std::uint32_t version = 0;
    };

    CopyFreshness(const SimulationConfig& config, std::size_t caches)
        : lifetime_(config.fresh_for),
          changes_(config.changes),
          random_(config.seed ^ 0xf5e5),
          copies_(config.fresh_for.count() > 0 ? caches : 0) {}

    bool ends() const { return !copies_.empty(); }
    /// Returns what the origin gives or confirms at `now`.
    Copy from_origin(std::uint32_t object, TimePoint now) const {
        if (!ends()) return {TimePoint::max(), 0};
        const auto at = versions_.find(object);
        return {now + lifetime_, at == versions_.end() ? 0 : at->second};
    }
    /// Returns the time at which the origin gave or confirmed a copy that ends.
    TimePoint confirmed(const Copy& copy) const { return copy.fresh_until - lifetime_; }
    /// A copy of that version, confirmed at that time.
    Copy renewed(const Copy& copy, TimePoint confirmed) const {
        return {confirmed + lifetime_, copy.version};
    }
    bool is_fresh(std::size_t cache, std::uint32_t object, TimePoint now) const {
        return !ends() || now < of(cache, object).fresh_until;
    }
    /// Returns the stored copy.
    Copy of(std::size_t cache, std::uint32_t object) const {
        if (!ends()) return {TimePoint::max(), 0};
        const auto at = copies_[cache].find(object);
        return at == copies_[cache].end() ? Copy() : at->second;
    }
    void set(std::size_t cache, std::uint32_t object, const Copy& copy) {
        if (ends()) copies_[cache].insert_or_assign(object, copy);
    }
    void removed(std::size_t cache, std::uint32_t object) {
        if (ends()) copies_[cache].erase(object);
    }
    void clear(std::size_t cache) {
        if (ends()) copies_[cache].clear();
    }

    /// Returns true if the origin has another version than this stale copy. Whether it has made one
    /// since it was asked last is drawn anew at each call.
    bool has_changed(std::uint32_t object, const Copy& copy) {
        if (changes_ == 0) return false;
        auto& version = versions_[object];
        if (random_.unit() < changes_) ++version;
        return version != copy.version;
    }

private:
    const std::chrono::nanoseconds lifetime_;
    const double changes_;
    SplitMix random_;
    std::vector<boost::unordered_flat_map<std::uint32_t, Copy>> copies_;  // for each cache
    boost::unordered_flat_map<std::uint32_t, std::uint32_t> versions_;  // at the origin; absent: 0
};

}  // namespace measure
