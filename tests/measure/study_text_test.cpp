#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "measure/study/study_report.hpp"
#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace study_text_test {

using testing::HasSubstr;
using testing::Not;

/// The line that begins with these words, its blanks made single.
std::string line_of(const std::string& text, const std::string& begin) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) {
        if (line.rfind(begin, 0) != 0) continue;
        const auto both_blank = [](char a, char b) { return a == ' ' && b == ' '; };
        line.erase(std::unique(line.begin(), line.end(), both_blank), line.end());
        return line;
    }
    return "no line begins with " + begin;
}

TEST(StudyText, GivesASchemesHitsAndWhatTheyCost) {
    const auto text = study_text(finished_study(), false);
    EXPECT_EQ(line_of(text, "no sharing"), "no sharing 30.00 0.00 30.00 -40.00 0.000 0 0 0 0 0 0");
    EXPECT_EQ(line_of(text, "ICP"), "ICP 30.00 20.00 50.00 0 0.000 0 0 0 21.0 1470 0");
    EXPECT_EQ(line_of(text, "quotient "),
              "quotient 30.00 19.90 49.90 -0.20 0.100 0.0020 0.1000 0.0400 0.0020 0.2800 121 KiB");
}

TEST(StudyText, SaysWhatALogAndATableAreAbout) {
    const auto text = study_text(finished_study(), false);
    EXPECT_THAT(text, HasSubstr("test.log (squid format)\n864,000 requests of 300 clients for "
                                "100,000 objects, 8.05 GiB (954 MiB distinct), in 10.0 days\n"));
    EXPECT_THAT(text, HasSubstr("\n16 proxies, each with 5.96 MiB (10% of the distinct bytes in "
                                "all): all schemes\n"));
    EXPECT_THAT(text, HasSubstr("\n16 proxies, each with 610 KiB (1% of the"));
    EXPECT_THAT(text, HasSubstr(": announcement delays\n"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(study_text(finished_study(), true), HasSubstr("\x1b[1mtest.log"));
}

TEST(StudyText, SaysWhatOfTheLogIsNotSimulated) {
    auto log = small_log();
    log.lines = 1'500;
    log.skipped["not a GET"] = 1'234;
    log.clients = 1;
    const auto text = study_text(finished_study(log), false);
    EXPECT_THAT(text, HasSubstr("\nskipped: 1,234 of 1,500 lines: not a GET\n"));
    EXPECT_THAT(text, HasSubstr(" of 1 client for "));
    EXPECT_THAT(text, Not(HasSubstr("out of order")));
    log.out_of_order = 2'999;
    EXPECT_THAT(study_text(finished_study(log), false),
                HasSubstr("\nout of order: 2,999 requests, taken in the order of their times\n"));
}

TEST(StudyText, BeginsWithWhatWasReadAndThenTheVerdict) {
    auto log = small_log();
    log.lines = 1'500;
    if (log.leave_out("not a GET")) log.add_example("not a GET", 7, "POST /x");
    const auto text = study_text(finished_study(log), false, "Sharing pays.\n", false);
    EXPECT_THAT(text, HasSubstr("skipped: 1 of 1,500 lines: not a GET\n  line 7: POST /x\n\n"
                                "Sharing pays.\n"));
    EXPECT_THAT(text, Not(HasSubstr("all schemes"))) << "tables are not wanted";
    EXPECT_THAT(study_text(finished_study(log), false, "Sharing pays.\n"),
                HasSubstr("Sharing pays.\n\n16 proxies, each with"));
}

TEST(StudyText, FitsAHundredColumns) {
    auto log = small_log();
    log.lines = 123'456'789;
    for (const auto reason : {kQueryStripped, kWrongClock, kUnsureClient}) {
        log.skipped[std::string(reason)] = 12'345'678;
        log.add_example(reason, 123'456'789, std::string(80, 'x'));
    }
    auto study = finished_study(log);
    for (auto& row : study.rows) {
        row.counts->query_bytes = 69'930'000;
        row.counts->query_messages = 999'000;
        row.counts->summary_bytes = 9'999'900'000;
    }
    std::istringstream in(study_text(study, false));
    for (std::string line; std::getline(in, line);) EXPECT_LE(line.size(), 100u) << line;
}

TEST(StudyText, GivesTheSameFiguresOnce) {
    const auto text = study_text(finished_study(), false);
    EXPECT_THAT(text,
                HasSubstr("\n16 proxies, each with 610 KiB (1% of the distinct bytes in all): "
                          "all schemes\nthe same as of 16 proxies, each with 5.96 MiB "
                          "(10% of the distinct bytes in all): all schemes\n"));
}

TEST(StudyText, LeavesOutWhatWasNotRunAndSaysWhatIsRefused) {
    auto study = finished_study();
    study.stopped = true;
    for (auto& row : study.rows) {
        const bool late = row.config.proxies == 256;
        if (late || row.config.scheme == Scheme::server_names) row.counts.reset();
        if (late || row.config.scheme != Scheme::squid_digest) continue;
        row.counts.reset();
        row.refused = "there is no owl";
    }
    const auto text = study_text(study, false);
    EXPECT_THAT(text, HasSubstr("STOPPED EARLY"));
    EXPECT_THAT(text, Not(HasSubstr("server names")));
    EXPECT_THAT(text, HasSubstr("\n64 proxies"));
    EXPECT_THAT(text, Not(HasSubstr("256 proxies"))) << "nothing of it was run";
    EXPECT_THAT(text, HasSubstr("\nnot simulated, as there is no owl: Squid digests\n"));
}

TEST(StudyText, SaysOnceWhySeveralAreRefused) {
    auto study = finished_study();
    for (auto& row : study.rows) {
        if (row.config.scheme != Scheme::paper_bloom) continue;
        row.counts.reset();
        row.refused = "there is no owl";
    }
    EXPECT_THAT(study_text(study, false),
                HasSubstr("\nnot simulated, as there is no owl: Bloom 8, 1%; Bloom 16, 1%; Bloom "
                          "32, 1%\n"));
}

TEST(StudyText, GivesEveryCountOfASingleSimulation) {
    auto options = completed({}, small_log());
    options.proxies = {16};
    options.caches = {*parse_cache_size("64MiB")};
    auto study = plan_single(small_log(), options);
    study.rows[0].counts = made_up(study.rows[0].config);
    const auto text = study_text(study, false);
    EXPECT_EQ(line_of(text, "  false misses"), " false misses 1 0.0010");
    EXPECT_EQ(line_of(text, "  announcement bytes"), " announcement bytes 100 0.1000");
    EXPECT_EQ(line_of(text, "  milliseconds waited"), " milliseconds waited 50000 50.0");
    EXPECT_EQ(line_of(text, "counting_bloom"),
              "counting_bloom 30.00 19.90 49.90 0.100 0.0020 0.1000 0.1000 0.0020 0.2800 121 KiB")
        << "with nothing to measure it by";
}

}  // namespace study_text_test
}  // namespace measure
