#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace sharing_counts_test {

/// The counts of nodes about each other's summaries.
class SharingCounts : public NodesTest {
protected:
    void start_pair(unsigned misses_per_sample, std::chrono::nanoseconds announce_delay) {
        constants.peers.misses_per_sample = misses_per_sample;
        for (const auto* name : {"a", "b"}) {
            auto settings = config(name, 2);
            settings.summary.announce.changed = 1;
            settings.summary.announce.delay = announce_delay;
            start(settings);
        }
        ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    }
};

TEST_F(SharingCounts, FindWhatASummaryHidesBySampling) {
    start_pair(1, std::chrono::minutes(1));
    get("b", "/kept");
    ASSERT_TRUE(eventually([&] { return announced("b", 1); }));  // the first one comes at once
    for (int i = 0; i < 3; ++i) get("b", "/hidden" + std::to_string(i));
    for (int i = 0; i < 3; ++i) {
        const auto answer = get("a", "/hidden" + std::to_string(i));
        EXPECT_EQ(answer.status, 200u);
    }
    for (int i = 0; i < 2; ++i) get("a", "/nowhere" + std::to_string(i));
    EXPECT_TRUE(eventually([&] { return seen("a", "b").sampled == 5; }));
    const auto peer = seen("a", "b");
    EXPECT_EQ(peer.false_misses, 3u);
    EXPECT_EQ(peer.asked, 0u) << "samples are in no books";
    EXPECT_EQ(seen("b", "a").served, 0u);
    EXPECT_EQ(count("a", Outcome::origin_fetch), 5u);
    EXPECT_EQ(status("a").work.summary_lookups, 5u);
}

TEST_F(SharingCounts, SampleNothingWhenToldSo) {
    start_pair(0, std::chrono::minutes(1));
    get("b", "/hidden");
    get("a", "/hidden");
    get("a", "/other");
    EXPECT_EQ(seen("a", "b").sampled, 0u);
}

TEST_F(SharingCounts, ComparePeersWithTheTimeThatTheOriginTakes) {
    start_cluster(2);
    store("a", "/one");
    store("a", "/two");
    get("b", "/one");
    EXPECT_EQ(seen("b", "a").saved_microseconds + seen("b", "a").lost_microseconds, 0u)
        << "it is not known yet";
    get("b", "/other");
    get("b", "/two");
    const auto peer = seen("b", "a");
    ASSERT_EQ(peer.hits, 2u);
    const auto usual = status("b").cluster.origins.at(0).answer_seconds * 1e6;
    EXPECT_GT(peer.saved_microseconds + peer.lost_microseconds, 0u);
    EXPECT_LE(static_cast<double>(peer.saved_microseconds), usual);
    EXPECT_GT(peer.bits, 0u);
    EXPECT_GT(peer.announcement_bytes_received, 0u);
}

}  // namespace sharing_counts_test
}  // namespace proxy::test
