#include "measure/report/explanation_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace measure {
namespace explanation_text_test {

using testing::HasSubstr;
using testing::Not;

std::string explained(const std::string& json) {
    std::string why;
    const auto text = explanation_text(json, why);
    EXPECT_EQ(text.empty(), !why.empty()) << why;
    return text;
}

constexpr const char* kTwoPeers = R"({"url": "http://h/a", "here": "absent", "ttl_seconds": null,
    "just_invalidated": false, "origin": "h:80", "origin_answer_seconds": 0.0123,
    "beside_the_origin": false, "peers": [
    {"node": "c", "claims": true, "has": "absent", "choice": "asked", "turn": 2,
     "round_trip_seconds": 0.004},
    {"node": "b", "claims": true, "has": "has", "choice": "asked", "turn": 1,
     "round_trip_seconds": 0},
    {"node": "d", "claims": false, "has": "has", "choice": "no_claim", "turn": null},
    {"node": "e", "claims": false, "has": null, "choice": "not_in_step", "turn": null}]})";

TEST(ExplanationText, SaysWhatIsKnownOfOneUrl) {
    EXPECT_EQ(explained(kTwoPeers),
              "http://h/a\n"
              "  here: absent\n"
              "  origin: h:80, which answers after: 12.3 ms\n"
              "  a miss would ask: b, then c, then the origin\n"
              "\n"
              "peer              claims     has it           choice  round trip\n"
              "c                    yes     absent          asked 2      4.0 ms  a false hit\n"
              "b                    yes        yes          asked 1   not known\n"
              "d                     no        yes         no_claim   not known  a false miss\n"
              "e                     no  not asked      not_in_step   not known\n");
}

TEST(ExplanationText, SaysWhoFetchesAndWhoHasRenewedIt) {
    EXPECT_THAT(explained(R"({"here": "filling", "meeting_point": "a", "fetched_by": "b"})"),
                HasSubstr("  fetched by: b, which others follow\n"));
    EXPECT_THAT(explained(R"({"here": "absent", "meeting_point": "a", "fetched_by": null,
                              "peers": [{"node": "c", "choice": "no_claim"}]})"),
                HasSubstr("  who fetches it: a knows\n"));
    EXPECT_THAT(explained(R"({"here": "stale", "renewed_by": "c"})"),
                HasSubstr("  renewed by: c\n"));
}

TEST(ExplanationText, SaysHowLongSomethingIsStillFreshOrHasBeenStale) {
    EXPECT_THAT(explained(R"({"here": "fresh", "ttl_seconds": 40})"),
                HasSubstr("here: fresh, for 40 s more\n"));
    EXPECT_THAT(explained(R"({"here": "stale", "ttl_seconds": -3})"),
                HasSubstr("here: stale, for 3 s\n"));
    EXPECT_THAT(explained(R"({"here": "stale", "ttl_seconds": 0})"), HasSubstr("here: stale\n"));
}

TEST(ExplanationText, SaysWhatARuleDoesToTheResponse) {
    EXPECT_THAT(explained(R"({"here": "absent", "rule": "r", "follow_redirects": true})"),
                HasSubstr("  rule: r\n  redirects: the node follows them\n"));
    EXPECT_THAT(explained(R"({"here": "fresh", "min_age": "passes", "first_seen": "2026"})"),
                HasSubstr("\n  min_age: passes (first seen at 2026)\n"));
    EXPECT_THAT(explained(R"({"here": "absent"})"),
                AllOf(Not(HasSubstr("min_age")), Not(HasSubstr("redirects"))));
}

TEST(ExplanationText, SaysWhatAClientGetsWhereTheTargetIsRefused) {
    EXPECT_THAT(
        explained(R"-({"here": "absent", "origin": "10.0.0.7:80",
                              "target_refused": "403 (forward.private_destinations)"})-"),
        HasSubstr("  a client gets: 403 (forward.private_destinations), unless this node or "
                  "a peer has the content\n"));
}

TEST(ExplanationText, NamesTheMirrorAndTheInterceptedHost) {
    EXPECT_THAT(explained(R"({"here": "fresh", "public": "http://node/npm", "rewritten": true,
                              "url_at_origin": "https://registry.test/a"})"),
                HasSubstr("  public: http://node/npm (the stored response is rewritten for it)\n"
                          "  url at the origin: https://registry.test/a\n"));
    EXPECT_THAT(explained(R"({"here": "absent", "intercepted": "*.test"})"),
                HasSubstr("reads it inside CONNECT (forward.intercept: *.test)\n"));
}

