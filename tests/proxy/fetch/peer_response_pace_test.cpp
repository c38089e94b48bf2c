#include "proxy/fetch/peer_response_pace.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/origin_times.hpp"

namespace proxy {
namespace peer_response_pace_test {

using namespace std::chrono_literals;
using Advice = PeerResponsePace::Advice;

constexpr std::uint64_t kMiB = 1024 * 1024;
constexpr OriginPace kFast{20ms, 10 * kMiB};

PeerResponsePace pace_beside(const OriginPace& origin) {
    return PeerResponsePace(3s, [origin] { return origin; });
}

TEST(PeerResponsePace, ThatIsTooSlowForAnybodyIsAStall) {
    auto pace = pace_beside(kFast);
    EXPECT_EQ(pace.waited(3s, 3 * kPeerRateMin - 1, kMiB), Advice::stalled);
}

TEST(PeerResponsePace, IsJudgedByTheWindow) {
    auto pace = pace_beside(kFast);
    EXPECT_EQ(pace.waited(1s, 0, kMiB), Advice::goes_on);
    EXPECT_EQ(pace.waited(1999ms, 0, kMiB), Advice::goes_on);
    EXPECT_EQ(pace.waited(1ms, kMiB, kMiB), Advice::goes_on) << "a pause, then it came";
    EXPECT_EQ(pace.waited(2999ms, 0, kMiB), Advice::goes_on) << "another window";
    EXPECT_EQ(pace.waited(1ms, 1, kMiB), Advice::stalled);
}

TEST(PeerResponsePace, OfAPeerThatTricklesHasTheOriginAsked) {
    auto pace = pace_beside(kFast);
    EXPECT_EQ(pace.waited(3s, 3 * 600, kMiB), Advice::look_elsewhere);
    EXPECT_EQ(pace.waited(3s, 3 * 600, kMiB), Advice::goes_on) << "once";
    EXPECT_EQ(pace.waited(3s, 0, kMiB), Advice::stalled);
}

TEST(PeerResponsePace, IsThePeersOwnAffairWhereTheOriginIsNotMuchFaster) {
    EXPECT_EQ(pace_beside({20ms, 1000}).waited(3s, 3 * 600, kMiB), Advice::goes_on);
    EXPECT_EQ(pace_beside({20ms, 2 * kMiB}).waited(3s, 3 * kMiB, 1000 * kMiB), Advice::goes_on);
    EXPECT_EQ(pace_beside({20ms, 10 * kMiB}).waited(3s, 3 * kMiB, 1000 * kMiB),
              Advice::look_elsewhere);
}

TEST(PeerResponsePace, IsGoodEnoughForWhatIsAlmostThere) {
    // 2 s are left at the peer: not a window longer than anywhere else.
    EXPECT_EQ(pace_beside(kFast).waited(3s, 3 * kMiB, 2 * kMiB), Advice::goes_on);
    EXPECT_EQ(pace_beside(kFast).waited(3s, 3 * kMiB, 4 * kMiB), Advice::look_elsewhere);
    EXPECT_EQ(pace_beside({2s, 10 * kMiB}).waited(3s, 3 * kMiB, 4 * kMiB), Advice::goes_on)
        << "an origin that thinks for long";
}

TEST(PeerResponsePace, IsComparedWithWhatIsKnownOfTheOriginByThen) {
    OriginPace origin{1s, 1000};
    PeerResponsePace pace(3s, [&origin] { return origin; });
    EXPECT_EQ(pace.waited(3s, 3 * 600, kMiB), Advice::goes_on);
    origin = kFast;
    EXPECT_EQ(pace.waited(3s, 3 * 600, kMiB), Advice::look_elsewhere);
}

TEST(PeerResponsePace, OfABlockIsJudgedByTheStreamBehindIt) {
    // A fifth of the origin's rate, and the block itself is almost there.
    EXPECT_EQ(pace_beside(kFast).waited(3s, 6 * kMiB, kMiB), Advice::goes_on);
    PeerResponsePace pace(3s, [] { return kFast; }, {100 * kMiB, {}});
    EXPECT_EQ(pace.waited(3s, 6 * kMiB, kMiB), Advice::look_elsewhere);
}

TEST(PeerResponsePace, OfOneBlockIsThatOfAllThatComeBesideIt) {
    const auto came = std::make_shared<std::uint64_t>(100 * kMiB);  // long ago
    const auto one_of_them = [&came] {
        return PeerResponsePace(3s, [] { return kFast; }, {100 * kMiB, came});
    };
    auto alone = one_of_them();
    EXPECT_EQ(alone.waited(3s, kMiB / 64, kMiB), Advice::look_elsewhere)
        << "what came counts no more";
    auto late = one_of_them();
    auto early = one_of_them();
    EXPECT_EQ(early.waited(1s, 20 * kMiB, kMiB), Advice::goes_on);
    EXPECT_EQ(late.waited(3s, kMiB / 64, kMiB), Advice::goes_on) << "its turn comes later";
    EXPECT_EQ(late.waited(3s, kMiB / 64, kMiB), Advice::look_elsewhere) << "nobody gives now";
}

TEST(PeerResponsePace, TakesABodyOfUnknownLengthForTwiceWhatHasCome) {
    auto pace = pace_beside(kFast);
    EXPECT_EQ(pace.waited(3s, 30'000, std::nullopt), Advice::goes_on) << "3 s more";
    EXPECT_EQ(pace.waited(3s, 30'000, std::nullopt), Advice::look_elsewhere) << "6 s more";
}

TEST(OriginPace, IsWhatWasMeasured) {
    RoundTrip answers;
    answers.measured(80ms);
    BodyRate bodies;
    bodies.measured(10 * kMiB, 5s);
    const auto pace = pace_of_origin(answers, bodies, WantedBody::whole);
    EXPECT_EQ(pace.head, 80ms);
    EXPECT_NEAR(static_cast<double>(pace.bytes_per_second), 2.0 * kMiB, 0.01 * kMiB);
}

TEST(OriginPace, IsExpectedOfHowItAnswers) {
    RoundTrip answers;
    answers.measured(100ms);
    EXPECT_EQ(pace_of_origin(answers, {}, WantedBody::whole).bytes_per_second,
              10 * kFirstWindowBytes);
    RoundTrip near;
    near.measured(100us);
    EXPECT_EQ(pace_of_origin(near, {}, WantedBody::whole).bytes_per_second, kExpectedRateMax);
    EXPECT_EQ(pace_of_origin({}, {}, WantedBody::whole).head, kUnknownResponse);
    EXPECT_EQ(pace_of_origin({}, {}, WantedBody::whole).bytes_per_second, kFirstWindowBytes)
        << "nothing is known";
    EXPECT_EQ(pace_of_origin({}, {}, WantedBody::block).bytes_per_second, kExpectedRateMax);
}

TEST(TakingOver, EndsWhereThePeerHasBroughtItMeanwhile) {
    EXPECT_TRUE(may_take_over(100, 100));
    EXPECT_TRUE(may_take_over(100, 100 + kComesTwiceMax));
    EXPECT_FALSE(may_take_over(100, 101 + kComesTwiceMax));
    EXPECT_FALSE(may_take_over(100, 99));
}

TEST(BodyRate, IsToldByWhatWasWaitedFor) {
    EXPECT_FALSE(BodyRate::is_sample(1000, 1ms)) << "it came with the head";
    EXPECT_TRUE(BodyRate::is_sample(1000, 2s));
    EXPECT_TRUE(BodyRate::is_sample(kMiB, 1ms));
}

TEST(BodyRate, GoesByTheLatest) {
    BodyRate rate;
    EXPECT_FALSE(rate.known());
    for (int i = 0; i < 20; ++i) rate.measured(kMiB, 100ms);
    EXPECT_GT(rate.per_second(), 9 * kMiB);
    for (int i = 0; i < 20; ++i) rate.measured(10'000, 10s);
    EXPECT_LT(rate.per_second(), 10'000u);
    rate.measured(0, 1h);
    EXPECT_GE(rate.per_second(), 1u);
    for (int i = 0; i < 10; ++i) rate.measured(16 * kMiB, 1s);
    EXPECT_GT(rate.per_second(), 10 * kMiB) << "and it comes back";
}

TEST(OriginTimes, KeepsRatesOfTheOriginsThatWereAskedLast) {
    OriginTimes times;
    times.body_measured("first", kMiB, 1s);
    EXPECT_TRUE(times.rate_of("first").known());
    EXPECT_FALSE(times.of("first").known());
    times.measured("first", 5ms);
    EXPECT_TRUE(times.rate_of("first").known());
    for (std::size_t i = 0; i < kMaxOriginsTimed; ++i) times.measured(std::to_string(i), 1ms);
    EXPECT_FALSE(times.rate_of("first").known());
    EXPECT_EQ(times.origins().size(), kMaxOriginsTimed);
}

}  // namespace peer_response_pace_test
}  // namespace proxy
