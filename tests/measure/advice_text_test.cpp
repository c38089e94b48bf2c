#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "measure/study/advice.hpp"
#include "proxy/config/config_values.hpp"
#include "tests/measure/study_fixture.hpp"

namespace measure {
namespace advice_text_test {

using testing::HasSubstr;
using testing::Not;

/// Nobody has anything of a peer.
SimulationCounts apart(const SimulationConfig& config) {
    auto out = made_up(config);
    out.peer_hits = out.peer_hit_bytes = 0;
    return out;
}

TEST(AdviceText, SaysInWordsWhatSharingBrings) {
    const auto [study, advice] = advised(made_up);
    const auto text = advice_text(study, advice);
    EXPECT_THAT(text, HasSubstr("Sharing pays: 50.9 % of the requests are hits with it (30.0 % "
                                "local, 20.9 % from a peer), 30.0 % without.\n"));
    EXPECT_THAT(text, HasSubstr("It spares the origin 18,058 requests per day (29.9 % of"));
    EXPECT_THAT(text, HasSubstr("Summaries of kind quotient"));
    EXPECT_THAT(text, HasSubstr("Memory for summaries at each proxy: 121 KiB"));
}

TEST(AdviceText, SaysThatSharingDoesNotPay) {
    const auto [study, advice] = advised(apart);
    const auto text = advice_text(study, advice);
    EXPECT_THAT(text, Not(HasSubstr("What to set"))) << "there is nothing to set";
    const auto json = nlohmann::json::parse(advice_json(study, advice))["advice"];
    EXPECT_EQ(json["pays"], false);
    EXPECT_EQ(json["can_tell"], true);
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

TEST(AdviceText, SaysThatPeersAreTooFarToBeAsked) {
    const auto unasked = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.scheme != Scheme::summary) return out;
        out.peer_hits = out.peer_hit_bytes = 2;
        out.peers_too_far = 190;
        return out;
    };
    const auto far = advised(unasked);
    EXPECT_THAT(advice_text(far.first, far.second),
                HasSubstr("too far away: 0.5 ms there and back at the least, while the origin "
                          "takes 100 ms. So the origin was asked for 190 answers that a summary "
                          "claimed.\n"));
    const auto unheard = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.scheme != Scheme::summary) return out;
        out.peer_hits = out.peer_hit_bytes = 2;
        out.peers_too_far = 50;
        return out;
    };
    const auto late = advised(unheard);
    EXPECT_THAT(advice_text(late.first, late.second), HasSubstr("come too late or are lost"));
}

TEST(AdviceText, DoesNotJudgeByTooLittle) {
    const auto judged = [](const LogFacts& log, const StudyOptions& options = {}) {
        const auto [study, advice] = advised(apart, log, options);
        const auto text = advice_text(study, advice);
        const auto json = nlohmann::json::parse(advice_json(study, advice))["advice"];
        EXPECT_THAT(text, Not(HasSubstr("DOES NOT PAY")));
        EXPECT_THAT(text, HasSubstr("TOO LITTLE FOR A VERDICT on sharing: 30.0 % of"));
        EXPECT_EQ(json["pays"], false);
        EXPECT_EQ(json["can_tell"], false);
        EXPECT_THAT(text, HasSubstr(json["why_not"].get<std::string>()));
        return text;
    };
    auto log = small_log();
    log.clients = 1;
    EXPECT_THAT(judged(log), HasSubstr("All requests are of one client"));
    StudyOptions four;
    four.proxies = {4};
    log.clients = 15;
    EXPECT_THAT(judged(log, four),
                HasSubstr("15 clients are too few for 4 proxies: a verdict takes "
                          "16 or more. Load balancers in front of the server"));
    log.clients = 16;
    EXPECT_EQ(too_little_to_tell(log, advised(apart, log, four).second.config), "");
    log = small_log();
    log.requests = 399;
    StudyOptions options;
    options.proxies = {4};
    EXPECT_THAT(judged(log, options), HasSubstr("399 requests are too few for 4 proxies: take"));
    options.proxies = {1};
    EXPECT_THAT(judged(log, options), HasSubstr("1 proxy with 95.4 MiB:"));
    EXPECT_THAT(judged(log, options), HasSubstr("One proxy has no peers"));
    log = small_log();
    options = {};
    options.caches = {*parse_cache_size("60KiB")};
    EXPECT_THAT(
        judged(log, options),
        HasSubstr("A cache of 60 KiB has room for 5 of the log's 100,000 objects, which are "
                  "of 10.0 KiB in the mean, head and all: take a larger --cache"));
    options.caches = {*parse_cache_size("1225B")};
    EXPECT_THAT(judged(log, options), HasSubstr("has room for none of the log's 100,000 objects"));
}

