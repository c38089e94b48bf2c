#include "proxy/fetch/meeting_plan.hpp"

#include <gtest/gtest.h>

#include <map>

#include "proxy/fetch/known_fetchers.hpp"

namespace proxy {
namespace meeting_plan_test {

using namespace std::chrono_literals;

const PeerRecord::Time kNow = PeerRecord::Time(1000h);

/// Nodes a to h, all in step with each other.
class MeetingPointTest : public ::testing::Test {
protected:
    static constexpr std::string_view kNodes = "abcdefgh";

    /// The node where `self` looks for the others.
    std::string point(summary::KeyHash key, char self, std::string_view left_out = {},
                      std::string_view failed = {}) const {
        protocol::PeerView::Peers peers;
        peers.resize(kNodes.size());
        for (std::size_t i = 0; i < kNodes.size(); ++i) {
            protocol::PeerView::Peer peer;
            if (kNodes[i] != self) peer.node = std::string(1, kNodes[i]);
            peer.http.host = kNodes[i] == self ? "" : "h";
            peer.has_feed = true;
            peer.in_sync = left_out.find(kNodes[i]) == std::string_view::npos;
            peers.set(i, peer);
        }
        const auto found =
            meeting_point(key, std::string(1, self), peers, records, false, kNow, failed);
        return std::string(1, found.peer ? kNodes[*found.peer] : self);
    }

