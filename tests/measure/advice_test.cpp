#include "measure/study/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace advice_test {

using testing::HasSubstr;

TEST(Advice, ChoosesTheKindThatCostsFewerBytes) {
    const auto [study, advice] = advised(made_up);
    EXPECT_EQ(advice.config.kind, summary::Kind::quotient) << "40 bytes instead of 100";
    const auto same = [](SimulationConfig config) {
        config.kind = summary::Kind::cuckoo;
        return made_up(config);
    };
    EXPECT_EQ(advised(same).second.config.kind, summary::kDefaultKind) << "none is better";
}

TEST(Advice, AnnouncesAsSeldomAsHitsAllow) {
    const auto [study, advice] = advised(made_up);
    EXPECT_EQ(advice.config.announce_changed, 0.01) << "above 1 % a tenth of the hits is lost";
    EXPECT_EQ(advice.config.announce_delay, std::chrono::minutes(1));
}

TEST(Advice, TakesNoLongDelayHoweverFewMessagesItHas) {
    const auto patient = [](SimulationConfig config) {
        auto out = made_up(config);
        if (config.scheme != Scheme::summary) return out;
        out.peer_hits = 199;
        out.announcements = config.announce_delay >= std::chrono::hours(1) ? 1 : 1'000;
        return out;
    };
    const auto [study, advice] = advised(patient);
    EXPECT_LE(advice.config.announce_delay, std::chrono::minutes(1));
    EXPECT_THAT(advice_text(study, advice), HasSubstr("Delays above 1m are not advised"));
}

TEST(Advice, TakesTheCopyPolicyWithMoreHitsUnlessItMakesWait) {
    const auto [study, advice] = advised(made_up);
    EXPECT_EQ(advice.config.copy, proxy::CopyPolicy::second_use);
    const auto slow = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.copy == proxy::CopyPolicy::second_use) out.waited_ms *= 1.1;
        return out;
    };
    const auto far = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.copy == proxy::CopyPolicy::second_use) out.peer_hits = 500;
        return out;
    };
    const auto near = [](const SimulationConfig& config) {
        auto out = made_up(config);
        out.peer_hits += 200;
        return out;
    };
    const auto many_hops = advised(far), long_waits = advised(slow);
    EXPECT_EQ(many_hops.second.config.copy, proxy::CopyPolicy::while_room);
    EXPECT_THAT(advice_text(many_hops.first, many_hops.second),
                HasSubstr("while_room, the default. With always or never there would be at most "
                          "0.2 % more hits; with second_use a request would take 0.30 more answers "
                          "of peers. (Seen with announcements after 1s or 0.1%.)\n"));
    EXPECT_EQ(long_waits.second.config.copy, proxy::CopyPolicy::while_room);
    EXPECT_THAT(advice_text(long_waits.first, long_waits.second),
                HasSubstr("with second_use requests would wait 10.0 % longer."));
    EXPECT_EQ(advised(near).second.config.copy, proxy::CopyPolicy::second_use)
        << "many answers of peers, but hardly more than with the default";
}

TEST(Advice, IsJudgedByTheFiguresOfAllItsChoicesTogether) {
    const auto [study, advice] = advised(made_up);
    const auto* own = study.counts(advice.config);
    ASSERT_NE(own, nullptr) << "it was simulated";
    EXPECT_EQ(advice.config.announce_changed, 0.01);
    // Kinds and bytes: quotient costs more than the others as soon as news come late.
    const auto late = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.scheme == Scheme::summary)
            out.announcement_bytes = config.kind != summary::Kind::quotient ? 2'000
                                     : config.announce_changed > 0.001      ? 8'000
                                                                            : 1'000;
        return out;
    };
    const auto [table, other] = advised(late);
    EXPECT_EQ(other.config.kind, summary::kDefaultKind);
    EXPECT_THAT(advice_text(table, other),
                HasSubstr("counting_bloom: 2.2800 bytes between the proxies per request"))
        << "of the announcements that are advised";
}

