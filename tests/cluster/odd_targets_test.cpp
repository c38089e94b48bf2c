// Requests whose target or Host says less than usual, and what the origin is sent then.
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace odd_targets_test {

class OddTargets : public NodesTest {};

TEST_F(OddTargets, OptionsOfAServerReachItAsAnAsterisk) {  // RFC 9112 §3.2.4
    auto forward = config("a");
    forward.origins.clear();
    forward.forward.enabled = true;
    forward.forward.private_destinations = Destinations::allow;
    start(forward);
    start(config("b"));
    const auto server = "http://127.0.0.1:" + std::to_string(origin.port());
    for (const auto* node : {"a", "b"})
        for (const auto* path : {"", "/", "?x"})
            EXPECT_EQ(client(node).ask("OPTIONS", server + path).status, 200u);
    const auto heads = origin.heads();
    ASSERT_EQ(heads.size(), 6u);
    for (std::size_t i = 0; i < 6; i += 3) {
        EXPECT_TRUE(heads[i].starts_with("OPTIONS * HTTP/1.1\r\n")) << heads[i];
        EXPECT_TRUE(heads[i + 1].starts_with("OPTIONS / HTTP/1.1\r\n")) << heads[i + 1];
        EXPECT_TRUE(heads[i + 2].starts_with("OPTIONS /?x HTTP/1.1\r\n")) << heads[i + 2];
    }
}

TEST_F(OddTargets, OptionsOfTheNodeItselfAreItsOwnToAnswer) {  // RFC 9110 §9.3.7
    auto forward = config("a");
    forward.origins = {{"known.test", {"127.0.0.1", origin.port()}}};
    forward.forward.enabled = true;
    start(forward);
    auto connection = client();
    const auto answer = connection.ask("OPTIONS", "*");
    EXPECT_EQ(answer.status, 200u);
    EXPECT_NE(answer.field("Allow").find("CONNECT"), std::string::npos) << answer.head;
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(origin.requests(), 0u);
    connection.host = "known.test";
    EXPECT_EQ(connection.ask("OPTIONS", "*").status, 200u);
    EXPECT_EQ(origin.requests(), 1u);
}

}  // namespace odd_targets_test
}  // namespace proxy::test
