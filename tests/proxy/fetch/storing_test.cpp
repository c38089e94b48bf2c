#include "proxy/fetch/storing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "proxy/http/tags.hpp"
#include "proxy/http/vary.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"
#include "tests/proxy/request/request.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

namespace proxy {
namespace storing_test {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using Text = test::Head;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20);
constexpr Arrival kArrival{Arrival::Steady(1000s), kNow};

/// A GET of http://h/ and heads that answer it.
class StoringTest : public ::testing::Test {
protected:
    StoringTest() { key.assign(Scheme::http, boost::beast::http::verb::get, "http://h/", {}); }

    /// Valid until the next call.
    StoringRequest asking(Fields fields) {
        auto kept = std::make_shared<const LoadedConfig>(config);
        const auto site = choose_site(*kept, key, true);
        request_.emplace(test::request_head("GET", "/", {fields.begin(), fields.end()}), key, false,
                         keep_site(kept, site, key));
        return {hasher, *request_, directives};
    }
    static Head answer(unsigned status, Fields fields) {
        Head head;
        head.status = status;
        head.fields.assign(fields.begin(), fields.end());
        return head;
    }
    static ReceivedHead received(const Head& head, bool from_peer = false) {
        return {head, kNow, kArrival, {}, from_peer};
    }
    StoreCandidate draft_of(const char* fields, const char* request = "", bool from_peer = false) {
        const Text text(fields), asked(request);
        const auto head = answer(200, text);
        return candidate(asking(asked), received(head, from_peer));
    }

