#include "proxy/upstream/miss_samples.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace proxy {
namespace miss_samples_test {

using namespace std::chrono_literals;

const PeerRecord::Time kNow = PeerRecord::Time(1000h);

/// So many peers that can be asked.
struct Known {
    explicit Known(std::size_t count) : records(count) {
        peers.resize(count);
        for (std::size_t i = 0; i < count; ++i) set(i, [](auto&) {});
    }
    template <class Change>
    void set(std::size_t at, const Change& change) {
        protocol::PeerView::Peer peer;
        peer.node = "p" + std::to_string(at);
        peer.http = {"127.0.0.1", 3128};
        peer.has_feed = true;
        peer.in_sync = true;
        change(peer);
        peers.set(at, std::move(peer));
    }
    /// All peers that get a request in many samples.
    std::set<std::size_t> asked(const summary::PeerSet& promised) const {
        MissSamples samples(7);
        std::set<std::size_t> all;
        for (int i = 0; i < 200; ++i)
            if (const auto peer = samples.whom(peers, records, promised, kNow)) all.insert(*peer);
        return all;
    }

    protocol::PeerView::Peers peers;
    std::vector<PeerRecord> records;
};

TEST(MissSamples, TakeOneMissInSoMany) {
    MissSamples samples(1);
    int taken = 0;
    for (int i = 0; i < 100'000; ++i) taken += samples.takes_next(100) ? 1 : 0;
    EXPECT_NEAR(taken, 1000, 150);
    for (int i = 0; i < 1000; ++i) {
        EXPECT_FALSE(samples.takes_next(0));
        EXPECT_TRUE(samples.takes_next(1));
    }
}

TEST(MissSamples, AskAnyPeerWhoseSummarySaysNo) {
    const Known known(4);
    EXPECT_EQ(known.asked({}), (std::set<std::size_t>{0, 1, 2, 3}));
    EXPECT_EQ(known.asked({1, 3}), (std::set<std::size_t>{0, 2}));
    EXPECT_TRUE(known.asked({0, 1, 2, 3}).empty());
}

TEST(MissSamples, AskNobodyWhoCannotOrMustNotBeAsked) {
    Known known(5);
    known.set(0, [](auto& peer) { peer.in_sync = false; });
    known.set(1, [](auto& peer) { peer.has_feed = false; });
    known.set(2, [](auto& peer) { peer.http.host.clear(); });
    for (unsigned i = 0; i < kBreakerFailures; ++i) {
        known.records[3].asked();
        known.records[3].ended(PeerVerdict::failure, kNow);
    }
    EXPECT_EQ(known.asked({}), (std::set<std::size_t>{4}));
    EXPECT_TRUE(Known(0).asked({}).empty());
}

TEST(MissSamples, TakeNoMoreThanSoManyAtATime) {
    MissSamples samples(7);
    for (unsigned i = 0; i < MissSamples::kMaxOpen; ++i) {
        EXPECT_TRUE(samples.takes_next(1));
        samples.begun();
    }
    EXPECT_FALSE(samples.takes_next(1));
    samples.ended();
    EXPECT_TRUE(samples.takes_next(1));
}

}  // namespace miss_samples_test
}  // namespace proxy
