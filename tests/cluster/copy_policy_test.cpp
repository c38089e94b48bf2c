#include "base/memory/memory.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace copy_policy_test {

/// Nodes a, b and c; a has stored the object that the others request.
class CopyPolicies : public NodesTest {
protected:
    void start_three(CopyPolicy policy) {
        for (const auto* name : kNodes) {
            auto settings = config(name, 3);
            settings.cluster->copy = policy;
            start(settings);
        }
        ASSERT_TRUE(eventually([&] {
            return std::all_of(std::begin(kNodes), std::end(kNodes),
                               [&](const auto* node) { return in_sync(node); });
        }));
    }

    std::uint64_t stored(const std::string& node) const { return status(node).cache.objects; }
    bool is_full(const std::string& node, std::uint64_t memory) const {
        return !base::has_room(status(node).cache.memory_bytes, memory);
    }
    /// Whether its summary says that it has something; others hear so within a moment.
    bool is_told_of(const std::string& node) const {
        return status(node).summary.objects > 0 && announced(node, 1);
    }

    /// The conditions between nodes at rest, and that all was counted as given from a peer.
    void expect_balanced() const {
        for (const std::string asker : kNodes) {
            std::uint64_t hits = 0;
            for (const std::string giver : kNodes) {
                if (asker == giver) continue;
                const auto asked = seen(asker, giver);
                const auto given = seen(giver, asker).served;
                EXPECT_EQ(asked.hits, given) << asker << " asked " << giver;
                EXPECT_EQ(asked.failures, 0u) << asker << " asked " << giver;
                hits += asked.hits;
            }
            EXPECT_EQ(hits, count(asker, Outcome::peer_hit)) << asker;
        }
    }

    static constexpr const char* kNodes[] = {"a", "b", "c"};
};

TEST_F(CopyPolicies, AlwaysStoresAndAnnouncesAtTheFirstUse) {
    start_three(CopyPolicy::always);
    store("a", "/one");
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(stored("b"), 1u);
    EXPECT_TRUE(eventually([&] { return is_told_of("b"); }));
    get("b", "/one");
    EXPECT_EQ(count("b", Outcome::local_hit), 1u);
    EXPECT_EQ(seen("b", "a").hits, 1u);
    EXPECT_EQ(stored("c"), 0u);
    EXPECT_EQ(origin.requests(), 1u);
    expect_balanced();
}

TEST_F(CopyPolicies, SecondUseStoresAndAnnouncesWhenThePeerIsAskedAgain) {
    start_three(CopyPolicy::second_use);
    store("a", "/one");
    for (const auto* node : {"b", "c"}) {
        const auto answer = get(node, "/one");
        EXPECT_EQ(answer.body, "body of /one");
        EXPECT_FALSE(contains(answer.cache_status(), "; stored")) << answer.cache_status();
        EXPECT_EQ(stored(node), 0u) << node;
        EXPECT_EQ(status(node).summary.objects, 0u) << node;
    }
    EXPECT_TRUE(contains(get("b", "/one").cache_status(), "; stored"));
    EXPECT_EQ(stored("b"), 1u);
    EXPECT_EQ(stored("c"), 0u) << "used there once";
    EXPECT_TRUE(eventually([&] { return is_told_of("b"); }));
    get("b", "/one");
    EXPECT_EQ(count("b", Outcome::local_hit), 1u);
    EXPECT_EQ(count("b", Outcome::peer_hit), 2u);
    EXPECT_EQ(origin.requests(), 1u);
    expect_balanced();
}

