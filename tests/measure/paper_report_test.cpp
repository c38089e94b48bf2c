#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "measure/study/paper.hpp"
#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace paper_report_test {

using testing::HasSubstr;

std::vector<Study> studies() {
    auto log = small_log();
    log.title = "/some/where/a.log.gz (squid format)";
    StudyOptions options;
    options.proxies = {8};
    std::vector<Study> out{plan_paper(log, completed(options, log))};
    for (auto& row : out[0].rows) {
        row.counts = made_up(row.config);
        if (row.config.scheme == Scheme::exact_directory)
            row.counts->peer_hits -= row.counts->peer_hits / 100;
    }
    return out;
}

TEST(PaperReport, SetsTracesBesideThePapers) {
    const auto text = paper_text(studies(), false);
    EXPECT_THAT(text, HasSubstr("paper: DEC                    3,543,968   10,089    26.8 GiB      "
                                "0.49      0.36       16    1.7 %\n"));
    EXPECT_THAT(text, HasSubstr("\na.log.gz                        864,000      300"));
    EXPECT_THAT(text,
                HasSubstr("\na.log.gz, 8 proxies, caches of 10% in all\n  agrees: announced at 1 "
                          "%, an exact directory"));
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(PaperReport, GivesTheSameAsJson) {
    const auto json = nlohmann::json::parse(paper_json(studies()));
    EXPECT_EQ(json["paper"]["traces"].size(), 5u);
    EXPECT_EQ(json["paper"]["traces"][0]["lost_hits_at_one_percent"], 0.017);
    EXPECT_TRUE(json["paper"]["traces"][4]["lost_hits_at_one_percent"].is_null());
    EXPECT_EQ(json["studies"][0]["verdicts"].size(), 7u);
    EXPECT_EQ(json["studies"][0]["verdicts"][0]["is"], "agrees");
    EXPECT_EQ(json["studies"][0]["tables"][1]["about"], "staleness");
}

}  // namespace paper_report_test
}  // namespace measure