TEST(ExplanationText, NamesTheEntryOfABlocklist) {
    EXPECT_THAT(explained(R"({"here": "absent",
                              "blocklist": {"entry": "/l, line 3", "action": "refuse"}})"),
                HasSubstr("\n  blocklist: /l, line 3 (refuse)\n"));
    EXPECT_THAT(explained(R"({"here": "absent", "blocklist": null})"), Not(HasSubstr("blocklist")));
    EXPECT_THAT(explained(R"({"here": "absent", "destination_denied": "deny: *.test"})"),
                HasSubstr("\n  refused by forward.destinations: deny: *.test\n"));
    EXPECT_THAT(explained(R"({"here": "absent", "destination_denied": null})"),
                Not(HasSubstr("destinations")));
}

TEST(ExplanationText, SaysWhyOnlyTheOriginIsAsked) {
    EXPECT_THAT(explained(R"({"here": "absent", "just_invalidated": true})"),
                HasSubstr("ask: the origin: it was invalidated less than 2 s ago\n"));
    const auto alone = explained(R"({"here": "absent", "peers": []})");
    EXPECT_THAT(alone, HasSubstr("ask: the origin\n"));
    EXPECT_THAT(alone, Not(HasSubstr("choice")));
    EXPECT_THAT(alone, Not(HasSubstr("servers")));
    EXPECT_THAT(explained(R"({"here": "absent", "servers": ["a:1", "b:2"]})"),
                HasSubstr("  servers: a:1, then b:2\n"));
    EXPECT_THAT(explained(R"({"here": "absent", "beside_the_origin": true,
                              "peers": [{"node": "far", "turn": 1}]})"),
                HasSubstr("ask: the origin, and far beside it"));
}

TEST(ExplanationText, IsNoOrderToTheTerminal) {
    EXPECT_THAT(explained(R"({"here": "absent", "url": "http://h/\u001b[2J"})"),
                Not(HasSubstr("\x1b")));
}

TEST(ExplanationText, IsEmptyForSomethingElse) {
    for (const char* other : {"", "It works!", "[]", "{}", R"({"here": 3})", R"({"here": ""})"})
        EXPECT_EQ(explained(other), "") << other;
}

TEST(PercentEncoded, LeavesWhatMeansNothing) {
    EXPECT_EQ(percent_encoded("http://h/~a-b_c.d?e=1&f#\xff"),
              "http%3A%2F%2Fh%2F~a-b_c.d%3Fe%3D1%26f%23%FF");
}

TEST(ExplanationText, ARefusedTargetHasNoOrigin) {
    std::string why;
    const auto text = explanation_text(
        R"json({"url": "http://x/", "here": "absent", "refused": "403 (forward.blocklists)",
                "origin": "x:80"})json",
        why);
    EXPECT_NE(text.find("  a client gets: 403 (forward.blocklists)\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("origin"), std::string::npos) << text;
}

TEST(ExplanationText, NamesUsesThatNeedTheOriginAndLifetimesWithoutAnEnd) {
    std::string why;
    const auto authorized = explanation_text(
        R"({"url": "http://x/", "here": "fresh", "ttl_seconds": 60, "authorize": true})", why);
    EXPECT_NE(authorized.find("here: stored, and the origin confirms each use"), std::string::npos);
    const auto immutable = explanation_text(
        R"({"url": "http://x/", "here": "fresh", "ttl_seconds": 2147483647})", why);
    EXPECT_NE(immutable.find("here: fresh for ever"), std::string::npos);
    const auto aged = explanation_text(
        R"({"url": "http://x/", "here": "fresh", "ttl_seconds": 2147483644,
            "lifetime_seconds": 2147483647})",
        why);
    EXPECT_NE(aged.find("here: fresh for ever\n"), std::string::npos) << aged;
}

TEST(ExplanationText, CountsLongLifetimesInDays) {
    std::string why;
    const auto for_seconds = [&](const char* seconds) {
        return explanation_text(R"({"url": "http://x/", "here": "fresh", "ttl_seconds": )" +
                                    std::string(seconds) + R"(, "lifetime_seconds": 31536000})",
                                why);
    };
    EXPECT_NE(for_seconds("31535999").find("here: fresh, for 364 days more\n"), std::string::npos);
    EXPECT_NE(for_seconds("172801").find("here: fresh, for 2 days more\n"), std::string::npos);
    EXPECT_NE(for_seconds("172800").find("here: fresh, for 172800 s more\n"), std::string::npos);
}

}  // namespace explanation_text_test
}  // namespace measure