TEST(Advice, LeavesAllAsItIsWhenTheChoicesTogetherLoseHits) {
    const auto only_alone = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.scheme == Scheme::summary && config.announce_changed > 0.001 &&
            config.copy == proxy::CopyPolicy::second_use)
            out.peer_hits = 50;
        if (config.scheme == Scheme::summary && config.announce_changed > 0.001 &&
            config.kind != summary::kDefaultKind)
            out.peer_hits = 50;
        return out;
    };
    const auto [study, advice] = advised(only_alone);
    EXPECT_EQ(advice.config.announce_changed, 0.001);
    EXPECT_EQ(advice.config.kind, summary::kDefaultKind);
    const auto text = advice_text(study, advice);
    EXPECT_THAT(text, HasSubstr("Everything stays as it is: the best kind"));
    EXPECT_THAT(text, HasSubstr("cache.favour")) << "which is apart from these";
}

TEST(Advice, NamesTheEvictionWithMostHitsAndTheOneWithLeastTraffic) {
    const auto small_objects = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.replacement != Replacement::by_value) return out;
        out.local_hits += 100;
        out.local_hit_bytes -= 500;
        return out;
    };
    const auto [study, advice] = advised(small_objects);
    EXPECT_THAT(advice_text(study, advice),
                HasSubstr("Eviction: most requests are hits with cache.favour requests (59.9 % of "
                          "the requests and 25.0 % of the bytes), and the origin sends the fewest "
                          "bytes with cache.favour bytes (49.9 % of the requests and 30.0 % of the "
                          "bytes)."));
    const auto [same, either] = advised(made_up);
    EXPECT_THAT(advice_text(same, either),
                HasSubstr("Eviction: most requests are hits, and the origin sends the fewest "
                          "bytes, with cache.favour bytes (49.9 % of the requests and 30.0 % of "
                          "the bytes)."));
}

TEST(Advice, NeedsSharingAndNoneToCompare) {
    auto study = finished_study();
    for (auto& row : study.rows)
        if (row.config.scheme == Scheme::none) row.counts.reset();
    EXPECT_FALSE(advise(study));
    EXPECT_FALSE(advise({}));
}

TEST(Gain, IsPerDayOfTheLogsOwnTime) {
    SimulationConfig config;
    auto alone = config;
    alone.scheme = Scheme::none;
    const auto gain = gain_of(small_log(), made_up(alone), made_up(config));
    EXPECT_TRUE(gain.timed);
    EXPECT_NEAR(gain.hits, 0.199, 1e-9);
    EXPECT_NEAR(gain.origin_requests, 0.199 / 0.7, 1e-9);
    EXPECT_NEAR(gain.saved_requests_per_day, 86'400 * 0.199, 1e-6);
    EXPECT_NEAR(gain.saved_bytes_per_day, 86.4e6, 1e-3) << "a tenth of the bytes";
    EXPECT_NEAR(gain.messages_per_day, 86'400 * 0.102, 1e-6);
    EXPECT_TRUE(gain.pays());
}

TEST(Gain, IsOfTheWholeLogWhenThatIsShort) {
    auto log = small_log();
    log.span = std::chrono::minutes(50);
    SimulationConfig config;
    const auto gain = gain_of(log, made_up(config), made_up(config));
    EXPECT_FALSE(gain.timed);
    EXPECT_NEAR(gain.messages_per_day, 864'000 * 0.102, 1e-6);
}

TEST(Gain, DoesNotPayWhenLittleIsSparedMuchIsSentOrAllWait) {
    Gain gain;
    gain.origin_requests = 0.2;
    gain.saved_bytes_per_day = 100;
    gain.message_bytes_per_day = 10;
    gain.waited_ms = gain.waited_ms_alone = 50;
    EXPECT_TRUE(gain.pays());
    auto other = gain;
    other.origin_requests = 0.009;
    EXPECT_FALSE(other.pays());
    other = gain;
    other.message_bytes_per_day = 101;
    EXPECT_FALSE(other.pays());
    other = gain;
    other.waited_ms = 51;
    EXPECT_FALSE(other.pays());
}

}  // namespace advice_test
}  // namespace measure