    std::vector<PeerRecord> records{kNodes.size()};
};

TEST_F(MeetingPointTest, IsTheSameForAllNodesAndAnotherForEachKey) {
    std::map<std::string, int> keys;
    for (std::uint64_t i = 0; i < 800; ++i) {
        const summary::KeyHash key{summary::mix(i), summary::mix(~i)};
        const auto place = point(key, 'a');
        for (const auto self : kNodes) EXPECT_EQ(point(key, self), place);
        ++keys[place];
    }
    ASSERT_EQ(keys.size(), kNodes.size());
    for (const auto& [node, count] : keys) EXPECT_NEAR(count, 100, 40) << node;
}

TEST_F(MeetingPointTest, IsNoNodeThatIsOutOfStepOrFails) {
    const summary::KeyHash key{1, 2};
    const auto first = point(key, 'a');
    const auto second = point(key, first == "a" ? 'b' : 'a', first);
    EXPECT_NE(second, first);
    EXPECT_EQ(point(key, first == "a" ? 'b' : 'a', {}, first), second) << "it gave nothing";
    auto& record = records[kNodes.find(first.front())];
    for (unsigned i = 0; i < kBreakerFailures; ++i) record.ended(PeerVerdict::failure, kNow);
    EXPECT_EQ(point(key, first == "a" ? 'b' : 'a'), second);
}

RoundTrip steady(RoundTrip::Duration time) {
    RoundTrip result;
    for (int i = 0; i < 100; ++i) result.measured(time);
    return result;
}

TEST(PaysToMeet, WhereAFetchTakesLongOrMissesMetLately) {
    FetchMeetings seldom;
    const auto pays = [&](RoundTrip question, RoundTrip fetch) {
        return pays_to_meet({FetchOnce::automatic, question, fetch}, seldom);
    };
    EXPECT_TRUE(pays({}, steady(1ms))) << "the way to the meeting point is unknown";
    EXPECT_TRUE(pays(steady(1ms), {})) << "no fetch was measured";
    EXPECT_TRUE(pays(steady(1ms), steady(1s)));
    EXPECT_FALSE(pays(steady(1ms), steady(999ms)));
    EXPECT_FALSE(pays(steady(30ms), steady(1s))) << "3 %";
    EXPECT_TRUE(pays(steady(30ms), steady(1500ms)));

    FetchMeetings often;
    for (int i = 0; i < 16; ++i) often.asked(true);
    EXPECT_TRUE(pays_to_meet({FetchOnce::automatic, steady(1ms), steady(2ms)}, often));
    EXPECT_FALSE(pays_to_meet({FetchOnce::automatic, steady(1ms), steady(1ms)}, often));
    for (int i = 0; i < 64; ++i) often.asked(false);
    EXPECT_FALSE(pays_to_meet({FetchOnce::automatic, steady(1ms), steady(2ms)}, often));
}

TEST(PaysToMeet, NowAndThenToKnowTheShareUnlessTheWayIsLongerThanTheFetch) {
    FetchMeetings meetings;
    int samples = 0;
    for (std::uint32_t i = 0; i < 10 * FetchMeetings::kSampleOneIn; ++i)
        samples += pays_to_meet({FetchOnce::automatic, steady(1ms), steady(2ms)}, meetings);
    EXPECT_EQ(samples, 10);
    for (std::uint32_t i = 0; i < 10 * FetchMeetings::kSampleOneIn; ++i)
        EXPECT_FALSE(pays_to_meet({FetchOnce::automatic, steady(3ms), steady(2ms)}, meetings));
}

TEST(PaysToMeet, AsTheRuleSays) {
    FetchMeetings none;
    EXPECT_TRUE(pays_to_meet({FetchOnce::always, steady(1s), steady(1ms)}, none));
    EXPECT_FALSE(pays_to_meet({FetchOnce::never, steady(1ms), steady(1h)}, none));
}

TEST(FollowAtMost, IsAsLongAsTheOriginUsuallyTakesWithRoomToSpare) {
    EXPECT_EQ(follow_at_most({}, 60s), 60s);
    EXPECT_EQ(follow_at_most(steady(1ms), 60s), 1s);
    EXPECT_EQ(follow_at_most(steady(1ms), 500ms), 500ms);
    EXPECT_NEAR(std::chrono::duration<double>(follow_at_most(steady(4s), 60s)).count(), 8, 0.5);
    EXPECT_EQ(follow_at_most(steady(40s), 60s), 60s);
}

TEST(MeetQuestions, KeepTheFetchOfABlockApartFromThatOfTheBody) {
    for (const auto of_block : {false, true})
        for (const std::string failed : {"", "n7"}) {
            const auto question = question_of(of_block, failed);
            const auto parsed = parse_meet(question);
            EXPECT_EQ(parsed.of_block, of_block) << question;
            EXPECT_EQ(parsed.failed, failed) << question;
        }
}

TEST(MeetQuestions, HaveThreeForms) {
    using Kind = MeetQuestion::Kind;
    EXPECT_EQ(parse_meet("who").kind, Kind::who);
    EXPECT_EQ(parse_meet("who").failed, "");
    EXPECT_EQ(parse_meet("who-else n7").kind, Kind::who);
    EXPECT_EQ(parse_meet("who-else n7").failed, "n7");
    EXPECT_EQ(parse_meet("who-block").kind, Kind::who);
    EXPECT_TRUE(parse_meet("who-block").of_block);
    EXPECT_FALSE(parse_meet("who").of_block);
    EXPECT_FALSE(parse_meet("who-else n7").of_block);
    EXPECT_TRUE(parse_meet("who-else-block n7").of_block);
    EXPECT_EQ(parse_meet("who-else-block n7").failed, "n7");
    EXPECT_EQ(parse_meet("follow").kind, Kind::follow);
    for (const auto* other : {"", "Who", "follow me", "who-else"})
        EXPECT_EQ(parse_meet(other).kind, Kind::none) << other;
}

TEST(KeyAround, IsTheSameForTheBlocksOfOneMeeting) {
    const auto key = [](std::uint64_t first, std::uint64_t block_bytes = 10) {
        return key_around(first, "http://a/", "\"1\"", "f", block_bytes);
    };
    constexpr auto kBytes = kBlocksPerMeeting * 10;
    EXPECT_EQ(key(0), key(kBytes - 10));
    EXPECT_NE(key(kBytes), key(0));
    EXPECT_EQ(key(kBytes), key(kBytes + 10));
    EXPECT_NE(key(0, 20), key(0)) << "such nodes share no blocks";
}

TEST(KnownFetchers, NamesTheFirstThatAskedToAllOthers) {
    KnownFetchers known;
    const summary::KeyHash key{1, 2}, other{3, 4};
    EXPECT_EQ(known.meet(key, "a", {}, kNow), "");
    EXPECT_EQ(known.meet(key, "b", {}, kNow), "a");
    EXPECT_EQ(known.meet(key, "c", {}, kNow + KnownFetchers::kKept - 1s), "a");
    EXPECT_EQ(known.meet(other, "b", {}, kNow), "");
    EXPECT_EQ(known.meet(key, "a", {}, kNow + 1s), "") << "it fetches again";
    EXPECT_EQ(known.meet(key, "b", {}, kNow + KnownFetchers::kKept), "a");
    EXPECT_EQ(known.meet(key, "b", {}, kNow + 1s + KnownFetchers::kKept), "");
}

TEST(KnownFetchers, PutsTheFirstThatMissedItInThePlaceOfANodeThatGaveNothing) {
    KnownFetchers known;
    const summary::KeyHash key{1, 2};
    known.meet(key, "a", {}, kNow);
    EXPECT_EQ(known.meet(key, "b", "a", kNow), "");
    EXPECT_EQ(known.meet(key, "c", "a", kNow), "b");
    EXPECT_EQ(known.meet(key, "d", {}, kNow), "b");
}

TEST(KnownFetchers, TakeTheWordOfOthersAndKeepWhatIsSaidAgain) {
    KnownFetchers known;
    const summary::KeyHash key{1, 2};
    known.note(key, "a", kNow);
    EXPECT_EQ(known.of(key, kNow), "a");
    known.note(key, "a", kNow + 50s);
    EXPECT_EQ(known.of(key, kNow + 100s), "a");
    known.note(key, "b", kNow + 100s);
    EXPECT_EQ(known.meet(key, "c", {}, kNow + 100s), "b");
    EXPECT_EQ(known.of(key, kNow + 100s + KnownFetchers::kKept), "");
}

TEST(KnownFetchers, KeepAnotherNodeWhereOneMerelyGivesToo) {
    KnownFetchers known;
    const summary::KeyHash key{1, 2};
    known.meet(key, "a", {}, kNow);
    EXPECT_EQ(known.of(key, kNow), "a");
    known.meet(key, "b", {}, kNow + 50s);
    EXPECT_EQ(known.of(key, kNow + 50s), "a");
    known.meet(key, "a", {}, kNow + 50s);
    EXPECT_EQ(known.of(key, kNow + 100s), "a") << "it goes on";
    known.meet(key, "b", {}, kNow + 50s + KnownFetchers::kKept);
    EXPECT_EQ(known.of(key, kNow + 50s + KnownFetchers::kKept), "b");
}

TEST(KnownFetchers, ForgetsTheOldestKeysFirst) {
    KnownFetchers known;
    for (std::uint64_t i = 0; i <= KnownFetchers::kMost; ++i) known.meet({i, i}, "a", {}, kNow);
    EXPECT_EQ(known.meet({1, 1}, "b", {}, kNow), "a");
    EXPECT_EQ(known.meet({0, 0}, "b", {}, kNow), "");
}

}  // namespace meeting_plan_test
}  // namespace proxy
