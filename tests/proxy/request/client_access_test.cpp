#include "proxy/request/client_access.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace client_access_test {

using test::Head;

boost::asio::ip::address at(const char* text) {
    return boost::asio::ip::make_address(text);
}

TEST(ClientRights, AreEverybodysToAskAndPrivateNetworksToForward) {
    const Config config;
    for (const auto* text : {"127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1",
                             "169.254.1.1", "fd00::1", "fe80::1", "::ffff:10.0.0.1"}) {
        EXPECT_TRUE(rights_of(config, at(text)).ask) << text;
        EXPECT_TRUE(rights_of(config, at(text)).forward) << text;
    }
    for (const auto* text : {"8.8.8.8", "100.64.0.1", "2a00::1", "172.32.0.1"}) {
        EXPECT_TRUE(rights_of(config, at(text)).ask) << text;
        EXPECT_FALSE(rights_of(config, at(text)).forward) << text;
    }
}

TEST(ClientRights, AreTakenByDenyWhateverAllowSays) {
    Config config;
    config.clients.allow = {"10.0.0.0/8"};
    config.clients.deny = {"10.9.0.0/16"};
    EXPECT_TRUE(rights_of(config, at("10.1.0.1")).ask);
    EXPECT_FALSE(rights_of(config, at("10.9.0.1")).ask);
    EXPECT_FALSE(rights_of(config, at("127.0.0.1")).ask);
}

class ForwardedClients : public ::testing::Test {
protected:
    std::string named(const char* lines) const {
        const auto found = forwarded_client(Head(lines), {"10.0.0.0/8", "::1"});
        if (found.state == ForwardedClient::State::absent) return "absent";
        if (found.state == ForwardedClient::State::unreadable) return "unreadable";
        return found.address.to_string();
    }
};

TEST_F(ForwardedClients, AreTheLastThatIsNoTrustedProxy) {
    EXPECT_EQ(named("X-Forwarded-For: 1.1.1.1"), "1.1.1.1");
    EXPECT_EQ(named("X-Forwarded-For: 6.6.6.6, 1.1.1.1"), "1.1.1.1") << "what it says of others";
    EXPECT_EQ(named("X-Forwarded-For: 6.6.6.6, 1.1.1.1, 10.0.0.7,::1"), "1.1.1.1");
    EXPECT_EQ(
        named("x-forwarded-for: 6.6.6.6\nX-Forwarded-For: 1.1.1.1\nX-Forwarded-For: 10.0.0.7"),
        "1.1.1.1");
    EXPECT_EQ(named("X-Forwarded-For: 10.0.0.1, 10.0.0.2"), "10.0.0.1") << "all are trusted";
    EXPECT_EQ(named("X-Forwarded-For: garbage, 1.1.1.1"), "1.1.1.1");
}

TEST_F(ForwardedClients, MayBeWrittenWithPortsAndBrackets) {
    EXPECT_EQ(named("X-Forwarded-For: 1.1.1.1:1234"), "1.1.1.1");
    EXPECT_EQ(named("X-Forwarded-For: 2a00::1"), "2a00::1");
    EXPECT_EQ(named("X-Forwarded-For: [2a00::1]:1234"), "2a00::1");
    EXPECT_EQ(named("X-Forwarded-For: ::ffff:1.1.1.1"), "1.1.1.1");
    EXPECT_EQ(named("X-Forwarded-For: , 1.1.1.1 ,,"), "1.1.1.1");
}

TEST_F(ForwardedClients, AreNotKnownWhenNobodySaysSo) {
    EXPECT_EQ(named("X-A: 1.1.1.1"), "absent");
    EXPECT_EQ(named("X-Forwarded-For:"), "absent");
    for (const auto* bad : {"unknown", "_hidden", "1.1.1.1, unknown", "1.1.1.1, unknown, 10.0.0.1",
                            "[", "[]", "[::1", ":", "1.1.1.1.1"})
        EXPECT_EQ(named((std::string("X-Forwarded-For: ") + bad).c_str()), "unreadable") << bad;
}

class Requesters : public ::testing::Test {
protected:
    Requesters() {
        config.clients.trusted_proxies = {"10.0.0.7"};
        config.clients.deny = {"6.6.6.6"};
    }
    void connect(const char* from) { requester.settle(config, at(from)); }
    void ask(const char* lines) {
        requester.begin();
        requester.look(config, Head(lines));
    }
    bool may_purge(const char* lines) {
        ask(lines);
        return requester.may_purge(config, Head(lines));
    }
    Config config;
    Requester requester;
};

