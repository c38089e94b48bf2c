// The counts of nodes about each other: A.hits(B) <= B.given(A) <= A.hits(B) + A.failures(B).
#include <algorithm>
#include <map>
#include <random>
#include <thread>
#include <utility>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace peer_books_test {

using namespace std::chrono_literals;

class PeerBooks : public NodesTest {
protected:
    using Pair = std::pair<std::string, std::string>;
    struct Page {
        PeerCounters asker;
        std::uint64_t given = 0;
        bool operator==(const Page& other) const {
            return asker.asked == other.asker.asked && asker.hits == other.asker.hits &&
                   asker.failures == other.asker.failures && given == other.given;
        }
        bool has_question_under_way() const {
            const auto& c = asker;
            return c.asked !=
                   c.hits + c.false_hits + c.stale_hits + c.refused + c.too_old + c.failures;
        }
    };
    using Book = std::map<Pair, Page>;

    Book read() const {
        Book book;
        for (const auto& asker : names)
            for (const auto& giver : names)
                if (asker != giver)
                    book[{asker, giver}] = {seen(asker, giver), seen(giver, asker).served};
        return book;
    }
    /// The books when no question is under way, and no count moves.
    Book at_rest() const {
        Book book;
        EXPECT_TRUE(eventually([&] {
            const auto earlier = std::exchange(book, read());
            return earlier == book && std::ranges::none_of(book, [](const auto& entry) {
                       return entry.second.has_question_under_way();
                   });
        }));
        return book;
    }
    /// `before`: the books at an earlier rest of the same instances.
    static void expect_balanced(const Book& now, const Book& before = {}) {
        for (const auto& [pair, page] : now) {
            SCOPED_TRACE(pair.first + " asked " + pair.second);
            const auto at = before.find(pair);
            const auto then = at == before.end() ? Page() : at->second;
            const auto hits = page.asker.hits - then.asker.hits;
            const auto failures = page.asker.failures - then.asker.failures;
            EXPECT_LE(hits, page.given - then.given);
            EXPECT_LE(page.given - then.given, hits + failures);
        }
    }

    void start_nodes() {
        // The peer has so little time that the origin is often asked beside it, and often first.
        set_peer_budget(1ms);
        for (const auto& name : names) start(settings(name));
        ASSERT_TRUE(eventually([&] { return all_in_sync(); }));
    }
    Config settings(const std::string& name) const {
        auto made = config(name, static_cast<unsigned>(names.size()));
        made.workers = 2;
        return made;
    }
    bool all_in_sync() const {
        return std::ranges::all_of(names, [&](const auto& name) { return in_sync(name); });
    }
    /// Clients of all nodes, of which some leave in the middle of an answer.
    void load(unsigned seed, int requests) const {
        std::vector<std::thread> clients;
        for (unsigned i = 0; i < 6; ++i)
            clients.emplace_back([this, seed, requests, i] {
                std::mt19937 random(seed * 100 + i);
                for (int n = 0; n < requests; ++n) {
                    auto visitor = client(names[random() % names.size()]);
                    const auto target = "/" + std::to_string(random() % 60);
                    if (random() % 4 == 0) {
                        visitor.begin("GET", target);
                        if (random() % 2 == 0) visitor.read_at_least(1000);
                    } else {
                        EXPECT_EQ(visitor.get(target).status, 200u);
                    }
                }
            });
        for (auto& each : clients) each.join();
    }

    const std::vector<std::string> names{"a", "b", "c"};
    const std::string body = std::string(300'000, 'x');
    ScriptedOrigin::Scripted scripted{origin.set([this](Exchange& e) {
        std::this_thread::sleep_for(1ms);
        e.answer(fresh(), body);
    })};
};

TEST_F(PeerBooks, BalanceUnderLoadWithClientsThatLeaveAndAnswersThatAreOutrun) {
    start_nodes();
    load(1, 60);
    const auto book = at_rest();
    std::uint64_t hits = 0, failures = 0;
    for (const auto& [pair, page] : book) {
        hits += page.asker.hits;
        failures += page.asker.failures;
    }
    EXPECT_GT(hits, 0u);
    EXPECT_GT(failures, 0u) << "nothing was outrun";
    expect_balanced(book);
}

TEST_F(PeerBooks, BalanceAfterANodeWasReplaced) {
    start_nodes();
    load(2, 20);
    kill("c");
    start(settings("c"));
    ASSERT_TRUE(eventually([&] { return all_in_sync(); }));
    const auto before = at_rest();
    load(3, 40);
    expect_balanced(at_rest(), before);
}

}  // namespace peer_books_test
}  // namespace proxy::test