    const summary::KeyHasher hasher{std::array<std::byte, summary::KeyHasher::kSecretBytes>{}};
    LoadedConfig config;
    CacheKey key;
    RequestDirectives directives;

private:
    std::optional<RequestSnapshot> request_;
};

TEST_F(StoringTest, KeepsWhatAResponseIsReusedBy) {
    const auto made =
        draft_of("Cache-Control: max-age=60\nAge: 5\nVary: Accept-Language", "Accept-Language: en");
    EXPECT_EQ(made.verdict, StorageVerdict::store);
    EXPECT_EQ(made.response->freshness.lifetime, StoredSeconds(60));
    EXPECT_EQ(made.response->freshness.initial_age, StoredSeconds(5));
    EXPECT_EQ(made.response->vary_names, "accept-language");
    EXPECT_FALSE(made.response->variant.empty());
    EXPECT_EQ(made.response->arrival.wall, kNow);
    EXPECT_EQ(made.response->residence(kArrival.steady + 7s), 7s);
}

TEST_F(StoringTest, RemembersThatAPeerSentIt) {
    EXPECT_FALSE(draft_of("Cache-Control: max-age=60").response->from_peer);
    EXPECT_TRUE(draft_of("Cache-Control: max-age=60", "", true).response->from_peer);
}

TEST_F(StoringTest, ClocksOfOtherNodesMakeNoCopyOld) {  // RFC 9111 §4.2.3
    const auto* const fields =
        "Cache-Control: max-age=60\nAge: 5\nDate: Thu, 19 Nov 2026 23:00:00 GMT";
    const auto copy = draft_of(fields, "", true);
    EXPECT_EQ(copy.response->freshness.initial_age, StoredSeconds(5));
    EXPECT_EQ(copy.verdict, StorageVerdict::store);
    const auto of_origin = draft_of(fields);
    EXPECT_EQ(of_origin.response->freshness.initial_age, StoredSeconds(3600))
        << "a cache without Age";
    const Text text(fields), none("");
    const auto head = answer(200, text);
    auto asked = asking(none);
    asked.clock_ahead = 3590s;
    EXPECT_EQ(candidate(asked, received(head)).response->freshness.initial_age, StoredSeconds(10));
}

TEST_F(StoringTest, CountsTheTimeThatItTookToComeWithoutRoundingItUp) {  // RFC 9111 §4.2.3
    const Text fields("Cache-Control: max-age=1\nDate: Thu, 19 Nov 2026 23:59:59 GMT"), none("");
    const auto head = answer(200, fields);
    // It left 300 ms before the clock struck, was dated at once, and came 200 ms after.
    auto from = ReceivedHead{head, kNow - 1s, kArrival, {}, false, 500ms};
    const auto quick = candidate(asking(none), from).response;
    EXPECT_EQ(quick->freshness.initial_age, StoredSeconds(0));
    EXPECT_TRUE(is_fresh(quick->freshness, quick->residence(kArrival.steady + 499ms)));
    EXPECT_FALSE(is_fresh(quick->freshness, quick->residence(kArrival.steady + 500ms)));
    from.took = 2300ms;
    const auto slow = candidate(asking(none), from).response;
    EXPECT_EQ(slow->freshness.initial_age, StoredSeconds(2));
    EXPECT_EQ(slow->residence(kArrival.steady + 699ms), 0s);
    EXPECT_EQ(slow->residence(kArrival.steady + 700ms), 1s);
}

TEST_F(StoringTest, SaysWhyAResponseIsNotStored) {  // RFC 9111 §3
    EXPECT_EQ(draft_of("Cache-Control: no-store").verdict, StorageVerdict::no_store);
    EXPECT_EQ(draft_of("Cache-Control: private").verdict, StorageVerdict::private_);
    EXPECT_EQ(draft_of("Cache-Control: max-age=60\nVary: *").verdict, StorageVerdict::vary_any);
    std::string tags = "Cache-Control: max-age=60\nSurrogate-Key:";
    for (std::size_t i = 0; i <= kMaxTags; ++i) tags += " t" + std::to_string(i);
    EXPECT_EQ(draft_of(tags.c_str()).verdict, StorageVerdict::too_many_tags);
}

TEST_F(StoringTest, TakesWhatWasAskedWithACookieForThatClientsAlone) {
    const auto* tag = "ETag: \"1\"";
    EXPECT_FALSE(draft_of(tag).response->freshness.personal);
    EXPECT_TRUE(draft_of(tag, "Cookie: who=me").response->freshness.personal);
    // A peer's copy that this node has judged so already.
    EXPECT_FALSE(draft_of(tag, "Cookie: who=me", true).response->freshness.personal);
}

TEST_F(StoringTest, StoresARefusalForRequestsWithoutCredentialsAlone) {
    const auto refused = [this](const char* fields, const char* request, unsigned status = 401) {
        const Text text(fields), asked(request);
        const auto head = answer(status, text);
        return candidate(asking(asked), received(head));
    };
    const auto* open = "Cache-Control: public, max-age=60";
    for (const auto status : {401u, 403u}) {
        const auto made = refused(open, "Cookie: a=b", status);
        EXPECT_EQ(made.verdict, StorageVerdict::store) << "the origin wants it so";
        const auto selects = [&made](const char* request) {
            std::string scratch;
            return variant_matches(made.response->vary_names, made.response->variant, Text(request),
                                   scratch);
        };
        EXPECT_TRUE(selects("Cookie: c=d"));
        EXPECT_FALSE(selects("Authorization: Basic eDp5"));
        EXPECT_FALSE(selects("X-JFrog-Art-Api: k"));
        EXPECT_EQ(refused(open, "Authorization: Basic eDp5", status).verdict,
                  StorageVerdict::authorization);
    }
    EXPECT_EQ(refused(open, "", 404).response->vary_names, "");
}

TEST_F(StoringTest, StoresARefusalThatARuleKeepsForRequestsWithoutACookieAlone) {
    Rule rule;
    rule.name = "ping";
    rule.storing.fresh_for = {{401, 1h}};
    const RuleTable rules({rule});
    const auto refused = [&](const char* request) {
        const Text text(""), asked(request);
        const auto head = answer(401, text);
        const auto storing = asking(asked);
        auto kept = storing.request.kept;
        const Fields lines = asked;
        kept.site.policy.rule = &rules.all().front();
        const RequestSnapshot ruled(test::request_head("GET", "/", {lines.begin(), lines.end()}),
                                    key, false, kept);
        return candidate({hasher, ruled, directives}, received(head));
    };
    const auto made = refused("");
    EXPECT_EQ(made.verdict, StorageVerdict::store);
    EXPECT_EQ(made.response->vary_names, ":credentials,cookie");
    EXPECT_EQ(refused("Cookie: a=b").verdict, StorageVerdict::authorization);
    EXPECT_EQ(refused("Private-Token: a").verdict, StorageVerdict::authorization);
}

TEST_F(StoringTest, TakesAKeyInAFieldOfItsOwnForAuthorization) {  // as RFC 9111 §3.5
    const auto* request = "X-Api-Key: k";
    EXPECT_EQ(draft_of("Cache-Control: max-age=60", request).verdict,
              StorageVerdict::authorization);
    for (const auto* shared : {"Cache-Control: public, max-age=60", "Cache-Control: s-maxage=60",
                               "Cache-Control: max-age=60, must-revalidate",
                               "Cache-Control: max-age=60\nVary: X-API-Key"})
        EXPECT_EQ(draft_of(shared, request).verdict, StorageVerdict::store) << shared;
}

TEST_F(StoringTest, NamesTagsOfTheResponseInOrder) {
    const auto made = draft_of("Cache-Control: max-age=60\nSurrogate-Key: b a");
    ASSERT_EQ(made.response->tags.size(), 2u);
    EXPECT_TRUE(precedes(made.response->tags[0], made.response->tags[1]));
}

TEST(Sharing, IsForAllOnlyOfWhatIsStored) {
    EXPECT_EQ(sharing_of(StorageVerdict::store, CopyUse::stored), Sharing::stored);
    EXPECT_EQ(sharing_of(StorageVerdict::private_, CopyUse::stored), Sharing::passed_on);
    EXPECT_EQ(sharing_of(StorageVerdict::too_large, CopyUse::stored), Sharing::passed_on);
    for (const auto verdict : {StorageVerdict::store, StorageVerdict::private_}) {
        EXPECT_EQ(sharing_of(verdict, CopyUse::passed_on), Sharing::not_copied)
            << "which is no reason to fetch alone the next time";
        EXPECT_EQ(sharing_of(verdict, CopyUse::passed_on_once), Sharing::not_copied_once);
    }
}

/// An answer that may be stored, its lease, and a store of 100,000 bytes.
class AdmitTest : public ::testing::Test {
protected:
    static constexpr auto kSteady = kArrival.steady;
    static constexpr summary::KeyHash kHash{1, 2}, kTag{3, 4};

