#include <set>
#include <thread>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace following_test {

/// Many clients and one fetch.
class Following : public NodesTest {
protected:
    static constexpr std::size_t kClients = 8;

    std::vector<Client> ask_together(std::string_view target,
                                     std::size_t clients = kClients) const {
        std::vector<Client> result;
        for (std::size_t i = 0; i < clients; ++i) {
            result.push_back(client());
            result.back().begin("GET", target);
        }
        return result;
    }
    Node& start_with_workers(unsigned workers) {
        auto settings = config("a");
        settings.workers = workers;
        return start(settings);
    }
};

TEST_F(Following, FetchesOnceForAllWhoMissTogetherOnAnyWorker) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(fresh(), "shared");
    });
    start_with_workers(2);
    auto clients = ask_together("/one", 32);
    ASSERT_TRUE(eventually([&] { return status("a").work.collapsed == 31; }));
    gate.open();
    std::size_t collapsed = 0;
    for (auto& each : clients) {
        const auto answer = each.read();
        EXPECT_EQ(answer.body, "shared");
        collapsed += answer.cache_status() == "a; fwd=uri-miss; collapsed";
    }
    EXPECT_EQ(collapsed, 31u);
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(count("a", Outcome::local_hit), 31u);
    EXPECT_EQ(count("a", Outcome::origin_fetch), 1u);
}

TEST_F(Following, StreamsToFollowersWhileTheBodyGrows) {
    Gate half;
    const std::string first(300'000, 'a'), second(300'000, 'b');
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 600000\r\n") + "\r\n" + first);
        half.wait();
        e.send(second);
    });
    start_with_workers(2);
    auto clients = ask_together("/one", 4);
    for (auto& each : clients)
        EXPECT_TRUE(each.read_at_least(first.size()));  // before the rest is there
    half.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, first + second);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Following, ContinuesWhenItsLeaderLeaves) {
    Gate half;
    const std::string first(100'000, 'a'), second(100'000, 'b');
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 200000\r\n") + "\r\n" + first);
        half.wait();
        e.send(second);
    });
    start_with_workers(1);
    auto leader = client();
    leader.begin("GET", "/one");
    ASSERT_TRUE(leader.read_at_least(1));
    auto follower = client();
    follower.begin("GET", "/one");
    ASSERT_TRUE(follower.read_at_least(1));
    leader.socket.reset();
    half.open();
    EXPECT_EQ(follower.read().body, first + second);
    EXPECT_EQ(get("a", "/one").body, first + second);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Following, FinishesWhatIsNearlyDoneWhenNobodyIsLeft) {
    Gate half;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 8\r\n") + "\r\nhalf");
        half.wait();
        e.send("half");
    });
    start_with_workers(1);
    auto leader = client();
    leader.begin("GET", "/one");
    ASSERT_TRUE(leader.read_at_least(1));
    leader.socket.reset();
    half.open();
    EXPECT_TRUE(eventually([&] { return status("a").cache.objects == 1; }));
    EXPECT_EQ(get("a", "/one").body, "halfhalf");
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Following, GivesUpALargeFetchThatNobodyWants) {
    Gate left;
    std::atomic<bool> cut = false;
    const auto scripted = origin.set([&](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 30000000\r\n") + "\r\n" +
               std::string(1'000, 'x'));
        left.wait();
        for (int i = 0; i < 30'000 && !cut; ++i) cut = !e.socket.send(std::string(1'000, 'x'));
        e.keep = false;
    });
    start_with_workers(1);
    auto leader = client();
    leader.begin("GET", "/one");
    ASSERT_TRUE(leader.read_at_least(1));
    leader.socket.reset();
    left.open();
    EXPECT_TRUE(eventually([&] { return cut.load(); }));
    EXPECT_EQ(status("a").cache.objects, 0u);
    EXPECT_TRUE(eventually([&] { return status("a").cache.memory_bytes == 0; }));
}

TEST_F(Following, LetsEachFetchForItselfWhenTheAnswerMayNotBeShared) {
    Gate first_in, rest;
    std::atomic<int> served = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        (served++ == 0 ? first_in : rest).wait();
        e.answer("Cache-Control: no-store\r\n", "private");
    });
    start_with_workers(2);
    auto clients = ask_together("/one");
    ASSERT_TRUE(eventually([&] { return status("a").work.collapsed == kClients - 1; }));
    first_in.open();
    // All the others are at the origin at the same time: nobody stands in a row behind somebody
    // else.
    EXPECT_TRUE(rest.wait_for(kClients - 1));
    rest.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "private");
    EXPECT_EQ(origin.requests(), kClients);
    EXPECT_EQ(count("a", Outcome::origin_fetch), kClients);
}