TEST(AdviceText, SaysWhyThereIsNone) {
    auto study = finished_study();
    EXPECT_THAT(no_advice_text(study), HasSubstr("some cannot be simulated"));
    study.rows.front().counts.reset();
    study.rows.front().refused = "the moon is full";
    EXPECT_THAT(no_advice_text(study), HasSubstr("cannot be simulated, as the moon is full."));
    study.stopped = true;
    EXPECT_THAT(no_advice_text(study), HasSubstr("stopped before all was simulated"));
}

TEST(AdviceText, RecommendsNothingOnTooLittle) {
    auto log = small_log();
    log.requests = 399;
    const auto [study, advice] = advised(made_up, log);
    const auto text = advice_text(study, advice);
    EXPECT_THAT(text, HasSubstr("TOO LITTLE FOR A VERDICT on sharing: 50.9 % of"));
    EXPECT_THAT(text, HasSubstr("399 requests are too few"));
    EXPECT_THAT(text, Not(HasSubstr("What to set")));
    const auto json = nlohmann::json::parse(advice_json(study, advice))["advice"];
    EXPECT_EQ(json["pays"], false);
    EXPECT_EQ(json["can_tell"], false);
    EXPECT_FALSE(json.contains("settings"));
}

TEST(AdviceText, MakesNoDayOfFiftyMinutes) {
    auto log = small_log();
    log.span = std::chrono::minutes(50);
    const auto [study, advice] = advised(made_up, log);
    const auto text = advice_text(study, advice);
    EXPECT_THAT(text, Not(HasSubstr("per day")));
    EXPECT_THAT(text, HasSubstr("180,576 requests in the 50.0 min of the log (29.9 %"));
    EXPECT_THAT(text, HasSubstr("spans less than a day, so daily figures are left out"));
    EXPECT_EQ(nlohmann::json::parse(advice_json(study, advice))["advice"]["per"], "log");
}

TEST(AdviceText, TellsNothingWhenWhatWasLeftOutCouldChangeIt) {
    const auto judged = [](const auto& counts, std::uint64_t in_doubt) {
        auto log = small_log();
        log.in_doubt = in_doubt;
        const auto [study, advice] = advised(counts, log);
        const auto json = nlohmann::json::parse(advice_json(study, advice))["advice"];
        const auto text = advice_text(study, advice);
        EXPECT_EQ(json["can_tell"], text.find("NO VERDICT") == std::string::npos);
        EXPECT_EQ(json.contains("settings"), text.find("What to set") != std::string::npos);
        return text;
    };
    EXPECT_THAT(judged(made_up, 20'000), HasSubstr("Sharing pays"));
    EXPECT_THAT(judged(apart, 1'000), HasSubstr("DOES NOT PAY"));
    EXPECT_THAT(judged(made_up, 100'000), HasSubstr("100,000 lines left out as uncertain"));
    EXPECT_THAT(judged(made_up, 100'000), Not(HasSubstr("What to set")));
    EXPECT_THAT(judged(apart, 20'000), HasSubstr("may save the origin 0.00 to 3.20 % of its"))
        << "they may all be of clients who share";
    const auto barely = [](const SimulationConfig& config) {
        auto out = made_up(config);
        if (config.scheme != Scheme::none) out.local_hits = 301, out.peer_hits = 7;
        return out;
    };
    EXPECT_THAT(judged(barely, 0), HasSubstr("Sharing pays"));
    EXPECT_THAT(judged(barely, 90'000), HasSubstr("It is too close"));
}

TEST(AdviceText, GivesSettingsThatANodeTakes) {
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

}  // namespace advice_text_test
}  // namespace measure
