#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace collapsing_test {

using namespace std::chrono_literals;

/// Which requests are answered by one fetch, and which do not wait for it (RFC 9111 §4).
class Collapsing : public NodesTest {
protected:
    static constexpr std::size_t kClients = 8;

    void start_with_workers(unsigned workers) {
        auto settings = config("a");
        settings.workers = workers;
        start(settings);
    }
    void ask(std::vector<Client>& clients, std::size_t more, std::string_view fields) const {
        for (std::size_t i = 0; i < more; ++i) {
            clients.push_back(client());
            clients.back().begin("GET", "/one", fields);
        }
    }
    std::vector<Client> ask_together(std::size_t count, std::string_view fields = {}) const {
        std::vector<Client> clients;
        ask(clients, count, fields);
        return clients;
    }
    bool all_follow(std::uint64_t count) const {
        return eventually([&] { return status("a").work.collapsed == count; });
    }
    /// Good for anybody, and too old as soon as it comes.
    static std::string expired(std::string_view more = {}) {
        return fresh("Age: 2000\r\nETag: \"v\"\r\n" + std::string(more));
    }
};

constexpr auto* kAlice = "Cookie: who=alice\r\n";

TEST_F(Collapsing, FetchesEachVariantOfAColdPageOnce) {
    Gate first, rest;
    std::atomic<int> served = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        (served++ == 0 ? first : rest).wait();
        e.answer(fresh("Vary: Accept-Encoding\r\n"), e.field("Accept-Encoding"));
    });
    start_with_workers(2);
    std::vector<Client> clients;
    ask(clients, 1, "Accept-Encoding: gzip\r\n");
    ASSERT_TRUE(first.wait_for(1));
    ask(clients, 9, "Accept-Encoding: gzip\r\n");
    ask(clients, 40, "Accept-Encoding: br\r\n");
    ASSERT_TRUE(all_follow(49));
    first.open();
    ASSERT_TRUE(rest.wait_for(1));
    rest.open();
    for (std::size_t i = 0; i < clients.size(); ++i)
        EXPECT_EQ(clients[i].read().body, i < 10 ? "gzip" : "br");
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(status("a").work.collapsed, 49u) << "each is counted once";
}

TEST_F(Collapsing, AsksOnceMoreForAllWhereOneAnswerIsGarbage) {
    Gate first;
    std::atomic<int> served = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (++served > 1) return e.answer(fresh(), "good");
        first.wait();
        e.send("HTTP/1.1 2OO fine\r\n\r\n");
        e.keep = false;
    });
    start_with_workers(2);
    auto clients = ask_together(1);
    ASSERT_TRUE(first.wait_for(1));
    ask(clients, kClients - 1, {});
    ASSERT_TRUE(all_follow(kClients - 1));
    first.open();
    EXPECT_EQ(clients.front().read().status, 502);
    for (std::size_t i = 1; i < clients.size(); ++i) EXPECT_EQ(clients[i].read().status, 200);
    EXPECT_EQ(served, 2);
}

TEST_F(Collapsing, FetchesEachVariantOfAnExpiredPageOnce) {
    Gate gate;
    std::atomic<bool> hold = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (hold) gate.wait();
        e.answer(expired("Vary: Accept-Encoding\r\n"), e.field("Accept-Encoding"));
    });
    start_with_workers(2);
    get("a", "/one", "Accept-Encoding: gzip\r\n");
    hold = true;
    auto clients = ask_together(kClients, "Accept-Encoding: gzip\r\n");
    ask(clients, kClients, "Accept-Encoding: br\r\n");
    ASSERT_TRUE(gate.wait_for(2)) << "the two do not stand in a row";
    ASSERT_TRUE(all_follow(2 * (kClients - 1)));
    gate.open();
    for (std::size_t i = 0; i < clients.size(); ++i)
        EXPECT_EQ(clients[i].read().body, i < kClients ? "gzip" : "br");
    EXPECT_EQ(origin.requests(), 3u);
}

TEST_F(Collapsing, GoesOnForOthersWhenOneGetsAPageOfHisOwn) {
    Gate gate;
    std::atomic<bool> hold = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (!e.field("Cookie").empty())
            return e.answer("Cache-Control: private\r\n", e.field("Cookie"));
        if (hold) gate.wait();
        e.answer(expired(), "for all");
    });
    start_with_workers(2);
    EXPECT_EQ(get("a", "/one").body, "for all");
    EXPECT_EQ(get("a", "/one", kAlice).body, "who=alice");
    hold = true;
    auto clients = ask_together(40);
    ASSERT_TRUE(all_follow(39));
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "for all");
    EXPECT_EQ(origin.requests(), 3u);
}

