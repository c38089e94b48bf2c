#include "proxy/upstream/origin_health.hpp"

#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace hung_origin_test {

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

TEST_F(HungOrigin, AnswersWhatDoesNotHangWhileOtherResourcesDo) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target.starts_with("/slow")) return hang(gate, e);
        e.answer("Cache-Control: no-store\r\n", "quick");
    });
    for (int round = 0; round < 3; ++round) {
        std::vector<Client> slow;
        for (unsigned i = 0; i < kOriginTimeouts + 2; ++i) {
            slow.push_back(client());
            slow.back().begin("GET", "/slow" + std::to_string(i));
        }
        for (auto& one : slow) {  // they time out together
            const auto answer = one.read();
            EXPECT_EQ(answer.status, 504u);
            EXPECT_TRUE(contains(answer.cache_status(), "detail=head_timeout")) << answer.head;
        }
        EXPECT_EQ(work().origins_down, 1u);
        auto polling = client();  // for all that may become the one that tries
        polling.begin("GET", "/slow");
        EXPECT_EQ(get("a", "/fast").status, 200u);
        EXPECT_EQ(client().ask("POST", "/fast", {}, "x").status, 200u);
        EXPECT_EQ(work().origins_down, 0u) << "any answer shows that it is there";
    }
    EXPECT_EQ(work().origin_down_requests, 0u);
    gate.open();
}

TEST_F(HungOrigin, IsAskedForWhatMayNotBeServedStale) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) { hang(gate, e); });
    for (unsigned i = 0; i < 2 * kOriginTimeouts; ++i) {
        const auto answer = get("a", "/" + std::to_string(i));
        EXPECT_EQ(answer.status, 504u);
        EXPECT_FALSE(is_down(answer)) << answer.head;
    }
    EXPECT_EQ(work().origins_down, 1u);
    EXPECT_EQ(work().origin_requests, 2 * kOriginTimeouts);
    gate.open();
    EXPECT_EQ(get("a", "/again").status, 200u);
    EXPECT_EQ(work().origins_down, 0u);
}

TEST_F(HungOrigin, AStoredResponseIsGivenAtOnceWhileOneRequestTriesAgain) {
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
    // The request that tests the return of the origin gives the stored response as well.
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

TEST_F(HungOrigin, AClientThatTakesNothingStaleIsNotGivenItsOutage) {
    {
        const auto scripted = origin.set([](Exchange& e) {
            e.answer("Cache-Control: max-age=1\r\nAge: 2\r\nETag: \"v\"\r\n", "stored");
        });
        EXPECT_EQ(get("a", "/kept").body, "stored");
    }
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("X-Now").empty()) return hang(gate, e);
        e.answer("Cache-Control: no-store\r\n", "fresh");
    });
    for (unsigned i = 0; i < kOriginTimeouts; ++i) EXPECT_EQ(get("a", "/kept").body, "stored");
    EXPECT_TRUE(is_down(get("a", "/kept")));
    EXPECT_EQ(get("a", "/kept", "Cache-Control: min-fresh=1\r\nX-Now: 1\r\n").body, "fresh");
    gate.open();
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

/// What the status says about the origin.
class OriginFault : public NodesTest {
protected:
    nlohmann::json fault() const {
        const auto status = nlohmann::json::parse(admin("a", "/api/v1/status").body);
        const auto& answers = status["upstream"]["answers"];
        return answers.empty() ? nlohmann::json() : answers[0]["fault"];
    }
};

TEST_F(OriginFault, NamesAnOriginThatHangsBeforeItsRequestsTimeOut) {
    constants.origin_silence = 100ms;
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer("Cache-Control: no-store\r\n", "back");
    });
    start(config("a"));  // timeouts.origin_head is a minute
    std::vector<Client> waiting;
    for (unsigned i = 0; i < kOriginFaultAfter; ++i) {
        EXPECT_EQ(fault(), nullptr);
        waiting.push_back(client());
        waiting.back().begin(i == 0 ? "HEAD" : "GET", "/" + std::to_string(i));
    }
    ASSERT_TRUE(gate.wait_for(kOriginFaultAfter));
    EXPECT_TRUE(eventually([&] { return !fault().is_null(); }));
    const auto named = fault();
    EXPECT_EQ(named["state"], "unanswered");
    EXPECT_EQ(named["reason"], "head_timeout");
    EXPECT_EQ(named["requests"], kOriginFaultAfter);
    gate.open();
    for (unsigned i = 0; i < kOriginFaultAfter; ++i)
        EXPECT_EQ(waiting[i].read(i == 0).status, 200u);
    EXPECT_EQ(fault(), nullptr);
}

TEST_F(OriginFault, IsThereWhileAKilledOriginIsAwayAndGoneAfterItsReturn) {
    const auto scripted =
        origin.set([](Exchange& e) { e.answer("Cache-Control: no-store\r\n", "here"); });
    start(config("a"));
    EXPECT_EQ(get("a", "/").body, "here");
    EXPECT_EQ(fault(), nullptr);
    origin.die();
    for (unsigned i = 0; i < kOriginFaultAfter; ++i) EXPECT_EQ(get("a", "/").status, 502u);
    const auto named = fault();
    ASSERT_TRUE(named.is_object());
    EXPECT_EQ(named["state"], "unanswered");
    EXPECT_EQ(named["reason"], "connect_failed");
    EXPECT_EQ(named["errors_served"], kOriginFaultAfter);
    EXPECT_LT(named["seconds"], 10);
    origin.revive();
    EXPECT_EQ(get("a", "/").body, "here");
    EXPECT_EQ(fault(), nullptr);
}

/// A host that takes no connections: its queue is full, so the kernel drops attempts.
class UnreachableOrigin : public NodesTest {
protected:
    UnreachableOrigin() : host_(Socket::listen("127.0.0.1", 0)) {
        ::listen(host_.descriptor(), 0);
        first_ = Socket::connect("127.0.0.1", host_.port());
        auto settings = config("a");
        settings.origins.front().server = {"127.0.0.1", host_.port()};
        settings.timeouts.origin_connect = 100ms;
        start(settings);
    }
    WorkerCounters work() const { return status("a").work; }

    Socket host_, first_;
};

TEST_F(UnreachableOrigin, FailsAtOnceUntilItTakesConnectionsAgain) {
    for (unsigned i = 0; i < kOriginTimeouts; ++i) {
        const auto answer = get("a", "/" + std::to_string(i));
        EXPECT_EQ(answer.status, 504u);
        EXPECT_TRUE(contains(answer.cache_status(), "detail=connect_timeout")) << answer.head;
    }
    EXPECT_EQ(work().origins_down, 1u);
    const auto refused = get("a", "/next");
    EXPECT_EQ(refused.status, 504u);
    EXPECT_TRUE(contains(refused.cache_status(), "detail=origin_down")) << refused.head;
    EXPECT_EQ(client().ask("POST", "/next", {}, "x").status, 504u);
    EXPECT_EQ(work().origin_down_requests, 2u);
    EXPECT_EQ(work().origin_requests, kOriginTimeouts);
    host_.shut();
    host_.close();  // now it refuses, and so says that it is there
    EXPECT_TRUE(eventually([&] { return get("a", "/again").status == 502; }));
    EXPECT_EQ(work().origins_down, 0u);
}

}  // namespace hung_origin_test
}  // namespace proxy::test
