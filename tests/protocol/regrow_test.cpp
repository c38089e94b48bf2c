// Peers with summaries that grow while they are announced, followed by a node's directory: a key
// that a peer has kept all the time is never missed, at no step of any of them.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "protocol/membership/neighbourhood.hpp"
#include "summary/coding/snapshot_reader.hpp"
#include "summary/own/own_summary.hpp"
#include "tests/summary/keys.hpp"

namespace protocol::test {
namespace regrow_test {

using summary::Kind;
using summary::test::asked;
using summary::test::key;
using summary::test::kNoLimit;
constexpr std::uint64_t kKept = 3'000;  // of each peer's keys

class Peer {
public:
    Peer(Kind kind, std::size_t index) : first_(index * 1'000'000), next_(first_) {
        summary::OwnSummaryConfig config;
        config.kind = kind;
        config.error = 0.001;
        config.expected_objects = kKept + 500;
        config.keys_at_once = 500;
        own_.emplace(config);
        store(kKept);
        send_snapshot();
    }
    std::uint64_t first() const { return first_; }
    std::uint64_t epoch() const { return own_->epoch(); }
    void store(std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) own_->stored(key(next_++));
    }
    void begin_regrow() { own_->begin_regrow(); }
    bool growing() const { return own_->growing(); }
    bool grow_some() { return own_->grow_some(); }
    bool fits() const { return own_->fit() == summary::Fit::fits; }

    /// Passes all pending changes to the replica.
    std::optional<summary::Change> announce() {
        const auto payload = own_->take_delta(kNoLimit);
        if (!payload) return std::nullopt;
        auto done = replica.apply_delta(own_->epoch(), own_->generation(), *payload);
        EXPECT_EQ(done.what, summary::ApplyResult::ok);
        return std::move(done.change);
    }
    void send_snapshot() {
        while (!own_->all_announced()) own_->take_delta(kNoLimit);
        std::vector<std::byte> payload;
        summary::OwnSummary::SnapshotWriter writer(*own_, payload);
        while (!writer.step(*own_)) continue;
        summary::SnapshotReader reader(own_->descriptor());
        ASSERT_TRUE(reader.take(payload));
        ASSERT_EQ(replica.apply_snapshot(own_->epoch(), own_->generation(), *reader.finish()),
                  summary::ApplyResult::ok);
    }
    summary::ApplyResult check() {
        return replica.check(own_->epoch(), own_->generation(), own_->check_hash());
    }

    summary::Replica replica;

private:
    std::uint64_t first_;
    std::uint64_t next_;
    std::optional<summary::OwnSummary> own_;
};

class Regrow : public ::testing::TestWithParam<Kind> {
protected:
    void add() {
        const auto index = peers.size();
        neighbours.add_peer(index, "n" + std::to_string(index));
        neighbours.place(index, {"127.0.0.1", 3128});
        peers.emplace_back(GetParam(), index);
        load(index);
    }
    void load(std::size_t index) {
        neighbours.load(index, peers[index].replica);
        neighbours.set_in_sync(index, true);
    }
    void announce(std::size_t index) {
        if (const auto change = peers[index].announce())
            neighbours.change(index, *change);
        else if (peers[index].replica.in_sync())
            send_snapshot(index);
    }
    void send_snapshot(std::size_t index) {
        peers[index].send_snapshot();
        load(index);
    }
    /// One step of the control thread, after which look-ups may come.
    void step() {
        neighbours.work();
        expect_nothing_missed();
    }
    void finish() {
        while (neighbours.busy()) step();
    }
    void expect_nothing_missed() {
        if (auto next = neighbours.take_view()) view = std::move(next);
        for (std::size_t i = 0; i < settled; ++i) {
            ASSERT_TRUE(view->peers[i].in_sync);
            for (auto number = peers[i].first() + step_ % 7; number < peers[i].first() + kKept;
                 number += 7) {
                ASSERT_TRUE(view->directory->candidates(asked(key(number)))
                                .contains(static_cast<unsigned>(i)))
                    << "peer " << i << ", key " << number;
            }
        }
        ++step_;
    }
    void settle() {
        finish();
        settled = peers.size();
        expect_nothing_missed();
    }