TEST_F(Collapsing, KeepsClientsWithAndWithoutACookieApartWhereNothingIsKnown) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        if (!e.field("Cookie").empty()) gate.wait();
        e.answer(fresh(), "page of " + e.field("Cookie"));
    });
    start_with_workers(1);
    auto alice = client();
    alice.begin("GET", "/one", kAlice);
    ASSERT_TRUE(gate.wait_for(1));
    EXPECT_EQ(get("a", "/one").body, "page of ") << "before the other";
    gate.open();
    EXPECT_EQ(alice.read().body, "page of who=alice");
}

TEST_F(Collapsing, CollapsesThoseAgainWhoWaitedForAPageOfAnother) {
    Gate hers, theirs;
    std::atomic<bool> hold = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (!e.field("Cookie").empty()) {
            hers.wait();
            return e.answer("Cache-Control: private\r\n", "hers");
        }
        if (hold) theirs.wait();
        e.answer(hold ? fresh() : expired(), "for all");
    });
    start_with_workers(2);
    get("a", "/one");  // so far it is the same for all
    hold = true;
    auto alice = client();
    alice.begin("GET", "/one", kAlice);
    ASSERT_TRUE(hers.wait_for(1));
    auto clients = ask_together(kClients);
    ASSERT_TRUE(all_follow(kClients));
    hers.open();
    EXPECT_EQ(alice.read().body, "hers");
    ASSERT_TRUE(theirs.wait_for(1));
    theirs.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "for all");
    EXPECT_EQ(origin.requests(), 3u);
}

TEST_F(Collapsing, DoesNotWaitTwiceForAPageOfAnother) {
    Gate hers;
    std::atomic<bool> hold = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.field("Cookie").empty()) return e.answer(expired(), "for all");
        if (hold) hers.wait();
        e.answer("Cache-Control: private\r\n", "hers");
    });
    start_with_workers(1);
    get("a", "/one");
    get("a", "/one", kAlice);
    hold = true;
    auto alice = client();
    alice.begin("GET", "/one", kAlice);
    ASSERT_TRUE(hers.wait_for(1));
    EXPECT_EQ(get("a", "/one").body, "for all");
    hers.open();
    EXPECT_EQ(alice.read().body, "hers");
}

TEST_F(Collapsing, LeavesWhatIsStoredForOthersWhenOneGetsAPageOfHisOwn) {
    std::atomic<int> validated = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (!e.field("Cookie").empty()) return e.answer("Cache-Control: private\r\n", "hers");
        if (e.field("If-None-Match") == "\"v\"") {
            ++validated;
            return e.send("HTTP/1.1 304 Not Modified\r\n" + expired() + "\r\n");
        }
        e.answer(expired(), "for all");
    });
    start_with_workers(1);
    get("a", "/one");
    EXPECT_EQ(get("a", "/one", kAlice).body, "hers");
    EXPECT_EQ(get("a", "/one").body, "for all");
    EXPECT_EQ(validated, 1);
}

TEST_F(Collapsing, NobodyWaitsForWhatEachHasToValidate) {  // RFC 9111 §5.2.2.4
    for (const auto* said : {"no-cache", "max-age=0", "max-age=0, must-revalidate"}) {
        SCOPED_TRACE(said);
        Gate gate;
        std::atomic<bool> hold = false;
        std::atomic<int> served = 0;
        const auto control = "Cache-Control: " + std::string(said) + "\r\n";
        const auto scripted = origin.set([&](Exchange& e) {
            if (hold) gate.wait();
            const auto tag = std::to_string(served++);
            e.answer(control + "ETag: \"" + tag + "\"\r\n", tag);
        });
        start_with_workers(2);
        get("a", "/one");
        hold = true;
        auto clients = ask_together(kClients);
        EXPECT_TRUE(gate.wait_for(kClients)) << "all are at the origin at the same time";
        EXPECT_EQ(status("a").work.collapsed, 0u);
        gate.open();
        std::set<std::string> answers;
        for (auto& each : clients) answers.insert(each.read().body);
        EXPECT_EQ(answers.size(), kClients);
        kill("a");
    }
}

