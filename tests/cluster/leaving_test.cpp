// A node leaves: its peers and the balancers of load know before it stops to answer.
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace leaving_test {

using namespace std::chrono_literals;

class Leaving : public NodesTest {
protected:
    Node& start_leaver(unsigned nodes, std::chrono::nanoseconds grace) {
        auto settings = config("a", nodes);
        settings.timeouts.drain = 10min;
        settings.timeouts.drain_grace = grace;
        return start(settings);
    }
    bool not_ready() {
        return eventually([&] { return admin("a", "/readyz").status == 503u; });
    }
};

TEST_F(Leaving, ItIsUnreadyAndAnswersLateClientsForAWhile) {
    auto& node = start_leaver(1, 5min);
    auto kept = client();
    ASSERT_EQ(kept.get("/one").field("Connection"), "");
    node.drain();
    ASSERT_TRUE(not_ready());
    EXPECT_EQ(admin("a", "/readyz").body, "draining\n");
    EXPECT_EQ(admin("a", "/healthz").status, 200u);
    auto late = client();
    for (auto* each : {&kept, &late}) {
        const auto answer = each->get("/one");
        EXPECT_EQ(answer.body, "body of /one");
        EXPECT_EQ(answer.field("Connection"), "close");
        EXPECT_TRUE(each->at_end());
    }
    node.stop();
    node.join();
}

TEST_F(Leaving, AClientThatStillTakesAResponseGetsItWholeWhateverItSends) {
    auto& node = start_leaver(1, 1ms);
    const std::string body(3 << 20, 'x');  // the kernels hold it between them
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), body); });
    ASSERT_EQ(client().get("/large").body.size(), body.size());
    auto slow = client();
    slow.begin("GET", "/large");
    ASSERT_TRUE(slow.read_at_least(1));
    node.drain();
    std::this_thread::sleep_for(600ms);  // the connection rests no more
    slow.socket.send("GET /late HTTP/1.1\r\nHost: www.example\r\n\r\n");
    std::this_thread::sleep_for(1100ms);  // longer than a connection lingers that holds nothing
    for (std::size_t taken = 1; taken < body.size(); taken += body.size() / 16) {
        ASSERT_TRUE(slow.read_at_least(taken)) << taken;
    }
    EXPECT_EQ(slow.read().body.size(), body.size());
    node.stop();
    node.join();
}

TEST_F(Leaving, AfterTheGraceItTakesNoMore) {
    auto& node = start_leaver(1, 1ms);
    auto idle = client();
    ASSERT_EQ(idle.get("/one").status, 200u);
    node.drain();
    EXPECT_TRUE(idle.at_end());
    node.join();
    EXPECT_THROW(client(), std::system_error);
}

TEST_F(Leaving, ItsPeersHaveReadTheGoodbyeBeforeItIsNotReady) {
    auto& node = start_leaver(3, 5min);
    start(config("b", 3));
    start(config("c", 3));
    for (const auto* each : {"a", "b", "c"})
        ASSERT_TRUE(eventually([&] { return in_sync(each); })) << each;
    store("a", "/one");
    node.drain();
    ASSERT_TRUE(not_ready());
    EXPECT_EQ(seen("b", "a").state, protocol::PeerState::withdrawn);
    EXPECT_EQ(seen("c", "a").state, protocol::PeerState::withdrawn);
    EXPECT_EQ(get("b", "/one").status, 200u);
    EXPECT_EQ(seen("b", "a").asked, 0u);
    node.stop();
    node.join();
}

/// Sends one request after the other, to the next node when one says that it leaves or takes no
/// connection.
class Caller {
public:
    Caller(std::vector<std::string> nodes, std::size_t first)
        : nodes_(std::move(nodes)), at_(first) {}

    void run(const std::atomic<bool>& enough) {
        for (unsigned i = 0; !enough; ++i) {
            const auto answer = ask("/" + std::to_string(i % 50));
            ++answered;
            if (answer.status != 200u || !answer.complete) ++lost;
        }
    }

    std::atomic<unsigned> answered{0}, lost{0};

private:
    Answer ask(const std::string& target) {
        for (std::size_t tries = 0; tries < 3 * nodes_.size(); ++tries) {
            const auto reused = client_.has_value();
            try {
                if (!client_) client_.emplace(nodes_[at_ % nodes_.size()], kProxyPort);
            } catch (const std::system_error&) {
                ++at_;  // it has left
                continue;
            }
            auto answer = client_->get(target);
            if (answer.status == 0 || answer.field("Connection") == "close") {
                client_.reset();
                ++at_;
            }
            // A connection that was idle may end at any time (RFC 9112 §9.3.1), a new one may not.
            if (answer.status != 0 || !reused) return answer;
        }
        return {};
    }

    std::vector<std::string> nodes_;
    std::size_t at_;
    std::optional<Client> client_;
};

TEST_F(Leaving, OfFiveNodesThreeUnderLoadLosesNoRequest) {
    const std::vector<std::string> names{"a", "b", "c", "d", "e"};
    std::vector<std::string> addresses;
    std::vector<Node*> nodes;
    for (const auto& name : names) {
        auto settings = config(name, 5);
        settings.timeouts.drain_grace = 100ms;
        settings.timeouts.drain = 10min;
        nodes.push_back(&start(settings));
        addresses.push_back(address(name));
    }
    for (const auto& name : names) ASSERT_TRUE(eventually([&] { return in_sync(name); })) << name;

    std::atomic<bool> enough{false};
    std::vector<std::unique_ptr<Caller>> callers;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < names.size(); ++i) {
        callers.push_back(std::make_unique<Caller>(addresses, i));
        threads.emplace_back([&caller = *callers.back(), &enough] { caller.run(enough); });
    }
    const auto more = [&] {
        std::vector<unsigned> before;
        for (auto& caller : callers) before.push_back(caller->answered);
        return eventually([&] {
            for (std::size_t i = 0; i < callers.size(); ++i)
                if (callers[i]->answered < before[i] + 50) return false;
            return true;
        });
    };
    EXPECT_TRUE(more());
    for (std::size_t i = 2; i < nodes.size(); ++i) {
        nodes[i]->drain();
        nodes[i]->join();
        EXPECT_TRUE(more());
    }
    enough = true;
    for (auto& thread : threads) thread.join();
    for (auto& caller : callers) EXPECT_EQ(caller->lost, 0u);
    // On a busy machine an answer may be late, but none is broken off.
    for (const auto* stays : {"a", "b"}) {
        for (const auto* left : {"c", "d", "e"}) {
            const auto error = seen(stays, left).last_http_error;
            EXPECT_TRUE(error.empty() || error == "head_timeout")
                << stays << " asked " << left << ": " << error;
        }
    }
}

}  // namespace leaving_test
}  // namespace proxy::test