    AdmitTest() { made.response->head_fields.assign(1000, 'x'); }
    Sharing admitted(CopyUse use = CopyUse::stored) {
        return admit(store, lease, made, use, kSteady);
    }

    test::IgnoredEvents events;
    Store store{100'000, test::hasher(), events};
    FillLease lease{store, kHash, "http://h/", nullptr};
    StoreCandidate made{std::make_shared<StoredResponse>()};
};

TEST_F(AdmitTest, PaysForTheHeadOfWhatIsToBeStored) {
    EXPECT_EQ(admitted(), Sharing::stored);
    EXPECT_EQ(made.verdict, StorageVerdict::store);
    EXPECT_GE(store.stats().memory_bytes, 1000u);
}

TEST_F(AdmitTest, PaysForNothingThatIsNotToBeStored) {
    EXPECT_EQ(admitted(CopyUse::passed_on), Sharing::not_copied);
    made.verdict = StorageVerdict::no_store;
    EXPECT_EQ(admitted(), Sharing::passed_on);
    EXPECT_EQ(made.verdict, StorageVerdict::no_store);
    EXPECT_EQ(store.stats().memory_bytes, 0u);
}

TEST_F(AdmitTest, GivesWhatIsTooOldOnArrivalToThoseWhoWait) {
    auto& freshness = made.response->freshness;
    made.verdict = StorageVerdict::not_reusable;
    EXPECT_EQ(admitted(), Sharing::passed_on) << "it never was for others";
    freshness.lifetime = StoredSeconds(1);
    EXPECT_EQ(admitted(), Sharing::passed_on) << "by a guess";
    freshness.source = LifetimeSource::max_age;
    EXPECT_EQ(admitted(), Sharing::awaited);
    EXPECT_EQ(admitted(CopyUse::passed_on), Sharing::not_copied);
    EXPECT_EQ(store.stats().memory_bytes, 0u);
    freshness.always_validate = true;
    EXPECT_EQ(admitted(), Sharing::passed_on);
}

TEST_F(AdmitTest, SaysWhenThereIsNoRoom) {
    const auto all = store.reserve(99'500, kSteady);
    ASSERT_TRUE(all);
    EXPECT_EQ(admitted(), Sharing::passed_on);
    EXPECT_EQ(made.verdict, StorageVerdict::no_room);
}

TEST_F(AdmitTest, SaysWhenOneOfItsTagsWasInvalidatedMeanwhile) {
    lease.take(store.find(kHash, "http://h/", {}, kSteady));
    store.invalidate(test::of_tag(kTag), kSteady);
    EXPECT_EQ(admitted(), Sharing::stored) << "as it does not have that tag";
    made.response->tags = {kTag};
    EXPECT_EQ(admitted(), Sharing::passed_on);
    EXPECT_EQ(made.verdict, StorageVerdict::invalidated);
}

TEST(Size, KeepsOutOfTheStoreWhatIsKnownToBeTooLarge) {
    EXPECT_EQ(fits(StorageVerdict::store, 101, 100), StorageVerdict::too_large);
    EXPECT_EQ(fits(StorageVerdict::store, 100, 100), StorageVerdict::store);
    EXPECT_EQ(fits(StorageVerdict::store, std::nullopt, 100), StorageVerdict::store);
    EXPECT_EQ(fits(StorageVerdict::no_store, 101, 100), StorageVerdict::no_store)
        << "the first reason is told";
}

TEST(End, IsCountedByWhoEndedIt) {
    EXPECT_EQ(verdict_of(FetchError::abandoned), StorageVerdict::aborted);
    EXPECT_EQ(verdict_of(FetchError::reset), StorageVerdict::incomplete);
    EXPECT_EQ(verdict_of(FetchError::malformed), StorageVerdict::incomplete);
}

/// A stored response, and a 304 that answers its validation.
class RefreshedTest : public StoringTest {
protected:
    RefreshedResponse refreshed_by(const char* fields) {
        const Text text(fields), stored_fields(stored_text_);
        const auto head = answer(304, text);
        const Text none("");
        return refreshed(asking(none), stored_, stored_fields, received(head));
    }
    const char* stored_text_ =
        "ETag: \"1\"\nCache-Control: max-age=1\nX-Kept: yes\nDate: Thu, 19 Nov 2026 00:00:00 GMT";
    StoredResponse stored_ = [] {
        StoredResponse response;
        response.status = 200;
        return response;
    }();
};

TEST_F(RefreshedTest, HasTheStoredFieldsWithThoseOfThe304) {  // RFC 9111 §3.2
    const auto fresh = refreshed_by("ETag: \"1\"\nCache-Control: max-age=60\nX-New: 1");
    EXPECT_EQ(fresh.candidate.verdict, StorageVerdict::store);
    const auto& response = *fresh.candidate.response;
    EXPECT_EQ(response.freshness.lifetime, StoredSeconds(60));
    EXPECT_EQ(response.body, stored_.body);
    EXPECT_THAT(response.head_fields, HasSubstr("X-Kept: yes\r\n"));
    EXPECT_THAT(response.head_fields, HasSubstr("X-New: 1\r\n"));
    EXPECT_THAT(response.head_fields, Not(HasSubstr("max-age=1\r\n")));
}

TEST_F(RefreshedTest, GivesCookiesOfThe304ToItsClientAlone) {
    const auto fresh = refreshed_by("ETag: \"1\"\nCache-Control: max-age=60\nSet-Cookie: a=b");
    EXPECT_THAT(fresh.candidate.response->head_fields, Not(HasSubstr("Set-Cookie")));
    EXPECT_THAT(fresh.live->lines, HasSubstr("Set-Cookie: a=b\r\n"));
}

TEST_F(RefreshedTest, IsDatedByTheArrivalOfA304WithoutDate) {
    const auto fresh = refreshed_by("ETag: \"1\"");
    EXPECT_THAT(fresh.candidate.response->head_fields,
                HasSubstr("Date: Fri, 20 Nov 2026 00:00:00 GMT\r\n"));
}

TEST_F(RefreshedTest, HasTheBodyOfThePeerThatSentIt) {
    EXPECT_FALSE(refreshed_by("ETag: \"1\"").candidate.response->from_peer);
    stored_.from_peer = true;
    EXPECT_TRUE(refreshed_by("ETag: \"1\"").candidate.response->from_peer);
}

TEST_F(RefreshedTest, StaysPersonalWhateverTheAnswerToAnotherSays) {
    stored_.freshness.personal = true;
    stored_text_ = "ETag: \"1\"";
    for (const auto* lines : {"ETag: \"1\"", "ETag: \"1\"\nCache-Control: max-age=60"}) {
        const auto freshness = refreshed_by(lines).candidate.response->freshness;
        EXPECT_TRUE(freshness.personal) << lines;
        EXPECT_TRUE(freshness.always_validate) << lines;
    }
}

TEST_F(RefreshedTest, IsSelectedByNoLessThanBefore) {
    stored_text_ =
        "ETag: \"1\"\nVary: Accept-Encoding, Cookie\nDate: Thu, 19 Nov 2026 00:00:00 GMT";
    const auto names = [&](const char* lines) {
        const auto fresh = refreshed_by(lines);
        EXPECT_EQ(fresh.candidate.response->vary_names,
                  vary_names(fresh.candidate.response->fields()))
            << "peers go by what the head says";
        return fresh.candidate.response->vary_names;
    };
    EXPECT_EQ(names("ETag: \"1\""), "accept-encoding,cookie");
    EXPECT_EQ(names("Vary: Cookie"), "accept-encoding,cookie");
    EXPECT_EQ(names("Vary: Origin"), "accept-encoding,cookie,origin");
    EXPECT_EQ(names("Vary: cookie, ACCEPT-ENCODING"), "accept-encoding,cookie");
    EXPECT_EQ(names("Connection: Vary\nVary: Origin"), "accept-encoding,cookie");
    EXPECT_EQ(refreshed_by("Vary: *").candidate.verdict, StorageVerdict::vary_any);
}

/// The result of a stored field and those of a 304, measured by these limits.
class UpdatedFieldsTest : public StoringTest {
protected:
    bool fit(std::size_t head, const std::string& lines = {}) const {
        const Text stored("X-A: 12345\nDate: x"), update(std::string("X-B: 1\nX-A: 123") + lines);
        const auto given = answer(304, update);
        LimitsConfig limits;
        limits.head = head;
        return UpdatedFields(stored, received(given)).fit(limits);
    }
    // "X-A: 123", "X-B: 1" and a Date of 29 characters, each with CRLF
    static constexpr std::size_t kBytes = 10 + 8 + 37;
};

TEST_F(UpdatedFieldsTest, FitUpToTheLimitsOfAHead) {
    EXPECT_TRUE(fit(kBytes));
    EXPECT_FALSE(fit(kBytes - 1));
    std::string lines;
    for (std::size_t i = 3; i < kHeadLines; ++i) lines += "\nX-C: 1";
    EXPECT_TRUE(fit(1 << 20, lines));
    EXPECT_FALSE(fit(1 << 20, lines + "\nX-C: 1"));
}

TEST_F(RefreshedTest, IsNoneWhereTheFieldsExceedAHead) {
    EXPECT_FALSE(refreshed_by("ETag: \"1\"\nX-1: a").too_large);
    config.limits.head = 20;
    const auto fresh = refreshed_by("ETag: \"1\"\nX-1: a");
    EXPECT_TRUE(fresh.too_large);
    EXPECT_EQ(fresh.candidate.response, nullptr);
}

TEST_F(RefreshedTest, EndsWhenThe304ForbidsStoring) {
    EXPECT_EQ(refreshed_by("ETag: \"1\"\nCache-Control: no-store").candidate.verdict,
              StorageVerdict::no_store);
}

}  // namespace storing_test
}  // namespace proxy
