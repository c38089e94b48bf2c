#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "measure/study/study_report.hpp"
#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace study_json_test {

using Json = nlohmann::json;

TEST(StudyJson, HasTheLogTheTablesAndTheirRows) {
    const auto json = Json::parse(study_json(finished_study()));
    EXPECT_EQ(json["log"]["requests"], 864'000);
    EXPECT_EQ(json["log"]["span_seconds"], 864'000.0);
    EXPECT_EQ(json["stopped"], false);
    const auto& table = json["tables"][0];
    EXPECT_EQ(table["about"], "schemes");
    EXPECT_EQ(table["proxies"], 16);
    EXPECT_EQ(table["cache"], "10%");
    const auto& icp = table["rows"][1];
    EXPECT_EQ(icp["title"], "ICP");
    EXPECT_EQ(icp["config"]["scheme"], "icp");
    EXPECT_FALSE(icp["config"].contains("announce_changed"));
    EXPECT_EQ(icp["lost_hits"], 0.0);
    EXPECT_EQ(icp["messages_per_request"], 21.0);
    const auto& ours = table["rows"][9];
    EXPECT_EQ(ours["config"]["kind"], "quotient");
    EXPECT_EQ(ours["config"]["announce_delay_seconds"], 1.0);
    EXPECT_EQ(ours["config"]["announce_changed"], 0.001);
    EXPECT_EQ(ours["counts"]["announcement_bytes"], 40);
    EXPECT_DOUBLE_EQ(ours["hit_ratio"], 0.499);
}

TEST(StudyJson, SaysThatThereIsNoDelay) {
    const auto json = Json::parse(study_json(finished_study()));
    for (const auto& table : json["tables"]) {
        if (table["about"] != "staleness") continue;
        EXPECT_TRUE(table["rows"].back()["config"]["announce_delay_seconds"].is_null());
    }
}

TEST(StudyJson, TakesWhatIsAddedAndLeavesOutWhatWasNotRun) {
    auto study = finished_study();
    study.rows[0].counts.reset();
    study.rows[1].counts.reset();
    study.rows[1].refused = "because";
    const auto json = Json::parse(study_json(study, R"({"advice": {"pays": true}})"));
    EXPECT_EQ(json["advice"]["pays"], true);
    EXPECT_EQ(json["tables"][0]["rows"][0]["title"], "ICP");
    EXPECT_EQ(json["tables"][0]["rows"][0]["refused"], "because");
}

TEST(StudyJson, TakesATitleOfAnyBytes) {
    auto log = small_log();
    log.title = "\xff.log";
    EXPECT_TRUE(Json::accept(study_json(finished_study(log))));
}

}  // namespace study_json_test
}  // namespace measure
