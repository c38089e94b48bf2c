#include "proxy/http/upgrade.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace upgrade_test {

using test::Head;
using State = UpgradeDecision::State;
const std::vector<std::string> kWebSocket{"websocket"}, kNone;

TEST(Upgrade, IsAskedForByConnectionAndUpgradeTogether) {
    for (const auto* head :
         {"Connection: Upgrade\nUpgrade: websocket",
          "Connection: keep-alive, upgrade\nUpgrade: WebSocket",
          "Connection: keep-alive\nConnection: upgrade\nUpgrade: h2c, websocket/13"})
        EXPECT_EQ(upgrade_wish(Head(head), 11, kWebSocket).state, State::allowed) << head;
    for (const auto* head :
         {"Upgrade: websocket", "Connection: Upgrade", "Connection: close\nUpgrade: websocket",
          "Connection: Upgrade\nUpgrade:"})
        EXPECT_EQ(upgrade_wish(Head(head), 11, kWebSocket).state, State::none) << head;
    EXPECT_EQ(upgrade_wish(Head("Connection: Upgrade\nUpgrade: websocket"), 10, kWebSocket).state,
              State::none)
        << "RFC 9110 §7.8: not in HTTP/1.0";
}

TEST(Upgrade, IsForwardedForListedProtocols) {
    const Head head("Connection: Upgrade\nUpgrade: h2c, WebSocket/13, x");
    EXPECT_EQ(upgrade_wish(head, 11, kWebSocket).protocols, "WebSocket/13");
    const std::vector<std::string> two{"x", "websocket"};
    EXPECT_EQ(upgrade_wish(head, 11, two).protocols, "WebSocket/13, x");
    EXPECT_EQ(upgrade_wish(Head("Connection: Upgrade\nUpgrade: h2c"), 11, kWebSocket).state,
              State::none)
        << "the request does without";
}

TEST(Upgrade, OfAWebSocketHandshakeIsRefusedIfItIsNotListed) {
    EXPECT_EQ(upgrade_wish(Head("Connection: Upgrade\nUpgrade: websocket"), 11, kNone).state,
              State::refused);
}

TEST(Upgrade, SwitchesToARequestedProtocol) {
    EXPECT_TRUE(switches_to(Head("Upgrade: websocket"), "WebSocket/13"));
    EXPECT_TRUE(switches_to(Head("Upgrade: x"), "websocket, x"));
    EXPECT_FALSE(switches_to(Head("Upgrade: h2c"), "websocket"));
    EXPECT_FALSE(switches_to(Head("X-A: b"), "websocket"));
    EXPECT_FALSE(switches_to(Head("Upgrade: websocket"), ""));
}

}  // namespace upgrade_test
}  // namespace proxy
