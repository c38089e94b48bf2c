// Requests with a target or Host that says less than usual, and the requests to the origin then.
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace odd_targets_test {

class OddTargets : public NodesTest {};

TEST_F(OddTargets, OptionsOfAServerReachItAsAnAsterisk) {  // RFC 9112 §3.2.4
    auto forward = forward_config();
    start(forward);
    start(config("b"));
    const auto server = "http://" + origin_authority();
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

TEST_F(OddTargets, AHealthCheckWithoutHostIsForTheOriginOfAllHosts) {
    auto settings = config("a");
    settings.origins.insert(settings.origins.begin(), {"other.test", {"127.0.0.1", 1}});
    start(settings);
    auto old = client();
    old.socket.send("GET /health HTTP/1.0\r\n\r\n");
    EXPECT_EQ(old.read().body, "body of /health");
    ASSERT_EQ(origin.requests(), 1u);
    EXPECT_EQ(field_of(origin.heads()[0], "Host"), origin_authority());
    // HTTP/1.1 has to name one, RFC 9112 §3.2.
    auto current = client();
    current.socket.send("GET /health HTTP/1.1\r\n\r\n");
    EXPECT_EQ(current.read().status, 400u);
    // And where no origin takes all hosts there is nothing to go by.
    settings.origins.pop_back();
    start(settings);
    auto nowhere = client();
    nowhere.socket.send("GET /health HTTP/1.0\r\n\r\n");
    EXPECT_EQ(nowhere.read().status, 400u);
}

TEST_F(OddTargets, NoTrailerIsPromisedThatDoesNotCome) {  // RFC 9110 §6.6.2
    start(config("a"));
    const auto scripted = origin.set([](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nTrailer: Digest\r\n" + fresh() +
               "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nDigest: x\r\n\r\n");
    });
    auto connection = client();
    for (const auto* fields : {"", "Cache-Control: no-store\r\n"}) {
        const auto answer = connection.get("/x", fields);
        EXPECT_EQ(answer.body, "ok");
        EXPECT_EQ(answer.field("Trailer"), "") << answer.head;
    }
    connection.begin("POST", "/x", "Trailer: Digest\r\nTransfer-Encoding: chunked\r\n");
    connection.socket.send("2\r\nok\r\n0\r\nDigest: x\r\n\r\n");
    EXPECT_EQ(connection.read().status, 200u);
    for (const auto& head : origin.heads()) EXPECT_EQ(field_of(head, "Trailer"), "") << head;
}

}  // namespace odd_targets_test
}  // namespace proxy::test
