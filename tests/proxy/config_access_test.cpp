#include "proxy/config_access.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

std::vector<std::string> warned(const Config& config) {
    std::vector<std::string> paths;
    for (const auto& warning : access_doubts(config)) paths.push_back(warning.path);
    return paths;
}
using Paths = std::vector<std::string>;

TEST(AccessDoubts, AreNotMadeOfTheDefaults) {
    Config config;
    config.forward.enabled = true;
    EXPECT_EQ(warned(config), Paths{});
    config.admin.reset();
    EXPECT_EQ(warned(config), Paths{});
}

TEST(AccessDoubts, SayThatTheAdminPortListensBeyondLoopbackWithoutAToken) {
    Config config;
    for (const auto* host : {"0.0.0.0", "::", "10.0.0.1", "node-a", "::ffff:10.0.0.1"}) {
        config.admin = AdminConfig{{host, 9128}};
        EXPECT_EQ(warned(config), Paths{"$.admin"}) << host;
        config.admin->token = "0123456789abcdef";
        EXPECT_EQ(warned(config), Paths{}) << host;
    }
    for (const auto* host : {"127.0.0.1", "127.1.1.1", "::1", "localhost"}) {
        config.admin = AdminConfig{{host, 9128}};
        EXPECT_EQ(warned(config), Paths{}) << host;
    }
}

TEST(AccessDoubts, SayWhatIsOpenToEverybody) {
    Config config;
    config.forward.clients = {"0.0.0.0/0"};
    EXPECT_EQ(warned(config), Paths{}) << "it is no forward proxy";
    config.forward.enabled = true;
    EXPECT_EQ(warned(config), Paths{"$.forward.clients"});
    config.forward.clients = {"10.0.0.0/8"};
    config.clients.trusted_proxies = {"::/0"};
    EXPECT_EQ(warned(config), Paths{"$.clients.trusted_proxies"});
}

}  // namespace
}  // namespace proxy
