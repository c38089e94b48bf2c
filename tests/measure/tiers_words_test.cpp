#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "measure/tiers/tiers_study.hpp"

namespace measure {
namespace tiers_words_test {

using testing::EndsWith;
using testing::HasSubstr;

/// Counts of 1,000 requests for 10,000 bytes.
TierCounts counted(std::uint64_t memory_hits, std::uint64_t disk_hits, std::uint64_t written) {
    TierCounts out;
    out.requests = 1'000;
    out.bytes = 10'000;
    out.memory_hits = memory_hits;
    out.disk_hits = disk_hits;
    out.disk_hit_bytes = 2'500;
    out.admitted_bytes = written;
    return out;
}

/// A disk of a tenth of 1,000 MB.
TiersStudy study_of(const TierCounts& second_request, const TierCounts& always,
                    std::uint64_t objects = 100'000) {
    LogFacts log;
    log.requests = 1'000;
    log.objects = objects;
    log.distinct_bytes = 1'000'000'000;
    auto study = plan_tiers(log, {{0, 0.1}}, {0, kUsualMemoryPart}, {});
    for (auto& group : study.tables[0].groups)
        for (auto& row : group.rows)
            row.counts = row.config.admission == proxy::DiskAdmission::second_request
                             ? second_request
                             : always;
    return study;
}

TEST(TiersWords, SayWhatADiskBringsAndWhatAdmissionSpares) {
    EXPECT_EQ(tiers_words(study_of(counted(200, 345, 1'000), counted(200, 300, 4'000))),
              "With a disk of 95.4 MiB behind 4.77 MiB of memory 54.5 % of the requests are hits, "
              "34.5 points of them from the disk, and 25.0 % of the bytes. Writing at the second "
              "request spares 75 % of the writes and wins 4.50 points of hits against writing "
              "everything.\nSo \"disk_admission\" may stay \"second_request\", the default.\n");
}

TEST(TiersWords, NameTheSettingThatHasMoreHits) {
    const auto words = tiers_words(study_of(counted(200, 300, 1'000), counted(200, 345, 4'000)));
    EXPECT_THAT(words, HasSubstr("75 % of the writes and loses 4.50 points of hits"));
    EXPECT_THAT(words, EndsWith("more than writes: \"disk_admission\": \"always\".\n"));
    const auto none = tiers_words(study_of(counted(200, 300, 1'000), counted(100, 400, 4'000)));
    EXPECT_THAT(none, HasSubstr(" and loses no hits against"));
    EXPECT_THAT(none, EndsWith("\"second_request\", the default.\n"));
}

TEST(TiersWords, AdviseNothingForADiskThatHoldsNothingMuch) {
    const auto words = tiers_words(study_of(counted(200, 0, 0), counted(200, 0, 0)));
    EXPECT_THAT(words, EndsWith(" It stayed empty: no object of the log fits.\n"));
    const auto few = tiers_words(study_of(counted(200, 300, 1'000), counted(200, 345, 4'000), 90));
    EXPECT_THAT(few,
                EndsWith(" That is too little for a conclusion: the log has 1,000 requests, and "
                         "the disk has room for 8 of its 90 objects.\n"));
}

TEST(TiersWords, SayNothingOfWhatWasNotRun) {
    auto study = study_of({}, {});
    for (auto& group : study.tables[0].groups)
        for (auto& row : group.rows) row.counts.reset();
    EXPECT_EQ(tiers_words(study), "");
}

}  // namespace tiers_words_test
}  // namespace measure
