#include "proxy/http/forwarded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace forwarded_test {

using test::Head;
using test::lines_of;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class ForwardedLines : public ::testing::Test {
protected:
    ForwardedLines() {
        hop.mode = ForwardedMode::append;
        hop.sender = hop.client = "10.0.0.8";
        hop.host = "h.test";
    }
    std::vector<std::string> after(const char* came) {
        const Head head(came);
        const Fields given = head;
        std::vector<Field> fields(given.begin(), given.end());
        rewriter.rewrite(fields, hop);
        return lines_of(fields);
    }
    ForwardedHop hop;
    ForwardedFields rewriter;
};

constexpr const char* kMadeUp =
    "X-Forwarded-For: 6.6.6.6\nX-Forwarded-Proto: https\nX-Forwarded-Host: evil.test\n"
    "X_Forwarded_For: 6.6.6.6\nx-forwarded_proto: https\nX_Forwarded_Host: evil.test\n"
    "Forwarded: for=6.6.6.6;proto=https\nX-Other: 1";

TEST_F(ForwardedLines, NameTheSenderAndTheTarget) {
    EXPECT_THAT(after("X-Other: 1"),
                UnorderedElementsAre("X-Other: 1", "X-Forwarded-For: 10.0.0.8",
                                     "X-Forwarded-Proto: http", "X-Forwarded-Host: h.test",
                                     "Forwarded: for=10.0.0.8;host=h.test;proto=http"));
}

TEST_F(ForwardedLines, ReplaceTheFieldsOfUntrustedSenders) {
    for (const auto mode : {ForwardedMode::append, ForwardedMode::replace}) {
        hop.mode = mode;
        EXPECT_THAT(after(kMadeUp),
                    UnorderedElementsAre("X-Other: 1", "X-Forwarded-For: 10.0.0.8",
                                         "X-Forwarded-Proto: http", "X-Forwarded-Host: h.test",
                                         "Forwarded: for=10.0.0.8;host=h.test;proto=http"));
    }
}

TEST_F(ForwardedLines, KeepATrustedProxysClientAndAddTheProxy) {
    hop.trusted = true;
    hop.client = "1.1.1.1";
    hop.scheme = Scheme::https;
    hop.host = "outer.test";
    EXPECT_THAT(
        after("X-Forwarded-For: 6.6.6.6\nX-Forwarded-For: 1.1.1.1\nX-Forwarded-Proto: https\n"
              "X-Forwarded-Host: outer.test"),
        UnorderedElementsAre(
            "X-Forwarded-For: 6.6.6.6, 1.1.1.1, 10.0.0.8", "X-Forwarded-Proto: https",
            "X-Forwarded-Host: outer.test",
            "Forwarded: for=6.6.6.6, for=1.1.1.1, for=10.0.0.8;host=outer.test;proto=https"));
    EXPECT_THAT(
        after("Forwarded: for=1.1.1.1"),
        testing::Contains("Forwarded: for=1.1.1.1, for=10.0.0.8;host=outer.test;proto=https"));
}

TEST_F(ForwardedLines, SayNoTargetButThatOfTheKey) {
    hop.trusted = true;
    const auto* came =
        "X-Forwarded-Proto: https\nX-Forwarded-Host: evil.test\n"
        "Forwarded: for=1.1.1.1;Host=evil.test;by=b, proto=https\n"
        "Forwarded: for=\"x;host=y\";ext=\"a\\\";host=b\"; host = evil.test, for=2;z=\"";
    const std::string kept = "for=1.1.1.1;by=b, for=\"x;host=y\";ext=\"a\\\";host=b\"";
    hop.mode = ForwardedMode::off;
    EXPECT_THAT(after(came), ElementsAre("Forwarded: " + kept));
    EXPECT_THAT(after("Forwarded: for=1;by=2"), ElementsAre("Forwarded: for=1;by=2"));
    EXPECT_THAT(after("Forwarded: host=evil.test"), ElementsAre());
    hop.stated = {true, true};
    EXPECT_THAT(after("X-Forwarded-Host: evil.test"),
                UnorderedElementsAre("X-Forwarded-Proto: http", "X-Forwarded-Host: h.test"));
    hop.mode = ForwardedMode::append;
    EXPECT_THAT(after(came), UnorderedElementsAre(
                                 "X-Forwarded-Proto: http", "X-Forwarded-Host: h.test",
                                 "X-Forwarded-For: 10.0.0.8",
                                 "Forwarded: " + kept + ", for=10.0.0.8;host=h.test;proto=http"));
}