    Neighbourhood neighbours;
    std::deque<Peer> peers;
    std::size_t settled = 0;  // how many of them count
    std::shared_ptr<const PeerView> view;

private:
    std::uint64_t step_ = 0;
};

TEST_P(Regrow, AGrowingSummaryHidesNoKey) {
    for (int i = 0; i < 3; ++i) add();
    settle();
    auto& grows = peers[1];
    const auto epoch = grows.epoch();
    while (grows.fits()) {
        grows.store(20);
        announce(1);
    }
    expect_nothing_missed();
    grows.begin_regrow();
    while (grows.growing()) {
        grows.store(4);
        grows.grow_some();
        announce(0);
        expect_nothing_missed();
        if (grows.growing()) announce(1);
        expect_nothing_missed();
    }
    ASSERT_NE(grows.epoch(), epoch);
    send_snapshot(1);
    finish();
    for (std::size_t i = 0; i < peers.size(); ++i) {
        peers[i].store(30);
        announce(i);
        EXPECT_EQ(peers[i].check(), summary::ApplyResult::ok);
        expect_nothing_missed();
    }
}

TEST_P(Regrow, ReplacedDirectoriesHideNoKey) {
    for (int i = 0; i < 9; ++i) {
        add();
        for (std::size_t other = 0; other + 1 < peers.size(); ++other) {
            peers[other].store(5);
            announce(other);
            step();
        }
        settle();
    }
    for (auto& peer : peers) EXPECT_EQ(peer.check(), summary::ApplyResult::ok);
}

INSTANTIATE_TEST_SUITE_P(OfEachKind, Regrow, testing::ValuesIn(summary::kKinds),
                         [](const auto& of) { return std::string(name(of.param)); });

TEST(Settling, QuotientFiltersMoveIntoTheDirectoryAndFollowItsSuccessors) {
    Neighbourhood neighbours;
    std::deque<Peer> peers;
    std::shared_ptr<const PeerView> view;
    for (std::size_t i = 0; i < 5; ++i) {
        neighbours.add_peer(i, "n" + std::to_string(i));
        neighbours.place(i, {"127.0.0.1", 3128});
        peers.emplace_back(Kind::quotient, i);
        neighbours.load(i, peers[i].replica);
        while (neighbours.busy()) neighbours.work();
        if (auto next = neighbours.take_view()) view = std::move(next);
        for (auto& peer : peers) ASSERT_EQ(peer.replica.keeper(), view->directory.get());
        peers[0].store(10);
        neighbours.change(0, *peers[0].announce());
        ASSERT_EQ(peers[0].check(), summary::ApplyResult::ok);
    }
    // A directory that is built while a feed is paused takes its filter along, and hides it.
    ASSERT_TRUE(neighbours.pause_feed(2));
    EXPECT_FALSE(view->directory->is_active(2));
    neighbours.add_peer(5, "n5");
    neighbours.place(5, {"127.0.0.1", 3128});
    peers.emplace_back(Kind::quotient, 5);
    neighbours.load(5, peers[5].replica);
    while (neighbours.busy()) neighbours.work();
    if (auto next = neighbours.take_view()) view = std::move(next);
    EXPECT_EQ(peers[2].replica.keeper(), view->directory.get());
    EXPECT_FALSE(view->directory->is_active(2));
    peers[2].store(11);
    neighbours.change(2, *peers[2].announce());
    EXPECT_EQ(peers[2].check(), summary::ApplyResult::ok);
    neighbours.resume_feed(2);
    EXPECT_TRUE(view->directory->is_active(2));

    neighbours.end_feed(3);
    EXPECT_EQ(peers[3].replica.keeper(), nullptr);
    EXPECT_FALSE(peers[3].replica.in_sync());
}

}  // namespace regrow_test
}  // namespace protocol::test
