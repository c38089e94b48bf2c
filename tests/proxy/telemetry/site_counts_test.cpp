#include "proxy/telemetry/site_counts.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace site_counts_test {

std::shared_ptr<const LoadedConfig> config_with(const std::vector<std::string>& hosts) {
    Config config;
    for (const auto& host : hosts) {
        OriginConfig entry;
        entry.host = host;
        config.origins.push_back(entry);
    }
    std::vector<Rule> rules(2);
    rules[0].name = "first";
    rules[1].name = "second";
    config.rules = RuleTable(std::move(rules));
    return std::make_shared<const LoadedConfig>(std::move(config));
}

TEST(SiteCounts, CountByEntryForwardTargetAndRule) {
    SiteCounts counts;
    const auto config = config_with({"a.test", "b.test"});
    const auto* b = &config->origins[1];
    const auto* rule = &config->rules.all()[1];
    counts.count(config, b, true, rule, Outcome::local_hit, 100);
    counts.count(config, b, true, nullptr, Outcome::error, 7);
    counts.count(config, nullptr, true, nullptr, Outcome::origin_fetch, 20);
    counts.count(config, nullptr, false, nullptr, Outcome::error, 3);
    const auto totals = counts.totals();
    ASSERT_EQ(totals.sites.size(), 3u);
    EXPECT_EQ(totals.sites.at("b.test").requests[Outcome::local_hit], 1u);
    EXPECT_EQ(totals.sites.at("b.test").bytes_to_clients, 107u);
    EXPECT_EQ(totals.sites.at("forward").requests[Outcome::origin_fetch], 1u);
    EXPECT_EQ(totals.sites.at("none").requests[Outcome::error], 1u);
    ASSERT_EQ(totals.rules.size(), 1u);
    EXPECT_EQ(totals.rules.at("second").bytes_to_clients, 100u);
}

TEST(SiteCounts, KeepTheirNamesOverAReload) {
    SiteCounts counts;
    const auto before = config_with({"a.test", "b.test"});
    const auto after = config_with({"b.test"});
    counts.count(before, &before->origins[1], true, nullptr, Outcome::local_hit, 1);
    counts.count(after, &after->origins[0], true, nullptr, Outcome::local_hit, 1);
    counts.count(before, &before->origins[0], true, nullptr, Outcome::local_hit, 1);
    const auto totals = counts.totals();
    EXPECT_EQ(totals.sites.at("b.test").requests[Outcome::local_hit], 2u);
    EXPECT_EQ(totals.sites.at("a.test").requests[Outcome::local_hit], 1u);
}

TEST(SiteCounts, KeepABoundedNumberOfNames) {
    SiteTotals sum;
    for (std::size_t i = 0; i < SiteCounts::kMaxNames + 10; ++i) {
        SiteTotals one;
        one.sites["host" + std::to_string(i)].bytes_to_clients = 1;
        sum += one;
    }
    EXPECT_EQ(sum.sites.size(), SiteCounts::kMaxNames + 1);
    EXPECT_EQ(sum.sites.at("other").bytes_to_clients, 10u);
}

TEST(SiteCounts, ARuleThatIsInNoListIsNotCounted) {
    SiteCounts counts;
    const auto config = config_with({"a.test"});
    const Rule two_readings;
    counts.count(config, nullptr, true, &two_readings, Outcome::local_hit, 1);
    EXPECT_TRUE(counts.totals().rules.empty());
}

}  // namespace site_counts_test
}  // namespace proxy
