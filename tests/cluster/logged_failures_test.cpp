// The messages for a client and for the log when something fails.
#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include "tests/cluster/fixture.hpp"
#include "tests/cluster/log_capture.hpp"

namespace proxy::test {
namespace logged_failures_test {

using namespace std::chrono_literals;
using testing::HasSubstr;

class LoggedFailures : protected LogCapture, public NodesTest {
protected:
    LoggedFailures() { spdlog::set_level(spdlog::level::warn); }  // which NodesTest turns off

    std::string place() const { return origin_authority(); }
};

TEST_F(LoggedFailures, NameTheMalformedPartOfAnAnswer) {
    start(config("a"));
    const auto scripted = origin.set([](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nX: a\r\n b\r\n\r\n1");
        e.keep = false;
    });
    for (const auto* cached : {"", "Cache-Control: no-store\r\n"}) {
        const auto answer = get("a", "/x", cached);
        EXPECT_EQ(answer.status, 502u);
        EXPECT_THAT(answer.body, HasSubstr("a field goes on over a second line"));
        EXPECT_THAT(answer.head, HasSubstr("detail=malformed"));
    }
    EXPECT_THAT(logged(place()),
                testing::ElementsAre(HasSubstr("a field goes on over a second line")));
}

TEST_F(LoggedFailures, NameTheMalformedPartOfARequest) {
    start(config("a"));
    const auto refused = [&](std::string_view fields) {
        const auto answer = get("a", "/x", fields);
        EXPECT_EQ(answer.status, 400u);
        return answer.body;
    };
    EXPECT_THAT(refused("Host: again\r\n"), HasSubstr("exactly one Host"));
    EXPECT_THAT(refused("Content-Length: x\r\n"), HasSubstr("Content-Length is no number"));
    EXPECT_THAT(refused("no colon\r\n"), HasSubstr("a field line has no colon"));
}

TEST_F(LoggedFailures, AreLoggedOnceForManyRequestsToAnOrigin) {
    start(config("a"));
    const auto where = place();
    origin.die();
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(get("a", "/" + std::to_string(i)).status, 502u);
        EXPECT_EQ(client("a").ask("POST", "/x", "Content-Length: 0\r\n").status, 502u);
    }
    EXPECT_THAT(logged(where), testing::ElementsAre(HasSubstr("connect_failed")));
}

TEST_F(LoggedFailures, BlameNoOriginForAnEndOfThisNode) {
    Gate never;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/begun") e.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
        never.wait();
        e.keep = false;
    });
    auto& node = start(config("a"));
    std::vector<Client> waiting;
    for (const auto* target : {"/head", "/begun"}) {
        waiting.push_back(client());
        waiting.back().begin("GET", target);
    }
    waiting.push_back(client());
    waiting.back().begin("GET", "/passed", "Range: bytes=-1\r\nIf-Match: \"v\"\r\n");
    waiting.push_back(client());
    waiting.back().begin("POST", "/posted", "Content-Length: 0\r\n");
    ASSERT_TRUE(never.wait_for(waiting.size()));
    node.stop();
    node.join();
    EXPECT_THAT(logged(place()), testing::IsEmpty());
    never.open();
}

TEST_F(LoggedFailures, NameAPeerThatFailsAgainAndAgain) {
    ScriptedOrigin broken([](Exchange& e) {
        e.send("220 smtp\r\n\r\n");
        e.keep = false;
    });
    encrypt = false;
    auto settings = config("b", 2);
    settings.cluster->peers.front().http = {"127.0.0.1", broken.port()};
    set_peer_budget(2s);
    start(config("a", 2));
    start(settings);
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    for (int i = 0; i < 10; ++i) get("a", "/" + std::to_string(i));
    ASSERT_TRUE(eventually([&] { return announced("a", 10); }));
    for (int i = 0; i < 10; ++i) EXPECT_EQ(get("b", "/" + std::to_string(i)).status, 200u);
    EXPECT_THAT(logged("peer a has failed 3 times in a row"),
                testing::ElementsAre(HasSubstr("this is not HTTP")));
}

}  // namespace logged_failures_test
}  // namespace proxy::test
