#include "proxy/fetch/origin_plan.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {

void PrintTo(const OriginMeaning& meaning, std::ostream* out) {
    *out << "step " << static_cast<int>(meaning.step) << ", error "
         << static_cast<int>(meaning.error) << (meaning.unshareable ? ", unshareable" : "");
}

namespace origin_plan_test {

using Text = test::Head;
using Step = OriginStep;

constexpr std::uint64_t kInBlocksAbove = 1000;

OriginMeaning fails(FetchError error, bool unshareable = false) {
    return {Step::fail, error, unshareable};
}

/// A request and its result.
class OriginPlanTest : public ::testing::Test {
protected:
    OriginMeaning after(unsigned status, const char* fields = "",
                        std::optional<std::uint64_t> length = std::nullopt) const {
        const Text text(fields);
        const Fields lines = text;
        Head head;
        head.status = status;
        head.fields.assign(lines.begin(), lines.end());
        return meaning_of(asked, sent(), {FetchError::none, &head, length}, stand_in,
                          kInBlocksAbove);
    }
    OriginMeaning after(FetchError error) const {
        return meaning_of(asked, sent(), {error, nullptr, {}}, stand_in, kInBlocksAbove);
    }
    Validators sent() const {
        const auto validates = asked == OriginRequestKind::validate_stored ||
                               asked == OriginRequestKind::validate_copy;
        return validates ? Validators{"\"1\"", {}, {}} : Validators{};
    }