TEST_F(Collapsing, GivesNobodyTheUnvalidatedPageOfAnother) {
    for (const auto* said : {"", "Cache-Control: no-cache\r\n", "Cache-Control: max-age=0\r\n",
                             "Cache-Control: private, max-age=100\r\n",
                             "Cache-Control: max-age=100\r\nVary: Cookie\r\n",
                             "Cache-Control: max-age=100\r\nSet-Cookie: sid=1\r\n"}) {
        SCOPED_TRACE(said);
        Gate first, rest;
        std::atomic<int> served = 0;
        const auto scripted = origin.set([&](Exchange& e) {
            (served++ == 0 ? first : rest).wait();
            const auto who = e.field("Cookie");
            e.answer("ETag: \"" + who + "\"\r\n" + std::string(said), who);
        });
        start_with_workers(2);
        const auto before = origin.requests();
        std::vector<Client> clients;
        for (std::size_t i = 0; i < kClients; ++i)
            ask(clients, 1, "Cookie: " + std::to_string(i) + "\r\n");
        ASSERT_TRUE(all_follow(kClients - 1));
        first.open();
        rest.open();
        for (std::size_t i = 0; i < kClients; ++i)
            EXPECT_EQ(clients[i].read().body, std::to_string(i));
        EXPECT_EQ(origin.requests(), before + kClients);
        kill("a");
    }
}

TEST_F(Collapsing, GivesThoseWhoWaitedWhatIsStaleWhenItComes) {
    Gate gate;
    const auto scripted = origin.set([&](Exchange& e) {
        gate.wait();
        e.answer(expired(), "for all");
    });
    start_with_workers(2);
    auto clients = ask_together(kClients);
    ASSERT_TRUE(all_follow(kClients - 1));
    auto strict = client();
    strict.begin("GET", "/one", "Cache-Control: max-age=100\r\n");
    ASSERT_TRUE(all_follow(kClients));
    gate.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "for all");
    EXPECT_EQ(strict.read().body, "for all");
    EXPECT_EQ(origin.requests(), 2u) << "who limits the age has a request of his own";
    get("a", "/one");
    EXPECT_EQ(origin.requests(), 3u) << "it is for nobody who comes later";
}

TEST_F(Collapsing, GoesOnWhereEachResponseIsTooOldForTheStore) {
    Gate first, second;
    std::atomic<int> served = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        const auto round = served++;
        (round == 0 ? first : second).wait();
        e.answer("Cache-Control: max-age=1\r\nAge: 2\r\n", std::to_string(round));
    });
    start_with_workers(2);
    auto clients = ask_together(kClients);
    ASSERT_TRUE(all_follow(kClients - 1));
    first.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "0");
    clients = ask_together(kClients);
    ASSERT_TRUE(all_follow(2 * (kClients - 1))) << "it does not count as unshareable";
    second.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "1");
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(status("a").cache.objects, 0u);
}

TEST_F(Collapsing, FetchesAnewForThoseWhoComeWhileAStaleBodyComes) {
    Gate rest, again;
    std::atomic<int> served = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (served++ > 0) {
            again.wait();
            return e.answer(expired(), "new");
        }
        e.send("HTTP/1.1 200 OK\r\n" + expired("Content-Length: 8\r\n") + "\r\nhalf");
        rest.wait();
        e.send("half");
    });
    start_with_workers(2);
    auto leader = client();
    leader.begin("GET", "/one");
    ASSERT_TRUE(leader.read_at_least(4));
    auto clients = ask_together(kClients);
    ASSERT_TRUE(all_follow(kClients - 1));
    again.open();
    for (auto& each : clients) EXPECT_EQ(each.read().body, "new");
    rest.open();
    EXPECT_EQ(leader.read().body, "halfhalf");
    EXPECT_EQ(origin.requests(), 2u);
}

TEST_F(Collapsing, AsksASlowOriginOnceForEachSecondOfMaxAge) {
    const auto scripted = origin.set([](Exchange& e) {
        std::this_thread::sleep_for(500ms);
        e.answer("Cache-Control: max-age=1\r\n", "text");
    });
    start_with_workers(2);
    using Clock = std::chrono::steady_clock;
    const auto begun = Clock::now();
    std::atomic<int> answers = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 10; ++i)
        clients.emplace_back([&] {
            auto one = client();
            while (Clock::now() < begun + 5s) {
                EXPECT_EQ(one.get("/one").body, "text");
                ++answers;
                std::this_thread::sleep_for(20ms);
            }
        });
    for (auto& each : clients) each.join();
    const std::chrono::duration<double> took = Clock::now() - begun;
    // Under any load, a second at least passes from one question to the next.
    EXPECT_LE(static_cast<double>(origin.requests()), took.count() + 1) << answers << " answers";
}

}  // namespace collapsing_test
}  // namespace proxy::test
