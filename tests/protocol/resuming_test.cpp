// Links that break and come back, between whole nodes.

#include <string>

#include "summary/sizing/kind.hpp"
#include "tests/protocol/cluster_fixture.hpp"
#include "tests/protocol/relay.hpp"

namespace protocol::test {
namespace resuming_test {

constexpr int kObjects = 5000;

/// a publishes a summary of this kind to b through a relay.
class Resuming : public ClusterTest, public ::testing::WithParamInterface<summary::Kind> {
protected:
    Resuming() {
        encrypt_ = false;  // for the relay
        auto dialler = config("a");
        dialler.summary.kind = GetParam();
        dialler.peers[0].link.host = address(200);
        a = &add(dialler);
        b = &add(config("b"));
        store(0, kObjects);
        EXPECT_TRUE(settled(kObjects - 1));
        before = a->status_of("b");
    }
    static std::string url(int i) { return "http://x/" + std::to_string(i); }
    void store(int first, int count) const {
        for (int i = first; i < first + count; ++i) a->store(url(i));
    }
    bool settled(int seen) {
        return run_until([&] { return all_in_sync() && b->sees("a", url(seen)); });
    }
    bool settled_again(int seen) {
        return run_until([&] { return a->status_of("b").connects > before.connects; }) &&
               settled(seen);
    }
    void expect_all_seen(int first, int count) const {
        for (int i = first; i < first + count; ++i) ASSERT_TRUE(b->sees("a", url(i))) << i;
        EXPECT_EQ(b->status_of("a").check_failures, 0U);
        EXPECT_EQ(b->status_of("a").resyncs, 0U);
    }

    Relay relay{helpers_, address(200), address_of("b")};
    TestNode* a = nullptr;
    TestNode* b = nullptr;
    ClusterStatus::Peer before;
};

TEST_P(Resuming, ALinkThatComesBackCostsWhatChanged) {
    relay.cut();
    store(kObjects, 20);
    ASSERT_TRUE(settled_again(kObjects + 19));
    const auto after = a->status_of("b");
    EXPECT_EQ(after.snapshots_sent, before.snapshots_sent);
    EXPECT_EQ(after.resumed, before.resumed + 1);
    EXPECT_LT(after.announcement_bytes_sent - before.announcement_bytes_sent, 1000U);
    EXPECT_EQ(b->status_of("a").generation, a->cluster->status().own.generation);
    expect_all_seen(0, kObjects + 20);
}

TEST_P(Resuming, AfterTooManyChangesTheSummaryComesWhole) {
    relay.cut();
    for (int i = 0; i < kObjects - 500; ++i) a->remove(url(i));
    store(kObjects, kObjects - 500);
    ASSERT_TRUE(settled_again(2 * kObjects - 501));
    EXPECT_GT(a->status_of("b").snapshots_sent, before.snapshots_sent);
    expect_all_seen(kObjects - 500, kObjects);
}

TEST_P(Resuming, ASummaryOfAnotherSizeComesWhole) {
    relay.cut();
    store(kObjects, 6 * kObjects);
    ASSERT_TRUE(settled_again(7 * kObjects - 1));
    EXPECT_GT(a->status_of("b").snapshots_sent, before.snapshots_sent);
    expect_all_seen(0, 7 * kObjects);
}

TEST_P(Resuming, TheSameInstanceInAnotherEpochSendsItsSummaryWhole) {
    a->reload();
    ASSERT_TRUE(run_until([&] { return a->status_of("b").snapshots_sent == 1; }));
    ASSERT_TRUE(settled(kObjects - 1));
    EXPECT_EQ(a->status_of("b").resumed, 0U);
    expect_all_seen(0, kObjects);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Resuming, ::testing::ValuesIn(summary::kKinds),
                         [](const auto& of) { return std::string(name(of.param)); });

}  // namespace resuming_test
}  // namespace protocol::test
