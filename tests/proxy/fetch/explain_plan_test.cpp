#include "proxy/fetch/explain_plan.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace proxy {
namespace explain_plan_test {

using namespace std::chrono_literals;

const PeerRecord::Time kNow = PeerRecord::Time(1000h);

/// Four peers that can be asked, all in step.
class ExplainPlan : public ::testing::Test {
protected:
    ExplainPlan() {
        peers.resize(records.size());
        for (std::size_t i = 0; i < records.size(); ++i) set(i, true);
    }
    void set(std::size_t at, bool in_sync) {
        protocol::PeerView::Peer peer;
        peer.node = "p" + std::to_string(at);
        peer.http = {"127.0.0.1", 3128};
        peer.has_feed = true;
        peer.in_sync = in_sync;
        peers.set(at, std::move(peer));
    }
    void is_as_far_as(std::size_t at, std::chrono::nanoseconds time) {
        for (unsigned i = 0; i < RoundTrip::kWellKnownAfter; ++i)
            records[at].answered_after(time, kNow);
    }
    PeerSelection chosen(std::size_t peer) const {
        const PeerFacts known{peers, records, bounds, origin, kNow, {}, only_encrypted};
        const auto turns = whom_to_ask(promised, {}, invalidated, known);
        return why_chosen(peer, promised, turns, invalidated, known);
    }

    std::vector<PeerRecord> records{4};
    protocol::PeerView::Peers peers;
    PeerTimes bounds;
    RoundTrip origin;
    summary::PeerSet promised{0, 1, 2, 3};
    SinceInvalidation invalidated;
    bool only_encrypted = false;
};

TEST_F(ExplainPlan, APeerInTheClearIsNotAskedForWhatStaysEncrypted) {
    only_encrypted = true;
    auto secure = peers[1];
    secure.encrypted = true;
    peers.set(1, std::move(secure));
    EXPECT_EQ(chosen(0), PeerSelection::in_the_clear);
    EXPECT_EQ(chosen(1), PeerSelection::asked);
    only_encrypted = false;
    EXPECT_EQ(chosen(0), PeerSelection::asked);
}

TEST_F(ExplainPlan, NamesThoseThatAreAskedAndThoseThatAreTooMany) {
    for (std::size_t i = 0; i < 4; ++i) is_as_far_as(i, 1ms * (i + 1));
    EXPECT_EQ(chosen(0), PeerSelection::asked);
    EXPECT_EQ(chosen(1), PeerSelection::asked);
    EXPECT_EQ(chosen(2), PeerSelection::others_first);
    EXPECT_EQ(chosen(3), PeerSelection::others_first);
}

TEST_F(ExplainPlan, NamesWhatSpeaksAgainstEach) {
    for (unsigned i = 0; i < RoundTrip::kWellKnownAfter; ++i) origin.measured(2ms);
    set(0, false);
    promised = {0, 2, 3};
    is_as_far_as(2, 1s);
    for (unsigned i = 0; i < kBreakerFailures; ++i) {
        records[3].asked();
        records[3].ended(PeerVerdict::failure, kNow);
    }
    EXPECT_EQ(chosen(0), PeerSelection::not_in_step);
    EXPECT_EQ(chosen(1), PeerSelection::no_claim);
    EXPECT_EQ(chosen(2), PeerSelection::too_far);
    EXPECT_EQ(chosen(3), PeerSelection::left_alone);
}

TEST_F(ExplainPlan, SaysThatNobodyIsAskedAfterAnInvalidation) {
    invalidated = 1s;
    EXPECT_EQ(chosen(0), PeerSelection::just_invalidated);
    invalidated = 1h;
    EXPECT_EQ(chosen(0), PeerSelection::asked);
}

TEST_F(ExplainPlan, HasAWordForEach) {
    EXPECT_EQ(to_string(PeerSelection::asked), "asked");
    EXPECT_EQ(to_string(PeerSelection::just_invalidated), "just_invalidated");
}

}  // namespace explain_plan_test
}  // namespace proxy
