#include "proxy/fetch/peer_response_plan.hpp"

#include <gtest/gtest.h>

namespace proxy {

void PrintTo(const PeerResponsePlan& reply, std::ostream* out) {
    *out << "kind " << static_cast<int>(reply.kind) << ", refusal "
         << static_cast<int>(reply.refusal) << (reply.name_validators ? ", validators" : "");
}

namespace peer_response_plan_test {

using namespace std::chrono_literals;
using Kind = PeerResponsePlan::Kind;

constexpr PeerResponsePlan kStored{Kind::stored}, kHeadAlone{Kind::head_alone},
    kGrowing{Kind::growing};

PeerResponsePlan refused(Refusal why, bool name_validators = false) {
    return {Kind::refused, why, name_validators};
}

/// A response of version "1", fresh for a minute; `stored` or on its way from the origin.
class PeerResponsePlanTest : public ::testing::Test {
protected:
    PeerResponsePlanTest() {
        response->status = 200;
        response->head_fields = "ETag: \"1\"\r\n";
        response->freshness.lifetime = StoredSeconds(60);
        response->freshness.has_validator = true;
        state.phase = Fill::Phase::streaming;
        state.incoming.response = response;
        state.incoming.shared = true;
        state.incoming.length_known = true;
    }
    PeerResponsePlan to_stored() {
        found.stored = response.get();
        return reply();
    }
    PeerResponsePlan to_growing() {
        found.growing = &state;
        return reply();
    }
    PeerResponsePlan reply() const {
        return plan_peer_response({directives, options, may_travel, for_block, 10}, found);
    }
    void has_bytes(std::size_t bytes) {
        response->body->add_block(bytes, {});
        response->body->append(std::string(bytes, 'x'));
    }

