// Clients that leave while the origin is waited for: what is fetched for nobody ends, and its
// connection is there for others.

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace {

/// An origin that says nothing to /hung, half of an answer to /stuck, and answers all else.
class LeavingClients : public NodesTest {
protected:
    LeavingClients() {
        auto settings = config("a");
        settings.limits.upstream_connections = 1;
        start(settings);
    }
    ~LeavingClients() override { gate_.open(); }
    void serve(Exchange& e) {
        if (e.target == "/hung") gate_.wait();
        if (e.target == "/stuck") {
            e.send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 10\r\n\r\nhalf ");
            gate_.wait();
        }
        e.answer(fresh(), "answer");
    }
    /// Asks, and leaves once the origin has the request and so much of the body is here.
    void ask_and_leave(std::string_view method, std::string_view target, std::size_t body = 0) {
        const auto before = origin.requests();
        auto leaving = client();
        leaving.begin(method, target, {}, method == "POST" ? "x" : "");
        ASSERT_TRUE(eventually([&] { return origin.requests() == before + 1; }));
        if (body > 0) {
            ASSERT_TRUE(leaving.read_at_least(body));
        }
        EXPECT_EQ(get("a", "/other").status, 503u) << "the one connection is taken";
        leaving.socket.reset();
    }
    bool others_are_served() {
        return eventually([&] { return get("a", "/other").status == 200; });
    }

    Gate gate_;
};

TEST_F(LeavingClients, BeforeTheHeadCameGiveUpTheirFetch) {
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    ask_and_leave("GET", "/hung");
    EXPECT_TRUE(others_are_served());
    gate_.open();
}

TEST_F(LeavingClients, InTheMiddleOfABodyThatStopsGiveUpTheirFetch) {
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    ask_and_leave("GET", "/stuck", 5);
    EXPECT_TRUE(others_are_served());
    gate_.open();
}

TEST_F(LeavingClients, GiveUpWhatIsPassedOn) {
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    ask_and_leave("HEAD", "/hung");
    EXPECT_TRUE(others_are_served());
    gate_.open();
}

TEST_F(LeavingClients, InTheMiddleOfWhatIsPassedOnGiveItUp) {
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    ask_and_leave("POST", "/stuck", 5);
    EXPECT_TRUE(others_are_served());
    gate_.open();
}

TEST_F(LeavingClients, EndWhatTheirUnsafeRequestMayHaveChanged) {  // RFC 9111 §4.4
    {
        const auto scripted =
            origin.set([](Exchange& e) { e.answer(fresh(), "body of " + e.target); });
        get("a", "/hung");
        ASSERT_EQ(status("a").cache.objects, 1u);
    }
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    ask_and_leave("POST", "/hung");
    EXPECT_TRUE(eventually([&] { return status("a").cache.objects == 0; }));
    EXPECT_TRUE(others_are_served());
    gate_.open();
}

}  // namespace
}  // namespace proxy::test