TEST(StatedTarget, IsThatOfTheOutermostProxy) {
    const auto stated = [](const char* came) {
        const Head head(came);
        const auto target = stated_target(head);
        return (target.scheme ? std::string(to_string(*target.scheme)) : "?") + " " +
               std::string(target.host);
    };
    EXPECT_EQ(stated("X-Other: 1"), "? ");
    EXPECT_EQ(stated("X-Forwarded-Proto: https\nX-Forwarded-Host: a.test:81"), "https a.test:81");
    EXPECT_EQ(stated("X-Forwarded-Proto: HTTP, https\nX-Forwarded-Host: a.test, b.test"),
              "http a.test");
    EXPECT_EQ(stated("X-Forwarded-Proto: gopher\nX-Forwarded-Host:"), "? ");
    EXPECT_EQ(stated("Forwarded: for=1;proto=https;host=\"a.test:81\", for=2;proto=http"),
              "https a.test:81");
    EXPECT_EQ(stated("Forwarded: for=1\nForwarded: Host=a.test"), "? a.test");
    EXPECT_EQ(stated("X-Forwarded-For: 1\nForwarded: proto=https;host=a.test"), "? ")
        << "the client itself may have written that";
}

TEST_F(ForwardedLines, RepeatXForwardedForOfAProxyInForwarded) {
    hop.trusted = true;
    EXPECT_THAT(after("X-Forwarded-For: 7.7.7.7, , 2a00::2,[::3]:80, \"x\nForwarded: for=6.6.6.6"),
                testing::Contains("Forwarded: for=7.7.7.7, for=\"[2a00::2]\", for=\"[::3]:80\", "
                                  "for=\"\\\"x\", for=10.0.0.8;host=h.test;proto=http"))
        << "what the client wrote in Forwarded itself is not passed on";
}

TEST_F(ForwardedLines, SayTheClientAloneInsteadIfTheyAreToReplace) {
    hop.mode = ForwardedMode::replace;
    hop.trusted = true;
    hop.client = "1.1.1.1";
    EXPECT_THAT(after("X-Forwarded-For: 6.6.6.6, 1.1.1.1\nX-Forwarded-Proto: https"),
                UnorderedElementsAre("X-Forwarded-For: 1.1.1.1", "X-Forwarded-Proto: http",
                                     "X-Forwarded-Host: h.test",
                                     "Forwarded: for=1.1.1.1;host=h.test;proto=http"));
}

TEST_F(ForwardedLines, StayAsReceivedWhenOffExceptSchemeAndHost) {
    hop.mode = ForwardedMode::off;
    for (const auto trusted : {false, true}) {
        hop.trusted = trusted;
        EXPECT_THAT(after(kMadeUp),
                    ElementsAre("X-Forwarded-For: 6.6.6.6", "X_Forwarded_For: 6.6.6.6",
                                "X-Other: 1", "Forwarded: for=6.6.6.6"));
        EXPECT_THAT(after("X-Other: 1"), ElementsAre("X-Other: 1"));
    }
}

TEST_F(ForwardedLines, StateHttpsForAnHttpsTargetInEveryMode) {
    hop.scheme = Scheme::https;
    for (const auto mode : {ForwardedMode::off, ForwardedMode::append, ForwardedMode::replace})
        for (const auto trusted : {false, true}) {
            hop.mode = mode;
            hop.trusted = trusted;
            const auto lines = after("X-Forwarded-Proto: http\nx-forwarded-proto: gopher");
            EXPECT_EQ(std::count(lines.begin(), lines.end(), "X-Forwarded-Proto: https"), 1);
            for (const auto& line : lines)
                EXPECT_EQ(line.find("gopher"), std::string::npos) << line;
        }
}

TEST_F(ForwardedLines, WriteAddressesAndHostsAsRFC7239WantsThem) {
    hop.sender = hop.client = "2a00::1";
    hop.host = "h.test:8080";
    hop.scheme = Scheme::https;
    EXPECT_THAT(after(""),
                testing::Contains("Forwarded: for=\"[2a00::1]\";host=\"h.test:8080\";proto=https"));
    EXPECT_THAT(after(""), testing::Contains("X-Forwarded-For: 2a00::1"));
}

TEST_F(ForwardedLines, NameNoClientForAPeer) {
    hop.sender = hop.client = {};
    EXPECT_THAT(after(kMadeUp), UnorderedElementsAre("X-Other: 1", "X-Forwarded-Proto: http",
                                                     "X-Forwarded-Host: h.test"));
}

}  // namespace forwarded_test
}  // namespace proxy