TEST_F(Requesters, AreWhoConnected) {
    connect("10.0.0.8");
    ask("X-Forwarded-For: 1.1.1.1");
    EXPECT_EQ(requester.text(), "10.0.0.8") << "its own word counts for nothing";
    EXPECT_TRUE(requester.rights().forward);
    EXPECT_FALSE(requester.through_trusted_proxy());
}

TEST_F(Requesters, AreWhomATrustedProxyNamesForEachRequestAnew) {
    connect("10.0.0.7");
    EXPECT_TRUE(requester.through_trusted_proxy());
    EXPECT_TRUE(requester.rights().forward);
    ask("X-Forwarded-For: 1.1.1.1");
    EXPECT_EQ(requester.text(), "1.1.1.1");
    EXPECT_EQ(requester.hop_text(), "10.0.0.7");
    EXPECT_TRUE(requester.rights().ask);
    EXPECT_FALSE(requester.rights().forward);
    ask("X-Forwarded-For: 6.6.6.6");
    EXPECT_FALSE(requester.rights().ask);
    requester.begin();
    EXPECT_EQ(requester.text(), "10.0.0.7") << "a head that cannot be read names nobody";
    ask("X-A: b");
    EXPECT_EQ(requester.text(), "10.0.0.7");
    EXPECT_TRUE(requester.rights().ask);
}

TEST_F(Requesters, ARequesterWithAnUnreadableAddressMayBeAnybody) {
    connect("10.0.0.7");
    for (const auto* line : {"X-Forwarded-For: \"10.0.0.1\"", "X-Forwarded-For: 10.0.0.01",
                             "X-Forwarded-For: 10.0.0.1, unknown", "X-Forwarded-For: _hidden"}) {
        ask(line);
        EXPECT_FALSE(requester.rights().ask) << line << ": it may be one that is denied";
        EXPECT_FALSE(requester.rights().forward) << line;
        EXPECT_EQ(requester.text(), "10.0.0.7");
    }
    config.clients.deny = {};
    ask("X-Forwarded-For: unknown");
    EXPECT_TRUE(requester.rights().ask) << "everybody may";
    EXPECT_FALSE(requester.rights().forward);
    config.clients.allow = {"10.0.0.0/8"};
    ask("X-Forwarded-For: unknown");
    EXPECT_FALSE(requester.rights().ask);
    ask("X-A: b");
    EXPECT_TRUE(requester.rights().ask) << "the proxy's own";
    EXPECT_TRUE(requester.rights().forward);
}

TEST_F(Requesters, ForWhomAProxyAsksWithoutSayingSoForwardNothing) {
    connect("10.0.0.7");
    for (const auto* line : {"Via: 1.1 x", "Forwarded: for=1.1.1.1", "X-Forwarded-For:"}) {
        ask(line);
        EXPECT_TRUE(requester.rights().ask) << line;
        EXPECT_FALSE(requester.rights().forward) << line;
    }
    connect("10.0.0.8");
    ask("Via: 1.1 x");
    EXPECT_TRUE(requester.rights().forward) << "of a proxy that is not trusted, its own";
}

TEST_F(Requesters, AreJudgedAnewByAnotherConfiguration) {
    connect("8.8.8.8");
    EXPECT_TRUE(requester.rights().ask);
    config.clients.deny = {"8.8.8.8"};
    requester.settle(config, requester.address());
    EXPECT_FALSE(requester.rights().ask);
    EXPECT_EQ(requester.text(), "8.8.8.8");
}

TEST_F(Requesters, MayPurgeIfTheyAreListedAndNobodyStandsBetweenUnknown) {
    config.clients.purge = {"127.0.0.0/8", "1.1.1.1"};
    connect("127.0.0.1");
    EXPECT_TRUE(may_purge("X-A: b"));
    for (const auto* line :
         {"Via: 1.1 x", "X-Forwarded-For: 127.0.0.1", "Forwarded: for=127.0.0.1"})
        EXPECT_FALSE(may_purge(line)) << line;
    config.clients.trusted_proxies = {"127.0.0.1"};
    connect("127.0.0.1");
    EXPECT_TRUE(may_purge("X-A: b"));
    EXPECT_TRUE(may_purge("Via: 1.1 x\nX-Forwarded-For: 1.1.1.1"));
    EXPECT_TRUE(may_purge("X-Forwarded-For: 127.0.0.1"));
    EXPECT_FALSE(may_purge("X-Forwarded-For: 8.8.8.8"));
    EXPECT_FALSE(may_purge("Via: 1.1 x")) << "it does not say for whom";
    EXPECT_FALSE(may_purge("X-Forwarded-For: unknown"));
    connect("8.8.8.8");
    EXPECT_FALSE(may_purge("X-A: b"));
}

}  // namespace client_access_test
}  // namespace proxy
