#include "proxy/upstream/false_hits.hpp"

#include <gmock/gmock.h>

#include <map>
#include <vector>

namespace proxy {
namespace false_hits_test {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using Withdrawal = FalseHits::Withdrawal;
using Cause = FalseHits::Cause;

const FalseHits::Time kNow = FalseHits::Time(1000h);

class FalseHitsTest : public ::testing::Test {
protected:
    void note(const std::string& uri, std::chrono::nanoseconds told_in) {
        watched.note("b", {{uri.size(), 1}, uri}, kNow + told_in);
    }
    /// Looks `after` that time; whether each URI's claim is withdrawn then, `yes` if not said.
    void judge_after(std::chrono::nanoseconds after) {
        watched.judge(
            kNow + after,
            [&](const std::string& node, const summary::Key& key) {
                EXPECT_EQ(node, "b");
                EXPECT_EQ(key.hash.low, key.uri.size());
                looked_at.emplace_back(key.uri);
                const auto known = claims.find(std::string(key.uri));
                return known == claims.end() ? Withdrawal::yes : known->second;
            },
            [&](const std::string& node, Cause cause) {
                EXPECT_EQ(node, "b");
                booked.push_back(cause);
            });
    }

    FalseHits watched;
    std::map<std::string, Withdrawal> claims;
    std::vector<std::string> looked_at;
    std::vector<Cause> booked;
};

TEST_F(FalseHitsTest, AreOfWhatHadGoneIfTheClaimIsWithdrawnInTime) {
    note("one", 2s);
    judge_after(2s - 1ns);
    EXPECT_TRUE(looked_at.empty()) << "it may still be announced";
    judge_after(2s);
    EXPECT_THAT(booked, ElementsAre(Cause::withdrawn));
}

TEST_F(FalseHitsTest, AreCollisionsIfTheClaimStays) {
    claims["one"] = Withdrawal::no;
    note("one", 2s);
    judge_after(3s);
    EXPECT_THAT(booked, ElementsAre(Cause::collision));
}

TEST_F(FalseHitsTest, AreNotJudgedOfAPeerThatCountsNoMore) {
    claims["one"] = Withdrawal::unknown;
    note("one", 2s);
    judge_after(3s);
    EXPECT_THAT(looked_at, ElementsAre("one"));
    EXPECT_TRUE(booked.empty());
}

TEST_F(FalseHitsTest, AreJudgedOnceAndEachInItsTime) {
    note("one", 2s);
    note("three", 4s);
    judge_after(3s);
    judge_after(3s);
    EXPECT_THAT(looked_at, ElementsAre("one"));
    judge_after(5s);
    EXPECT_THAT(looked_at, ElementsAre("one", "three"));
}

TEST_F(FalseHitsTest, AreForgottenFromTheOldestOnWhenThereAreTooMany) {
    note("first", 1s);
    for (std::size_t i = 0; i < FalseHits::kMaxWatched; ++i) note("later", 1s);
    judge_after(1s);
    EXPECT_EQ(looked_at.size(), FalseHits::kMaxWatched);
    EXPECT_EQ(looked_at.front(), "later");
}

}  // namespace false_hits_test
}  // namespace proxy
