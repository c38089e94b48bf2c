#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/config/loaded_config.hpp"
#include "proxy/telemetry/counters.hpp"
#include "proxy/telemetry/origin_answers.hpp"

namespace proxy {

/// Client requests of one site or rule, and the answers of the origin of a site.
struct SiteCount {
    EnumCounts<Outcome> requests;
    std::uint64_t bytes_to_clients = 0;
    OriginAnswerCounts origin;  // what its origin answered; of a site alone

    SiteCount& operator+=(const SiteCount& other);
};

/// Client requests by site and by rule, since the start of the node. A site is an entry of
/// `origins`, named by its host and path, `forward` for all forward targets together, or `none` for
/// requests that were refused or had no target.
struct SiteTotals {
    std::map<std::string, SiteCount, std::less<>> sites, rules;

    SiteTotals& operator+=(const SiteTotals& other);
};

/// Counts the requests of one worker by entry of `origins` and by rule, each of which has its
/// place. A request under another configuration moves the counts so far to their names, of which
/// kMaxNames are kept; the others add up under `other`. One thread.
class SiteCounts {
public:
    static constexpr std::size_t kMaxNames = 1024;
    static constexpr const char* kForwardTargets = "forward";
    static constexpr const char* kNoSite = "none";
    static constexpr const char* kOthers = "other";

    /// `entry` and `rule` point into `config`, or are null. `has_site`: without an entry, the
    /// request is for a forward target.
    void count(const std::shared_ptr<const LoadedConfig>& config, const OriginConfig* entry,
               bool has_site, const Rule* rule, Outcome outcome, std::uint64_t bytes_to_clients) {
        if (config.get() != config_.get()) follow(config);
        auto& site = entry != nullptr ? sites_[place_of(entry, config->origins)]
                     : has_site       ? forward_
                                      : none_;
        add(site, outcome, bytes_to_clients);
        if (rule == nullptr) return;
        // The rule for paths of two readings is in no list.
        const auto place = place_of(rule, config->rules.all());
        if (place < rules_.size()) add(rules_[place], outcome, bytes_to_clients);
    }

    SiteTotals totals() const;

private:
    template <class T>
    static std::size_t place_of(const T* element, const std::vector<T>& list) {
        const auto offset = reinterpret_cast<std::uintptr_t>(element) -
                            reinterpret_cast<std::uintptr_t>(list.data());
        return offset / sizeof(T);  // of another object: behind the end
    }
    static void add(SiteCount& to, Outcome outcome, std::uint64_t bytes) {
        ++to.requests[outcome];
        to.bytes_to_clients += bytes;
    }
    void follow(const std::shared_ptr<const LoadedConfig>& config);

    std::shared_ptr<const LoadedConfig> config_;  // of the places; null before the first request
    std::vector<SiteCount> sites_, rules_;        // by place
    SiteCount forward_, none_;
    SiteTotals earlier_;  // of earlier configurations
};

}  // namespace proxy
