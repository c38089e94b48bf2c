#include "measure/study/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "measure/study/scheme_name.hpp"
#include "proxy/config/config_values.hpp"
#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A study that is run by these counts, and the advice's own simulation with it.
template <typename Counts>
std::pair<Study, Advice> advised(const Counts& counts, const LogFacts& log = small_log()) {
    auto study = plan_study(log, completed({}, log));
    for (auto& row : study.rows) row.counts = counts(row.config);
    const auto advice = advise(study);
    const auto own = study.add(advice->config, study.tables.front().cache);
    study.rows[own].counts = counts(advice->config);
    return {std::move(study), *advice};
}

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
                HasSubstr("while_room, the default: always brings no 0.2 % more hits, second_use "
                          "takes 0.30 more answers of peers per request, never brings no 0.2 % "
                          "more hits."));
    EXPECT_EQ(long_waits.second.config.copy, proxy::CopyPolicy::while_room);
    EXPECT_THAT(advice_text(long_waits.first, long_waits.second),
                HasSubstr("second_use lets requests wait 10.0 % longer"));
    EXPECT_EQ(advised(near).second.config.copy, proxy::CopyPolicy::second_use)
        << "many answers of peers, but hardly more than with the default";
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
    log.span = std::chrono::seconds(10);
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

TEST(Advice, SaysInWordsWhatSharingBrings) {
    const auto [study, advice] = advised(made_up);
    const auto text = advice_text(study, advice);
    EXPECT_THAT(text, HasSubstr("Sharing pays: 50.9 % of the requests are hits with it (30.0 % "
                                "local, 20.9 % from a peer), 30.0 % without.\n"));
    EXPECT_THAT(text, HasSubstr("It spares the origin 18,058 requests per day (29.9 % of"));
    EXPECT_THAT(text, HasSubstr("Summaries of kind quotient"));
    EXPECT_THAT(text, HasSubstr("Memory for summaries at each proxy: 123.5 kB"));
}

TEST(Advice, SaysThatSharingDoesNotPay) {
    const auto apart = [](const SimulationConfig& config) {
        auto out = made_up(config);
        out.peer_hits = out.peer_hit_bytes = 0;
        return out;
    };
    const auto [study, advice] = advised(apart);
    const auto text = advice_text(study, advice);
    EXPECT_THAT(text, Not(HasSubstr("What to set"))) << "there is nothing to set";
    const auto json = nlohmann::json::parse(advice_json(study, advice))["advice"];
    EXPECT_EQ(json["pays"], false);
    EXPECT_THAT(json["why_not"], HasSubstr("hardly ask for the same things"));
    EXPECT_FALSE(json.contains("settings"));
    EXPECT_THAT(text, HasSubstr("Sharing DOES NOT PAY: 30.0 % of the requests are hits with it"));
    EXPECT_THAT(text, HasSubstr("hardly ask for the same things"));
    const auto far = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.scheme != Scheme::none) out.waited_ms = 90'000;
        return out;
    };
    const auto distant = advised(far);
    EXPECT_THAT(advice_text(distant.first, distant.second),
                HasSubstr("The way to the peers takes more than it spares"));
}

TEST(Advice, SaysThatPeersAreTooFarToBeAsked) {
    const auto unasked = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.scheme != Scheme::summary) return out;
        out.peer_hits = out.peer_hit_bytes = 2;
        out.questions = 3;
        return out;
    };
    const auto far = advised(unasked);
    EXPECT_THAT(advice_text(far.first, far.second),
                HasSubstr("The peers are too far to be asked: 0.5 ms there and back at the least, "
                          "the origin takes 100 ms. They were asked 3 times, though they had 200 "
                          "answers.\n"));
    const auto unheard = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.scheme != Scheme::summary) return out;
        out.peer_hits = out.peer_hit_bytes = 2;
        out.questions = 150;
        return out;
    };
    const auto late = advised(unheard);
    EXPECT_THAT(advice_text(late.first, late.second), HasSubstr("comes too late or is lost"));
}

TEST(Advice, GivesSettingsThatANodeTakes) {
    const auto [study, advice] = advised(made_up);
    const auto text = advice_text(study, advice);
    const auto settings = nlohmann::json::parse(text.substr(text.find("\n{") + 1));
    EXPECT_EQ(settings["summary"]["kind"], "quotient");
    EXPECT_EQ(settings["summary"]["announce"]["changed"], 0.01);
    EXPECT_EQ(settings["cluster"]["copy"], "second_use");
    EXPECT_FALSE(settings.contains("cache")) << "which was given as a part";
    EXPECT_TRUE(proxy::parse_duration(settings["summary"]["announce"]["delay"].get<std::string>()));
    const auto json = nlohmann::json::parse(advice_json(study, advice));
    EXPECT_EQ(json["advice"]["pays"], true);
    EXPECT_EQ(json["advice"]["settings"], settings);
    EXPECT_NEAR(json["advice"]["saved_requests"].get<double>(), 18'057.6, 0.1);
}

}  // namespace
}  // namespace measure
