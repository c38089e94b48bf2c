#include "measure/study/study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "measure/study/scheme_name.hpp"
#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace study_test {

using testing::ElementsAre;
using Topic = StudyTable::Topic;

std::vector<std::string> titles(const StudyTable& table) {
    std::vector<std::string> out;
    for (const auto& line : table.lines) out.push_back(line.title);
    return out;
}

TEST(LogFacts, CountDistinctBytesOnceAndGuessUnknownSizes) {
    Trace trace;
    trace.source = "a.log";
    trace.clients = {1, 2};
    const auto a = trace.add_url("http://a/", 100), b = trace.add_url("http://b/", 0);
    trace.add({1'000, 0, a, kGet});
    trace.add({2'000, 1, a, kGet});
    trace.add({3'000, 1, b, kHead});
    trace.add({5'000, 1, b, kGet});
    SimulationConfig base;
    base.unknown_bytes = 7;
    const auto facts = facts_of(trace, base);
    EXPECT_EQ(facts.title, "a.log");
    EXPECT_EQ(facts.requests, 4u);
    EXPECT_EQ(facts.clients, 2u);
    EXPECT_EQ(facts.objects, 2u);
    EXPECT_EQ(facts.bytes, 207u) << "a HEAD brings none";
    EXPECT_EQ(facts.distinct_bytes, 107u);
    EXPECT_EQ(facts.span, std::chrono::seconds(4));
    base.unit_objects = true;
    EXPECT_EQ(facts_of(trace, base).distinct_bytes, 2u);
}

TEST(StudyOptions, HaveNoMoreProxiesThanThereAreClients) {
    auto log = small_log();
    log.clients = 300;
    EXPECT_THAT(completed({}, log).proxies, ElementsAre(16, 4, 64, 256));
    log.clients = 3;
    EXPECT_THAT(completed({}, log).proxies, ElementsAre(4));
    StudyOptions given;
    given.proxies = {1000};
    EXPECT_THAT(completed(given, log).proxies, ElementsAre(1000)) << "who asks for it, gets it";
}

TEST(StudyOptions, HaveNothingTwice) {
    StudyOptions given;
    given.proxies = {4, 8, 4, 4};
    given.caches = {{0, 0.01}, {0, 0.01}, {1 << 20, 0}};
    const auto options = completed(given, small_log());
    EXPECT_THAT(options.proxies, ElementsAre(4, 8));
    ASSERT_EQ(options.caches.size(), 2u);
    EXPECT_EQ(options.caches[1].bytes, 1u << 20);
}

TEST(StudyOptions, HaveFewProxiesWhenEachPairIsSimulatedApart) {
    StudyOptions options;
    options.base.network.dropped = 0.01;
    EXPECT_THAT(completed(options, small_log()).proxies, ElementsAre(16, 4, 64));
}

TEST(Study, ComparesAllSchemes) {
    const auto log = small_log();
    const auto study = plan_study(log, completed({}, log));
    EXPECT_THAT(
        titles(study.tables.front()),
        ElementsAre("no sharing", "ICP", "Squid digests", "exact directory, 1%", "server names, 1%",
                    "Bloom 8, 1%", "Bloom 16, 1%", "Bloom 32, 1%", "counting_bloom", "quotient",
                    "cuckoo", "consistent hashing", "one cache for all"));
    for (const auto& line : study.tables.front().lines) {
        EXPECT_EQ(study.row(line).config.proxies, 16u);
        EXPECT_EQ(study.row(line).config.cache_bytes, 6'250'000u);
    }
}

TEST(Study, VariesProxiesAndCachesAroundTheFirst) {
    const auto log = small_log();
    const auto study = plan_study(log, completed({}, log));
    std::set<std::pair<std::size_t, std::string>> seen;
    for (const auto& table : study.tables)
        if (table.about == Topic::schemes) seen.emplace(table.proxies, table.cache.text());
    EXPECT_THAT(seen, ElementsAre(std::pair(4, "10%"), std::pair(16, "1%"), std::pair(16, "10%"),
                                  std::pair(16, "20%"), std::pair(16, "5%"), std::pair(64, "10%"),
                                  std::pair(256, "10%")));
}

TEST(Study, RunsNothingTwice) {
    const auto study = finished_study();
    for (std::size_t i = 0; i < study.rows.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) EXPECT_NE(study.rows[i].config, study.rows[k].config);
    const auto* copies = study.table(Topic::copies);
    EXPECT_EQ(titles(*copies).front(), "copy always");
    EXPECT_EQ(titles(*copies)[4], "evict s3_fifo");
    EXPECT_EQ(copies->lines[1].row, copies->lines[4].row);
}

TEST(Study, LeavesDelaysOutWhereThresholdsAreCompared) {
    const auto study = finished_study();
    const auto* table = study.table(Topic::staleness);
    EXPECT_EQ(table->lines.size(), 8 * std::size(kThresholds));
    for (const auto& line : table->lines)
        EXPECT_EQ(study.row(line).config.announce_delay, kNoDelay);
}

TEST(Study, FollowsThePapersOwnSimulation) {
    const auto study = plan_paper(small_log(), completed({}, small_log()));
    EXPECT_EQ(study.rows.size(), 2 + 8 * std::size(kThresholds));
    for (const auto& row : study.rows) {
        EXPECT_EQ(row.config.replacement, Replacement::lru);
        EXPECT_EQ(row.config.object_max, 250'000u);
    }
}

TEST(Study, HasOneRowForEachSizeOfWhatIsAskedFor) {
    auto options = completed({}, small_log());
    options.proxies = {2, 3};
    options.caches = {*parse_cache_size("1MiB"), *parse_cache_size("10%")};
    options.base.scheme = Scheme::server_names;
    const auto study = plan_single(small_log(), options);
    EXPECT_EQ(study.rows.size(), 4u);
    EXPECT_EQ(study.tables.size(), 4u);
    EXPECT_EQ(study.rows[3].config.scheme, Scheme::server_names);
    EXPECT_EQ(study.rows[3].config.proxies, 3u);
    EXPECT_EQ(study.rows[3].config.cache_bytes, 33'333'333u);
}

TEST(Study, FindsTheCountsOfASimulation) {
    auto study = finished_study();
    auto config = study.rows.front().config;
    EXPECT_NE(study.counts(config), nullptr);
    config.seed = 99;
    EXPECT_EQ(study.counts(config), nullptr);
    const auto rows = study.rows.size();
    EXPECT_EQ(study.add(config, {}), rows);
    EXPECT_EQ(study.add(config, {}), rows) << "it is there";
    EXPECT_EQ(study.counts(config), nullptr) << "not run yet";
}

}  // namespace study_test
}  // namespace measure
