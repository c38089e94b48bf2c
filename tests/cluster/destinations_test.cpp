#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace destinations_test {

/// A forward proxy that may reach private addresses, and a peer of it.
class OwnListeners : public NodesTest {
protected:
    void SetUp() override {
        admin_port_ = Socket::listen("127.0.0.1", 0).port();
        auto settings = config("a", 2);
        settings.origins.clear();
        settings.forward.enabled = true;
        settings.forward.private_destinations = Destinations::allow;
        settings.forward.connect_ports = {kProxyPort, kLinkPort, admin_port_};
        settings.admin = AdminConfig{{"127.0.0.1", admin_port_}};
        start(settings);
        start(config("b", 2));
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
    /// Everywhere that the ports in use can be reached at.
    std::vector<std::string> places() const {
        const auto own = ":" + std::to_string(admin_port_);
        std::vector<std::string> all{"127.0.0.1" + own, "localhost" + own,
                                     "LocalHost" + own, "0.0.0.0" + own,
                                     "[::]" + own,      "[::ffff:127.0.0.1]" + own};
        for (const auto* node : {"a", "b"})
            for (const auto port : {kProxyPort, kLinkPort})
                all.push_back(address(node) + ":" + std::to_string(port));
        // The peer's admin port is where ours is, for all that is known here.
        all.push_back(address("b") + own);
        return all;
    }
    std::uint16_t admin_port_ = 0;
};

TEST_F(OwnListeners, AreNotForwardedTo) {
    for (const auto& place : places()) {
        const auto answer = client().ask("POST", "http://" + place + "/api/v1/drain");
        EXPECT_EQ(answer.status, 403u) << place << ": " << answer.head << answer.body;
        EXPECT_EQ(answer.cache_status(), "a; detail=own_listener") << place;
        EXPECT_TRUE(contains(answer.body, "listens there")) << answer.body;
        EXPECT_EQ(get("a", "http://" + place + "/healthz").status, 403u) << place;
    }
    EXPECT_FALSE(status("a").draining);
    EXPECT_FALSE(status("b").draining);
    const auto work = status("a").work;
    EXPECT_GE(work.refusals[RequestRefusal::destination], 2 * places().size());
    EXPECT_EQ(work.origin_requests, 0u) << "none was sent";
    EXPECT_EQ(work.origin_failures, 0u);
}

TEST_F(OwnListeners, AreNotTunnelledTo) {
    for (const auto& place : places()) {
        const auto answer = client().ask("CONNECT", place);
        EXPECT_EQ(answer.status, 403u) << place;
        EXPECT_EQ(answer.cache_status(), "a; detail=own_listener") << place;
    }
    EXPECT_EQ(status("a").work.origin_requests, 0u);
    EXPECT_EQ(status("a").work.origin_failures, 0u);
}

TEST_F(OwnListeners, DoNotCloseTheirAddressesToOtherPorts) {
    const auto url = "http://" + origin_authority() + "/one";
    EXPECT_EQ(get("a", url).body, "body of /one");
    EXPECT_EQ(status("a").work.origin_requests, 1u);
}

}  // namespace destinations_test
}  // namespace proxy::test