TEST_F(Following, ReusesNoAnswerThatMustBeValidated) {  // RFC 9111 §5.2.2.4
    Gate first_in;
    std::atomic<int> served = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto number = served++;
        if (number == 0) first_in.wait();
        e.answer("Cache-Control: no-cache\r\nETag: \"" + std::to_string(number) + "\"\r\n",
                 "answer " + std::to_string(number));
    });
    start_with_workers(1);
    auto clients = ask_together("/one");
    ASSERT_TRUE(eventually([&] { return status("a").work.collapsed == kClients - 1; }));
    first_in.open();
    std::set<std::string> answers;
    for (auto& each : clients) answers.insert(each.read().body);
    EXPECT_EQ(answers.size(), kClients) << "everybody has an answer of his own";
}

TEST_F(Following, LetsAClientThatWantsItNewFetchForItself) {  // RFC 9111 §5.2.1.4
    Gate first_in;
    std::atomic<int> served = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (served++ == 0) first_in.wait();
        e.answer(fresh(), "text");
    });
    start_with_workers(1);
    auto leader = client();
    leader.begin("GET", "/one");
    ASSERT_TRUE(first_in.wait_for(1));
    for (const auto* wish : {"no-cache", "max-age=0"})
        EXPECT_EQ(get("a", "/one", "Cache-Control: " + std::string(wish) + "\r\n").body, "text")
            << "it does not wait for what it could not use";
    first_in.open();
    EXPECT_EQ(leader.read().body, "text");
    EXPECT_EQ(origin.requests(), 3u);
    EXPECT_EQ(status("a").work.collapsed, 0u);
}

TEST_F(Following, WaitsForAReaderThatIsSlowButMoves) {
    constexpr std::size_t kBytes = 10'000'000;
    const auto scripted = origin.set([](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\n" + fresh() + "\r\n");
        const std::string piece(1'000'000, 'x');
        for (std::size_t sent = 0; sent < kBytes && e.socket.send(piece);) sent += piece.size();
        e.keep = false;
    });
    auto settings = config("a");
    settings.cache.memory = 4 << 20;  // half of it, then the body goes on in a window
    settings.timeouts.body_idle = std::chrono::milliseconds(1500);  // less than it takes
    start(settings);
    auto slow = client();
    slow.begin("GET", "/one", "Connection: close\r\n");
    std::size_t read = 0;
    for (std::string piece; slow.socket.receive(piece, 200'000); piece.clear()) {
        read += piece.size();
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
    }
    EXPECT_GE(read, kBytes);
    EXPECT_FALSE(slow.socket.was_reset());
}

TEST_F(Following, RemembersThatAnAnswerIsNotWorthWaitingFor) {
    Gate gate;
    std::atomic<bool> hold = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (hold) gate.wait();
        e.answer("Cache-Control: no-store\r\n", "private");
    });
    start_with_workers(1);
    get("a", "/one");
    hold = true;
    auto clients = ask_together("/one");
    EXPECT_TRUE(gate.wait_for(kClients));
    EXPECT_EQ(status("a").work.collapsed, 0u);
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "private");
}

TEST_F(Following, BoundsTheMemoryOfABodyThatIsNotStored) {
    constexpr std::size_t kBytes = 40'000'000;
    const auto scripted = origin.set([](Exchange& e) {
        e.send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: " +
               std::to_string(kBytes) + "\r\n\r\n");
        const std::string piece(1'000'000, 'x');
        for (std::size_t sent = 0; sent < kBytes; sent += piece.size())
            if (!e.socket.send(piece)) return;
    });
    const auto settings = config("a");
    start(settings);
    auto slow = client();
    slow.begin("GET", "/one");
    ASSERT_TRUE(slow.read_at_least(1));
    // The kernel's buffers for the two connections stand beside it.
    EXPECT_TRUE(eventually([&] { return status("a").window_bytes >= kBodyWindow; }));
    EXPECT_LE(status("a").window_bytes, 2 * kBodyWindow);
    const auto answer = slow.read();
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.body.size(), kBytes);
}

TEST_F(Following, TellsAllFollowersThatTheFetchFailed) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.keep = false;  // without a word
    });
    start_with_workers(1);
    auto clients = ask_together("/one");
    ASSERT_TRUE(eventually([&] { return status("a").work.collapsed == kClients - 1; }));
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().status, 502u);
    EXPECT_EQ(count("a", Outcome::error), kClients);
}

TEST_F(Following, SendsAFollowerOfAnotherVariantToTheOrigin) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Accept-Language") == "de") gate.wait();
        e.answer(fresh("Vary: Accept-Language\r\n"), e.field("Accept-Language"));
    });
    start_with_workers(1);
    auto german = client(), french = client();
    german.begin("GET", "/one", "Accept-Language: de\r\n");
    ASSERT_TRUE(gate.wait_for(1));
    french.begin("GET", "/one", "Accept-Language: fr\r\n");
    ASSERT_TRUE(eventually([&] { return status("a").work.collapsed == 1; }));
    gate.open();
    EXPECT_EQ(german.read().body, "de");
    EXPECT_EQ(french.read().body, "fr");
}

}  // namespace following_test
}  // namespace proxy::test
