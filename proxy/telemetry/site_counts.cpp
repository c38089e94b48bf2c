#include "proxy/telemetry/site_counts.hpp"

#include "proxy/telemetry/bounded_names.hpp"

namespace proxy {
namespace {

using ByName = std::map<std::string, SiteCount, std::less<>>;

void add_under_name(ByName& to, const std::string& name, const SiteCount& count) {
    entry_within(to, name, SiteCounts::kMaxNames, SiteCounts::kOthers) += count;
}

bool is_zero(const SiteCount& count) {
    for (const auto value : count.requests.values)
        if (value != 0) return false;
    return true;
}

}  // namespace

SiteCount& SiteCount::operator+=(const SiteCount& other) {
    requests += other.requests;
    bytes_to_clients += other.bytes_to_clients;
    origin += other.origin;
    return *this;
}

SiteTotals& SiteTotals::operator+=(const SiteTotals& other) {
    for (const auto& [name, count] : other.sites) add_under_name(sites, name, count);
    for (const auto& [name, count] : other.rules) add_under_name(rules, name, count);
    return *this;
}

SiteTotals SiteCounts::totals() const {
    auto all = earlier_;
    const auto note = [](ByName& to, const std::string& name, const SiteCount& count) {
        if (!is_zero(count)) add_under_name(to, name, count);
    };
    for (std::size_t i = 0; i < sites_.size(); ++i)
        note(all.sites, config_->origins[i].name(), sites_[i]);
    note(all.sites, kForwardTargets, forward_);
    note(all.sites, kNoSite, none_);
    for (std::size_t i = 0; i < rules_.size(); ++i)
        note(all.rules, config_->rules.all()[i].name, rules_[i]);
    return all;
}

void SiteCounts::follow(const std::shared_ptr<const LoadedConfig>& config) {
    earlier_ = totals();
    forward_ = none_ = {};
    config_ = config;
    sites_.assign(config->origins.size(), {});
    rules_.assign(config->rules.all().size(), {});
}

}  // namespace proxy
