#include "measure/tiers/tiers_study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/measure/simulated.hpp"

namespace measure {
namespace tiers_study_test {

using testing::HasSubstr;
using testing::Not;

bool go_on(const StudyProgress&) {
    return true;
}

struct TiersStudies : testing::Test {
    Trace trace = test::workload(5'000, 300);
    TiersStudy plan(std::vector<CacheSize> disks = {}) const {
        return plan_tiers(facts_of(trace, {}), std::move(disks), {0, kUsualMemoryPart}, {});
    }
};

TEST_F(TiersStudies, TakesPartsOfTheDistinctBytesAndOfTheDisk) {
    const auto study = plan();
    ASSERT_EQ(study.tables.size(), 3u);
    const auto distinct = static_cast<double>(study.log.distinct_bytes);
    EXPECT_NEAR(static_cast<double>(study.tables[1].disk_bytes), 0.05 * distinct, 1);
    EXPECT_NEAR(static_cast<double>(study.tables[1].memory_bytes), 0.0025 * distinct, 1);
    for (const auto& group : study.tables[2].groups)
        for (const auto& row : group.rows) {
            const bool alone = group.about == TiersGroup::Topic::one_cache;
            EXPECT_EQ(row.config.disk_bytes, alone ? 0 : study.tables[2].disk_bytes) << row.title;
            EXPECT_EQ(row.config.memory_bytes,
                      alone ? study.tables[2].disk_bytes : study.tables[2].memory_bytes);
        }
}

TEST_F(TiersStudies, HandOnWhatHoldsForAll) {
    TiersConfig base;
    base.disk_bytes = base.memory_bytes = 1;
    base.object_max = 12'345;
    base.warm_up = 0.25;
    base.seed = 6;
    base.unknown_bytes = 7;
    const auto study = plan_tiers(facts_of(trace, {}), {}, {0, kUsualMemoryPart}, base);
    for (const auto& table : study.tables)
        for (const auto& group : table.groups)
            for (const auto& row : group.rows) {
                auto config = row.config;
                config.memory_bytes = config.disk_bytes = 1;
                config.replacement = base.replacement;
                config.disk = base.disk;
                config.admission = base.admission;
                EXPECT_EQ(config, base) << row.title;
                EXPECT_NE(row.config.memory_bytes, 1u);
                EXPECT_NE(row.config.disk_bytes, 1u) << row.title;
            }
}

TEST_F(TiersStudies, TellsOfEverySimulation) {
    auto study = plan({{0, 0.10}});
    run_tiers(trace, study, 2, go_on);
    EXPECT_FALSE(study.stopped);
    ASSERT_TRUE(study.tables[0].everything());
    const auto json = nlohmann::json::parse(tiers_json(study));
    std::size_t rows = 0;
    for (const auto& group : json["tables"][0]["groups"])
        for (const auto& row : group["rows"]) {
            ++rows;
            EXPECT_GT(row["hit_ratio"], 0.05);
            if (row["title"] == "segments, always") {
                EXPECT_EQ(row["writes_saved"], 0);
                EXPECT_EQ(row["hits_lost"], 0);
            }
            if (row["title"] == "segments, second_request") {
                EXPECT_GT(row["writes_saved"], 0.2);
                EXPECT_LE(row["write_amplification"], 1.2) << "a sixth is written again";
            }
        }
    EXPECT_EQ(rows, 18u);
    const auto text = tiers_text(study, false);
    EXPECT_THAT(text, HasSubstr("segments, second_request"));
    EXPECT_THAT(text, HasSubstr("\n\nWith a disk of ")) << "what it comes to, at the end";
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(tiers_text(study, true), HasSubstr("\x1b[1m"));
}

TEST_F(TiersStudies, SaysWhatOfTheLogIsNotSimulated) {
    auto study = plan({{0, 0.10}});
    study.log.lines = 1'500;
    study.log.skipped["not a GET"] = 1'234;
    EXPECT_THAT(tiers_text(study, false),
                HasSubstr("\nskipped: 1,234 of 1,500 lines: not a GET\n"));
    const auto log = nlohmann::json::parse(tiers_json(study))["log"];
    EXPECT_EQ(log["lines"], 1'500);
    EXPECT_EQ(log["skipped"]["not a GET"], 1'234);
}

TEST_F(TiersStudies, ShowsWhatIsThroughWhenItIsEnded) {
    auto study = plan();
    run_tiers(trace, study, 1, [](const StudyProgress&) { return false; });
    if (!study.stopped) GTEST_SKIP() << "all was through before it was asked";
    EXPECT_THAT(tiers_text(study, false), HasSubstr("STOPPED EARLY"));
    EXPECT_EQ(nlohmann::json::parse(tiers_json(study))["stopped"], true);
}

}  // namespace tiers_study_test
}  // namespace measure