    OriginRequestKind asked = OriginRequestKind::as_client;
    bool stand_in = false;
};

TEST(OriginRequestPlan, IsWhatTheFetchIsFor) {
    FetchFacts fetch;
    EXPECT_EQ(what_to_ask(fetch), OriginRequestKind::as_client);
    fetch.part = true;
    EXPECT_EQ(what_to_ask(fetch), OriginRequestKind::first_block);
    fetch.peer_copy = true;
    EXPECT_EQ(what_to_ask(fetch), OriginRequestKind::validate_copy);
    fetch.stored = true;
    EXPECT_EQ(what_to_ask(fetch), OriginRequestKind::validate_stored);
    fetch.only_whole = true;
    EXPECT_EQ(what_to_ask(fetch), OriginRequestKind::as_client);
    fetch.block = true;
    EXPECT_EQ(what_to_ask(fetch), OriginRequestKind::block);
}

TEST(OriginRequestPlan, IsNoneWithoutAnOriginOrForTheEndOfAnUnknownBody) {
    FetchFacts fetch;
    fetch.has_site = false;
    EXPECT_EQ(what_to_ask(fetch), OriginRequestKind::impossible);
    EXPECT_EQ(why_not_ask(fetch), FetchError::not_allowed);
    fetch.has_site = true;
    fetch.part = fetch.suffix = true;
    EXPECT_EQ(what_to_ask(fetch), OriginRequestKind::impossible);
    EXPECT_EQ(why_not_ask(fetch), FetchError::not_in_parts);
}

TEST_F(OriginPlanTest, PassesOnWhatAnswersTheClient) {
    for (const auto status : {200u, 204u, 301u, 404u, 503u})
        EXPECT_EQ(after(status).step, Step::pass) << status;
    EXPECT_EQ(after(FetchError::head_timeout), fails(FetchError::head_timeout));
    EXPECT_EQ(after(FetchError::malformed), fails(FetchError::malformed));
}

TEST_F(OriginPlanTest, RenewsWhatIsStoredByA304) {  // RFC 9111 §4.3.3
    asked = OriginRequestKind::validate_stored;
    EXPECT_EQ(after(304).step, Step::renew_stored);
    EXPECT_EQ(after(304, "ETag: \"1\"").step, Step::renew_stored);
    EXPECT_EQ(after(200).step, Step::pass);
    EXPECT_EQ(after(404).step, Step::pass);
}

TEST_F(OriginPlanTest, TakesAPeersCopyByA304) {
    asked = OriginRequestKind::validate_copy;
    EXPECT_EQ(after(304).step, Step::take_copy);
    EXPECT_EQ(after(200).step, Step::pass);
}

TEST_F(OriginPlanTest, AsksOnceMoreWhenAnAnswerToItsOwnValidationMakesNoSense) {
    for (const auto kind : {OriginRequestKind::validate_stored, OriginRequestKind::validate_copy}) {
        asked = kind;
        EXPECT_EQ(after(304, "ETag: \"another\"").step, Step::ask_whole);  // RFC 9111 §4.3.4
        EXPECT_EQ(after(412).step, Step::ask_whole);
        EXPECT_EQ(after(206).step, Step::ask_whole);
        EXPECT_EQ(after(416).step, Step::ask_whole);
        EXPECT_EQ(after(FetchError::malformed).step, Step::ask_whole);
        EXPECT_EQ(after(FetchError::reset), fails(FetchError::reset)) << "no answer is no nonsense";
    }
}

TEST_F(OriginPlanTest, TakesA304ThatNobodyAskedForAsMalformed) {  // RFC 9110 §15.4.5
    EXPECT_EQ(after(304), fails(FetchError::malformed));
}

TEST_F(OriginPlanTest, LetsTheStoredStandInForAnErrorOfTheOrigin) {  // RFC 5861 §4
    asked = OriginRequestKind::validate_stored;
    EXPECT_EQ(after(503).step, Step::pass);
    stand_in = true;
    for (const auto status : {500u, 502u, 503u, 504u})
        EXPECT_EQ(after(status), fails(FetchError::origin_error)) << status;
    EXPECT_EQ(after(501).step, Step::pass);
    EXPECT_EQ(after(404).step, Step::pass);
}

TEST_F(OriginPlanTest, TakesABlockWhateverItsStatus) {
    asked = OriginRequestKind::block;
    for (const auto status : {206u, 200u, 416u, 503u})
        EXPECT_EQ(after(status).step, Step::take_block) << status;
    EXPECT_EQ(after(FetchError::reset), fails(FetchError::reset));
}

TEST_F(OriginPlanTest, BeginsInBlocksWithTheFirstOfThem) {
    asked = OriginRequestKind::first_block;
    EXPECT_EQ(after(206).step, Step::begin_in_blocks);
    EXPECT_EQ(after(200).step, Step::pass) << "the whole will do as well";
}

TEST_F(OriginPlanTest, LeavesTheClientsRangeToTheOriginWhereItsOwnWasRefused) {
    asked = OriginRequestKind::first_block;
    for (const auto status : {304u, 412u, 416u})
        EXPECT_EQ(after(status), fails(FetchError::not_in_parts, true)) << status;
}

TEST_F(OriginPlanTest, OffersInBlocksWhatIsLargeAndCanBeHadInParts) {
    const auto* ranges = "Accept-Ranges: bytes";
    EXPECT_EQ(after(200, ranges, kInBlocksAbove + 1).step, Step::offer_in_blocks);
    EXPECT_EQ(after(200, ranges, kInBlocksAbove).step, Step::pass);
    EXPECT_EQ(after(200, ranges).step, Step::pass) << "of unknown length";
    EXPECT_EQ(after(200, "Accept-Ranges: none", kInBlocksAbove + 1).step, Step::pass);
    EXPECT_EQ(after(203, ranges, kInBlocksAbove + 1).step, Step::pass);
}

/// The fate after a validation.
StoredResponseFate fate(StorageVerdict verdict, unsigned status, bool identifies_user = false) {
    return fate_of_stored({verdict, status, true, true, identifies_user});
}

TEST(WhatIsStored, EndsWithAValidationWhoseAnswerMayNotBeStored) {  // RFC 9111 §4.3.3
    EXPECT_EQ(fate(StorageVerdict::no_store, 200), StoredResponseFate::ends);
    EXPECT_EQ(fate(StorageVerdict::no_store, 304), StoredResponseFate::ends);
    EXPECT_EQ(fate(StorageVerdict::store, 200), StoredResponseFate::stays);
    EXPECT_EQ(fate(StorageVerdict::no_store, 503), StoredResponseFate::stays);
}

TEST(WhatIsStored, EndsWhereTheOriginHasAnotherPageOrNone) {
    for (const auto status : {200u, 404u, 410u, 451u})
        EXPECT_EQ(fate(StorageVerdict::set_cookie, status), StoredResponseFate::ends) << status;
    for (const auto status : {301u, 302u, 401u, 403u})
        EXPECT_EQ(fate(StorageVerdict::no_freshness, status),
                  StoredResponseFate::stands_in_for_nothing)
            << status;
    for (const auto status : {206u, 304u, 408u, 412u, 416u, 429u, 500u, 503u})
        EXPECT_EQ(fate(StorageVerdict::no_freshness, status), StoredResponseFate::stays) << status;
}

TEST(WhatIsStored, DoesNotGoByWhatOneUserIsTold) {
    EXPECT_EQ(fate(StorageVerdict::authorization, 200, true), StoredResponseFate::stays);
    EXPECT_EQ(fate(StorageVerdict::no_freshness, 404, true), StoredResponseFate::stays);
    EXPECT_EQ(fate(StorageVerdict::private_, 200, true), StoredResponseFate::stands_in_for_nothing);
    EXPECT_EQ(fate(StorageVerdict::private_, 304, true), StoredResponseFate::ends);
}

TEST(WhatIsStored, StaysWhileItIsFreshIfItWasNotValidated) {
    EXPECT_EQ(fate_of_stored({StorageVerdict::no_store, 200, false, true, false}),
              StoredResponseFate::stays);
    EXPECT_EQ(fate_of_stored({StorageVerdict::no_store, 200, false, false, false}),
              StoredResponseFate::ends);
}

}  // namespace origin_plan_test
}  // namespace proxy
