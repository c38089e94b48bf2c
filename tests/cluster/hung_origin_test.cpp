#include "proxy/forwarding/origin_health.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace {

using namespace std::chrono_literals;

/// An origin that takes connections and requests, and says nothing.
class HungOrigin : public NodesTest {
protected:
    HungOrigin() {
        auto settings = config("a");
        settings.timeouts.origin_head = 100ms;
        start(settings);
    }
    static void hang(Gate& gate, Exchange& e) {
        gate.wait();
        e.answer(fresh(), "back");
    }
    static bool is_down(const Answer& answer) {
        return contains(answer.cache_status(), "detail=origin_down");
    }
    WorkerCounters work() const { return status("a").work; }
};

TEST_F(HungOrigin, AfterAFewTimeoutsRequestsFailAtOnceUntilItAnswersAgain) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) { hang(gate, e); });
    for (unsigned i = 0; i < kOriginTimeouts; ++i) {
        const auto answer = get("a", "/" + std::to_string(i));
        EXPECT_EQ(answer.status, 504u);
        EXPECT_FALSE(is_down(answer));
    }
    EXPECT_EQ(work().origins_down, 1u);
    const auto refused = get("a", "/next");
    EXPECT_EQ(refused.status, 504u);
    EXPECT_TRUE(is_down(refused)) << refused.head;
    EXPECT_TRUE(is_down(client().ask("POST", "/next", {}, "x")));
    EXPECT_EQ(work().origin_down_requests, 2u);
    EXPECT_EQ(work().origin_requests, kOriginTimeouts);
    gate.open();
    EXPECT_TRUE(eventually([&] { return get("a", "/again").status == 200; }));
    EXPECT_EQ(work().origins_down, 0u);
}

TEST_F(HungOrigin, WhatIsStoredIsGivenAtOnceWhileOneRequestTriesAgain) {
    {
        const auto scripted = origin.set([](Exchange& e) {
            e.answer("Cache-Control: max-age=1\r\nAge: 2\r\nETag: \"v\"\r\n", "stored");
        });
        EXPECT_EQ(get("a", "/kept").body, "stored");
    }
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) { hang(gate, e); });
    for (unsigned i = 0; i < kOriginTimeouts; ++i) EXPECT_EQ(get("a", "/kept").body, "stored");
    auto answer = get("a", "/kept");
    EXPECT_EQ(answer.body, "stored");
    EXPECT_TRUE(is_down(answer)) << answer.head;
    // The request that finds out whether it is back gives what is stored as well.
    const auto asked = work().origin_requests;
    EXPECT_TRUE(eventually([&] {
        answer = get("a", "/kept");
        return work().origin_requests > asked;
    }));
    EXPECT_EQ(answer.body, "stored");
    EXPECT_TRUE(is_down(answer)) << answer.head;
    gate.open();
    EXPECT_TRUE(eventually([&] { return get("a", "/kept").body == "back"; }));
}

TEST_F(HungOrigin, OneSlowResourceTakesNothingFromTheOthers) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/slow") return hang(gate, e);
        e.answer("Cache-Control: no-store\r\n", "quick");
    });
    for (unsigned i = 0; i < 2 * kOriginTimeouts; ++i) {
        auto slow = client();
        slow.begin("GET", "/slow");
        EXPECT_TRUE(eventually([&] { return origin.requests() == 2 * i + 1; }));
        EXPECT_EQ(get("a", "/quick").body, "quick");
        EXPECT_EQ(slow.read().status, 504u);
    }
    EXPECT_EQ(work().origins_down, 0u);
    gate.open();
}

}  // namespace
}  // namespace proxy::test