    std::shared_ptr<StoredResponse> response = std::make_shared<StoredResponse>();
    Fill::State state;
    PeerLookup found;
    RequestDirectives directives;
    PeerRequestOptions options;
    bool for_block = false, may_travel = true;
};

TEST_F(PeerResponsePlanTest, IsNothingWhereTheContentMustNotTravel) {
    may_travel = false;
    EXPECT_EQ(to_stored(), refused(Refusal::absent));
}

TEST_F(PeerResponsePlanTest, IsWhatIsStoredAndFresh) {
    EXPECT_EQ(to_stored(), kStored);
    EXPECT_EQ(plan_peer_response({directives, options, true, false, 10}, {}),
              refused(Refusal::absent));
}

TEST_F(PeerResponsePlanTest, SaysThatThereAreVariantsForOthers) {  // RFC 9111 §4.1
    found.other_variants = true;
    EXPECT_EQ(reply(), refused(Refusal::variant));
}

TEST_F(PeerResponsePlanTest, NamesTheValidatorsOfWhatIsStale) {
    found.residence = 60s;
    EXPECT_EQ(to_stored(), refused(Refusal::stale, true));
    options.stale_too = true;  // its asker has validated it
    EXPECT_EQ(to_stored(), kStored);
    options.stand_in = true;
    EXPECT_EQ(to_stored(), kStored);
    response->freshness.never_stale = true;
    EXPECT_EQ(to_stored(), refused(Refusal::stale)) << "as this node knows, by whatever it learnt";
    options.stand_in = false;
    response->freshness.has_validator = false;
    EXPECT_EQ(to_stored(), refused(Refusal::stale));
}

TEST_F(PeerResponsePlanTest, GivesNothingThatMayBeForOneClientAlone) {
    make_personal(response->freshness);
    EXPECT_EQ(to_stored(), refused(Refusal::stale));
    options.stale_too = true;
    EXPECT_EQ(to_stored(), refused(Refusal::stale));
    for_block = true;
    EXPECT_EQ(to_stored(), refused(Refusal::absent));
}

TEST_F(PeerResponsePlanTest, CutsABlockOutOfTheWholeOfThatVersionHoweverStale) {
    for_block = true;
    found.residence = 1h;
    EXPECT_EQ(to_stored(), kStored);
    found.is_version = false;
    EXPECT_EQ(to_stored(), refused(Refusal::absent));
    found.is_version = true;
    response->blocks = Blocks{100, 10};
    EXPECT_EQ(to_stored(), refused(Refusal::absent)) << "then it has a key of its own";
}

TEST_F(PeerResponsePlanTest, IsTheHeadAloneOfWhatStandsInBlocks) {
    response->blocks = Blocks{100, 10};
    EXPECT_EQ(to_stored(), kHeadAlone);
}

TEST_F(PeerResponsePlanTest, IsTheHeadAloneToWhoWantsAPartOfMuch) {
    has_bytes(kWholeForAPartBlocks * 10 + kWholeForAPartBlocks);
    EXPECT_EQ(to_stored(), kStored);
    options.part = true;
    EXPECT_EQ(to_stored(), kHeadAlone);
    response->head_fields = "ETag: W/\"1\"\r\n";
    EXPECT_EQ(to_stored(), kStored) << "its parts could not be put together (RFC 9110 §14.2)";
}

TEST_F(PeerResponsePlanTest, IsTheWholeToWhoWantsAPartOfLittle) {
    has_bytes(kWholeForAPartBlocks * 10);
    options.part = true;
    EXPECT_EQ(to_stored(), kStored);
}

TEST_F(PeerResponsePlanTest, FollowsWhatTheOriginSends) {
    EXPECT_EQ(to_growing(), kGrowing);
    state.phase = Fill::Phase::complete;
    EXPECT_EQ(to_growing(), kGrowing);
}

TEST_F(PeerResponsePlanTest, DoesNotWaitNorTakeWhatIsNotItsToGive) {
    const auto busy = refused(Refusal::busy);
    state.phase = Fill::Phase::waiting;
    EXPECT_EQ(to_growing(), busy);
    state.phase = Fill::Phase::failed;
    EXPECT_EQ(to_growing(), busy);
    state.phase = Fill::Phase::streaming;
    state.incoming.shared = false;
    EXPECT_EQ(to_growing(), busy);
    state.incoming.shared = true;
    state.incoming.from = Fill::From::peer;
    EXPECT_EQ(to_growing(), busy);
    state.incoming.from = Fill::From::origin;
    state.incoming.validated = true;
    EXPECT_EQ(to_growing(), busy);
}

TEST_F(PeerResponsePlanTest, JudgesWhatIsOnItsWayAsIfItWereStored) {
    found.is_variant = false;
    EXPECT_EQ(to_growing(), refused(Refusal::variant));
    found.is_variant = true;
    found.residence = 60s;
    EXPECT_EQ(to_growing(), refused(Refusal::stale));
}

TEST_F(PeerResponsePlanTest, CutsNothingOutOfABodyOfUnknownLength) {
    for_block = true;
    EXPECT_EQ(to_growing(), kGrowing);
    found.is_version = false;
    EXPECT_EQ(to_growing(), refused(Refusal::absent));
    found.is_version = true;
    state.incoming.length_known = false;
    EXPECT_EQ(to_growing(), refused(Refusal::absent));
    found.is_block = true;
    EXPECT_EQ(to_growing(), refused(Refusal::busy));
}

TEST_F(PeerResponsePlanTest, GivesTheIndexOfABodyThatComesInBlocks) {
    response->blocks = Blocks{100, 10};
    EXPECT_EQ(to_growing(), kHeadAlone);
    for_block = true;
    EXPECT_EQ(to_growing(), refused(Refusal::absent)) << "blocks have keys of their own";
}

TEST_F(PeerResponsePlanTest, GivesOnWhatAPeerBeganOnceTheOriginFeedsIt) {
    state.incoming.from = Fill::From::peer;
    EXPECT_EQ(to_growing(), refused(Refusal::busy));
    state.incoming.goes_on = true;
    EXPECT_EQ(to_growing(), kGrowing);
}

TEST_F(PeerResponsePlanTest, HasNoBlockThatARunBringsLate) {
    for_block = true;
    found.comes_late = true;
    EXPECT_EQ(reply(), refused(Refusal::busy));
}

}  // namespace peer_response_plan_test
}  // namespace proxy