TEST_F(CopyPolicies, WhileRoomStoresTheFirstUseUntilTheMemoryIsFull) {
    constexpr std::uint64_t kMemory = 4 << 20;
    for (const auto* name : kNodes) {
        auto settings = config(name, 3);
        settings.cache.memory = kMemory;
        ASSERT_EQ(settings.cluster->copy, CopyPolicy::while_room) << "the default";
        start(settings);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b") && in_sync("c"); }));
    store("a", "/one");
    store("a", "/two");
    EXPECT_TRUE(contains(get("b", "/one").cache_status(), "; stored")) << "there is room";
    const std::string large(256 << 10, 'x');
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), large); });
    for (int i = 0; !is_full("b", kMemory); ++i) {
        ASSERT_LT(i, 32);
        get("b", "/fill/" + std::to_string(i));
    }
    EXPECT_FALSE(contains(get("b", "/two").cache_status(), "; stored"));
    EXPECT_TRUE(contains(get("b", "/two").cache_status(), "; stored")) << "asked for again";
    EXPECT_EQ(seen("b", "a").hits, 3u);
    expect_balanced();
}

TEST_F(CopyPolicies, NeverLeavesOneCopyHoweverOftenItIsUsed) {
    start_three(CopyPolicy::never);
    store("a", "/one");
    for (const auto* node : {"b", "c"}) {
        for (int i = 0; i < 3; ++i) EXPECT_EQ(get(node, "/one").body, "body of /one");
        EXPECT_EQ(stored(node), 0u) << node;
        EXPECT_EQ(status(node).summary.objects, 0u) << node;
        EXPECT_EQ(count(node, Outcome::peer_hit), 3u) << node;
    }
    EXPECT_EQ(stored("a"), 1u);
    EXPECT_EQ(origin.requests(), 1u);
    expect_balanced();
}

TEST_F(CopyPolicies, RenewWhatIsStoredAlreadyByAPeersCopy) {
    start_three(CopyPolicy::never);
    store("a", "/one");
    // The own copy of b is stale at once; then a's copy takes its place.
    auto scripted = origin.set(
        [](Exchange& e) { e.answer("Cache-Control: max-age=0\r\nETag: \"old\"\r\n", "old"); });
    const auto from_b = client("b").ask("GET", "/one", "Cache-Control: no-cache\r\n");
    EXPECT_EQ(from_b.body, "old");
    ASSERT_EQ(stored("b"), 1u);
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(get("b", "/one").body, "body of /one");
    EXPECT_EQ(count("b", Outcome::peer_hit), 1u);
    EXPECT_EQ(count("b", Outcome::local_hit), 1u);
    EXPECT_EQ(stored("b"), 1u);
    expect_balanced();
}

TEST_F(CopyPolicies, CountWhoWaitsForTheSameAnswerAsASecondUse) {
    start_three(CopyPolicy::second_use);
    store("a", "/one");
    constexpr int kAtOnce = 8;
    std::vector<Client> clients;
    for (int i = 0; i < kAtOnce; ++i) clients.push_back(client("b"));
    for (auto& each : clients) each.begin("GET", "/one");
    for (auto& each : clients) EXPECT_EQ(each.read().body, "body of /one");
    EXPECT_EQ(stored("b"), 1u);
    EXPECT_LE(seen("b", "a").hits, 2u) << "the first may come before the others are here";
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(CopyPolicies, StoreTheSecondUseWhileTheFirstIsStillPassedOn) {
    for (const auto* name : kNodes) {
        auto settings = config(name, 3);
        settings.cache.memory = 256 << 20;
        settings.cluster->copy = CopyPolicy::second_use;
        start(settings);
    }
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b") && in_sync("c"); }));
    const std::string large(32 << 20, 'x');
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), large); });
    store("a", "/large");
    auto slow = client("b");
    slow.begin("GET", "/large");
    ASSERT_TRUE(slow.read_at_least(1));
    EXPECT_EQ(get("b", "/large").body.size(), large.size());
    EXPECT_EQ(stored("b"), 1u);
    EXPECT_EQ(get("b", "/large").body.size(), large.size());
    EXPECT_EQ(count("b", Outcome::local_hit), 1u);
    EXPECT_EQ(slow.read().body.size(), large.size());
    EXPECT_EQ(seen("b", "a").hits, 2u);
    EXPECT_EQ(origin.requests(), 1u);
    expect_balanced();
}

}  // namespace copy_policy_test
}  // namespace proxy::test
