#include "proxy/fetch/store_update.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/buffers.hpp"
#include "tests/proxy/fetch/idle_cache.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace store_update_test {

using namespace std::chrono_literals;
using boost::beast::http::verb;
using ::testing::HasSubstr;

constexpr Store::Clock::time_point kNow{1000s};

Head head_of(unsigned status, Fields fields) {
    Head head;
    head.status = status;
    head.fields.assign(fields.begin(), fields.end());
    return head;
}

/// Four bytes are stored, and a 200 to a HEAD arrives.
class HeadOfWhatIsStored : public ::testing::Test {
protected:
    HeadOfWhatIsStored() {
        stored.status = 200;
        stored.freshness.lifetime = StoredSeconds(60);
        stored.freshness.source = LifetimeSource::max_age;
        stored.body->add_block(4, {});
        stored.body->append("body");
    }
    bool speaks(const char* lines) const {
        const test::Head text(lines), fields(stored_lines);
        return speaks_of(head_of(200, text), stored, fields);
    }
    HeadFreshening learned(const char* lines,
                           StorageVerdict verdict = StorageVerdict::store) const {
        const test::Head text(lines), fields(stored_lines);
        return judge_head(head_of(200, text), verdict, stored, fields);
    }

    StoredResponse stored;
    const char* stored_lines = "ETag: \"1\"";
};

TEST_F(HeadOfWhatIsStored, SpeaksOfItWhenItRepeatsEveryValidator) {  // RFC 9111 §4.3.5
    EXPECT_TRUE(speaks("ETag: \"1\""));
    EXPECT_FALSE(speaks(""));
    EXPECT_FALSE(speaks("Content-Length: 4"));
    EXPECT_FALSE(speaks("ETag: W/\"1\""));
    EXPECT_FALSE(speaks("ETag: \"1\"\nETag: \"2\""));
    EXPECT_FALSE(speaks("ETag: \"1\"\nLast-Modified: Thu, 19 Nov 2026 00:00:00 GMT"));
    stored_lines = "ETag: \"1\"\nLast-Modified: Thu, 19 Nov 2026 00:00:00 GMT";
    EXPECT_TRUE(speaks("ETag: \"1\"\nLast-Modified: Thu, 19 Nov 2026 00:00:00 GMT"));
    EXPECT_FALSE(speaks("ETag: \"1\""));
    EXPECT_FALSE(speaks("Last-Modified: Thu, 19 Nov 2026 00:00:00 GMT"));
    EXPECT_FALSE(speaks("ETag: \"1\"\nLast-Modified: Fri, 20 Nov 2026 00:00:00 GMT"));
    stored_lines = "X-Other: 1";
    EXPECT_FALSE(speaks("")) << "there is nothing to recognise it by";
}

TEST_F(HeadOfWhatIsStored, SpeaksOfNoOtherRepresentation) {
    stored_lines = "ETag: \"1\"\nContent-Type: text/html\nContent-Encoding: identity";
    EXPECT_TRUE(speaks("ETag: \"1\"\nContent-Length: 4\nContent-Type: text/html"));
    for (const auto* other : {"Content-Length: 5", "Content-Encoding: gzip", "Content-Language: de",
                              "Content-Type: text/plain", "Vary: Accept-Encoding"})
        EXPECT_FALSE(speaks(("ETag: \"1\"\n" + std::string(other)).c_str())) << other;
    stored_lines = "ETag: \"1\"\nContent-Encoding: gzip";
    stored.vary_names = "accept-encoding";
    EXPECT_FALSE(speaks("ETag: \"1\"")) << "of the one without a coding";
    EXPECT_TRUE(speaks("ETag: \"1\"\nContent-Encoding: GZip"));
    EXPECT_TRUE(speaks("ETag: \"1\"\nContent-Encoding: gzip\nVary: Accept-Encoding"));
}

TEST_F(HeadOfWhatIsStored, FreshensWhatHadALifetimeAndNothingElse) {
    EXPECT_EQ(learned("ETag: \"1\""), HeadFreshening::freshens);
    EXPECT_EQ(learned("ETag: \"2\""), HeadFreshening::outdates);
    stored.freshness.always_validate = true;
    EXPECT_EQ(learned("ETag: \"1\""), HeadFreshening::nothing);
    stored.freshness.always_validate = false;
    stored.freshness.lifetime = StoredSeconds(0);
    EXPECT_EQ(learned("ETag: \"1\""), HeadFreshening::nothing);
    EXPECT_EQ(learned(""), HeadFreshening::outdates);
}

TEST_F(HeadOfWhatIsStored, EndsItWhereItMayNotBeStoredAnyMore) {
    for (const auto forbids : {StorageVerdict::no_store, StorageVerdict::private_,
                               StorageVerdict::must_understand, StorageVerdict::vary_any}) {
        EXPECT_EQ(learned("ETag: \"1\"", forbids), HeadFreshening::ends) << to_string(forbids);
        EXPECT_EQ(learned("", forbids), HeadFreshening::ends) << to_string(forbids);
    }
    EXPECT_EQ(learned("ETag: \"1\"", StorageVerdict::authorization), HeadFreshening::nothing)
        << "that is for this request alone";
}

class OwnTargetTest : public ::testing::Test {
protected:
    OwnTargetTest() { key_.assign(Scheme::http, verb::post, "http://h/a", {}); }
    bool names(const char* lines, verb method = verb::post, unsigned status = 200) const {
        const test::Head text(lines);
        return names_its_own_target(method, RuleTable(), head_of(status, text), key_);
    }

private:
    CacheKey key_;
};

TEST_F(OwnTargetTest, IsNamedByContentLocation) {  // RFC 9110 §9.3.3
    EXPECT_TRUE(names("Content-Location: http://h/a"));
    EXPECT_TRUE(names("Content-Location: /a"));
    EXPECT_TRUE(names("Content-Location: a"));
    EXPECT_FALSE(names("Content-Location: /b"));
    EXPECT_FALSE(names("Content-Location: http://other/a"));
    EXPECT_FALSE(names(""));
}

TEST_F(OwnTargetTest, IsWhatAGetWouldBringOnlyAfterPostAnd200) {
    EXPECT_FALSE(names("Content-Location: /a", verb::put));
    EXPECT_FALSE(names("Content-Location: /a", verb::post, 201));
    EXPECT_FALSE(names("Content-Location: /a", verb::post, 206));
}

/// http://h/a is stored, with "body" as its body and the tag "1", and a relayed answer teaches.
class LearningTest : public ::testing::Test, protected test::IdleCache {
protected:
    static constexpr WallTime kWall = std::chrono::sys_days(2026y / 11 / 20);
    static constexpr auto kLater = kNow + 50s;

    LearningTest() { put("http://h/a", "ETag: \"1\"\r\n", "body", kNow); }

    StoringRequest asking() const { return {hasher, *job->wanted.request, job->wanted.directives}; }
    summary::KeyHash hash() const { return hasher(key.uri()); }
    std::shared_ptr<const StoredResponse> stored(Store::Clock::time_point now = kLater) const {
        return find(key.uri(), now).response;
    }
    static bool fresh(const StoredResponse& response, Store::Clock::time_point now = kLater) {
        return is_fresh(response.freshness, response.residence(now));
    }
    /// An answer to a HEAD of it, which was sent at kNow + 40 s, has this head.
    void head_says(const char* lines, unsigned status = 200) {
        const test::Head text(lines);
        const auto head = head_of(status, text);
        const auto storing = asking();
        const ReceivedHead response{head, kWall, {kLater, kWall}};
        learn_from_head(cache, {storing, verb::head, hash(), response, kNow + 40s});
    }
    /// To a POST to it, which was sent at kNow + 40 s.
    std::unique_ptr<KeptCopy> posted(const char* lines, verb method = verb::post) {
        const test::Head text(lines);
        const auto head = head_of(200, text);
        const auto storing = asking();
        const ReceivedHead response{head, kWall, {kLater, kWall}};
        return std::make_unique<KeptCopy>(
            cache, RelayedExchange{storing, method, hash(), response, kNow + 40s}, std::nullopt,
            "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
    }
    static std::string text_of(const StoredResponse& response) {
        std::vector<boost::asio::const_buffer> buffers;
        response.body->view(0, response.body_bytes(), 100, buffers);
        return test::text_of(buffers);
    }

    static constexpr const char* kOwn = "Content-Location: /a\nCache-Control: max-age=60";
};

TEST_F(LearningTest, AHeadWithTheSameValidatorsRefreshesWhatIsStored) {  // RFC 9111 §4.3.5
    head_says("ETag: \"1\"\nCache-Control: max-age=600\nX-New: yes");
    ASSERT_NE(stored(), nullptr);
    EXPECT_TRUE(fresh(*stored(), kLater + 599s));
    EXPECT_THAT(stored()->head_fields, HasSubstr("X-New: yes\r\n"));
    EXPECT_EQ(text_of(*stored()), "body");
}

TEST_F(LearningTest, AHeadOfAnotherVersionMakesWhatIsStoredStaleAndNotToBeServed) {
    head_says("ETag: \"2\"\nCache-Control: max-age=600");
    ASSERT_NE(stored(), nullptr);
    EXPECT_FALSE(fresh(*stored()));
    EXPECT_EQ(stored()->freshness.stale_while_revalidate, StoredSeconds(-1));
    EXPECT_THAT(stored()->head_fields, HasSubstr("ETag: \"1\""));
}

TEST_F(LearningTest, AHeadThatWasUnderWayWhenItsTagWasPurgedEndsWhatIsStored) {
    constexpr auto kTagged = "ETag: \"1\"\nCache-Control: max-age=600\nSurrogate-Key: news";
    shared.store.invalidate(test::of_tag(surrogate_tag("news", hasher)), kNow + 39s);
    head_says(kTagged);
    ASSERT_NE(stored(), nullptr) << "it was purged before the HEAD was sent";
    shared.store.invalidate(test::of_tag(surrogate_tag("news", hasher)), kNow + 41s);
    EXPECT_EQ(stored(), nullptr) << "as it is known by that tag now";
    put("http://h/a", "ETag: \"1\"\r\n", "body", kNow + 42s);
    head_says(kTagged);
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(LearningTest, AResponseThatAHeadMakesStaleMayStillStandInForItsOrigin) {
    head_says("Cache-Control: max-age=600");
    ASSERT_NE(stored(), nullptr);
    EXPECT_FALSE(fresh(*stored()));
    EXPECT_TRUE(stored()->freshness.had_lifetime());
}

TEST_F(LearningTest, AHeadThatForbidsStoringEndsWhatIsStored) {  // as such a 304 does
    head_says("ETag: \"1\"\nCache-Control: no-store");
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(LearningTest, AHeadForOneClientAloneEndsItToo) {
    head_says("Cache-Control: private");
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(LearningTest, NoHeadGivesALifetimeToWhatIsValidatedEachTime) {
    const auto shared_one = stored();
    auto once = std::make_shared<StoredResponse>(StoredMetadata(*shared_one), shared_one->body);
    make_personal(once->freshness);
    ASSERT_EQ(shared.store.replace(hash(), shared_one.get(), once, kNow, kNow),
              Store::Replaced::done);
    head_says("ETag: \"1\"\nCache-Control: max-age=600");
    EXPECT_EQ(stored(), once);
    head_says("Cache-Control: max-age=600");
    EXPECT_TRUE(stored()->freshness.personal);
    EXPECT_TRUE(stored()->freshness.always_validate);
    EXPECT_FALSE(fresh(*stored()));
}

TEST_F(LearningTest, OfNoOtherAnswerToAHead) {
    head_says("ETag: \"2\"", 404);
    head_says("ETag: \"2\"", 304);
    job->wanted.directives.no_store = true;
    head_says("ETag: \"2\"");
    EXPECT_TRUE(fresh(*stored()));
}

TEST_F(LearningTest, LearnsNothingAboutAnAbsentResponse) {
    shared.store.invalidate(hash(), kNow);
    head_says("ETag: \"1\"\nCache-Control: max-age=600");
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(LearningTest, AResponseThatCannotBePaidForGoes) {
    const auto all = shared.store.reserve(settings->cache.memory, kNow);
    ASSERT_TRUE(all);
    head_says("ETag: \"1\"\nCache-Control: max-age=600");
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(LearningTest, AnAnswerToPostThatNamesItsTargetIsKept) {  // RFC 9110 §9.3.3
    const auto copy = posted(kOwn);
    copy->append("new ", kLater);
    copy->append("body", kLater);
    EXPECT_EQ(text_of(*stored()), "body") << "before it has ended";
    copy->finish(kLater);
    EXPECT_EQ(text_of(*stored()), "new body");
    EXPECT_TRUE(fresh(*stored(), kLater + 59s));
    EXPECT_FALSE(fresh(*stored(), kLater + 60s));
}

TEST_F(LearningTest, AnAnswerThatNamesAnotherTargetOrNoLifetimeOrForbidsItIsNotKept) {
    const auto keeps = [this](const char* lines, verb method = verb::post) {
        const auto copy = posted(lines, method);
        copy->append("new body", kLater);
        copy->finish(kLater);
        return text_of(*stored()) != "body";
    };
    EXPECT_FALSE(keeps("Content-Location: /b\nCache-Control: max-age=60"));
    EXPECT_FALSE(keeps(kOwn, verb::put));
    EXPECT_FALSE(keeps("Content-Location: /a\nETag: \"2\""));
    EXPECT_FALSE(keeps("Content-Location: /a\nCache-Control: max-age=60, no-store"));
}

TEST_F(LearningTest, ARuleThatLetsEitherMethodGoPastTheCacheKeepsNoAnswerToPost) {
    const auto rule = [](const char* method) {
        Rule past;
        past.name = "past";
        past.bypass = true;
        past.match.methods = {method};
        return RuleTable({past});
    };
    for (const auto* method : {"POST", "GET"}) {
        auto ruled = std::make_shared<LoadedConfig>(*settings);
        ruled->rules = rule(method);
        const auto site = choose_site(*ruled, key, false);
        auto kept = keep_site(ruled, site, key);
        kept.site.policy.rule = ruled->rules.find("POST", key.host(), key.path());
        job->wanted.request = std::make_shared<RequestSnapshot>(Head(), key, true, std::move(kept));
        const auto copy = posted(kOwn);
        copy->append("new body", kLater);
        copy->finish(kLater);
        EXPECT_EQ(text_of(*stored()), "body") << method;
    }
}

TEST_F(LearningTest, KeepsNothingInvalidatedAfterTheRequest) {
    shared.store.invalidate(hash(), kNow + 45s);
    const auto copy = posted(kOwn);
    copy->append("new body", kLater);
    copy->finish(kLater);
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(LearningTest, KeepsAResponseInvalidatedBeforeTheRequest) {
    shared.store.invalidate(hash(), kNow + 39s);
    const auto copy = posted(kOwn);
    copy->append("new body", kLater);
    copy->finish(kLater);
    EXPECT_NE(stored(), nullptr);
}

TEST_F(LearningTest, InvalidationsOfTheAnswerItselfDoNotCountAgainstItsCopy) {
    const auto copy = posted(kOwn);
    shared.store.invalidate(hash(), kLater);
    copy->has_invalidated(1);
    copy->append("new body", kLater);
    copy->finish(kLater);
    ASSERT_NE(stored(), nullptr);
    EXPECT_EQ(text_of(*stored()), "new body");
}

TEST_F(LearningTest, InvalidationsOfAnotherRequestCountAgainstTheCopy) {
    const auto in_between = posted(kOwn);
    shared.store.invalidate(hash(), kLater);
    shared.store.invalidate(hash(), kLater);
    in_between->has_invalidated(1);
    in_between->finish(kLater);
    EXPECT_EQ(stored(), nullptr);
    const auto after = posted("Content-Location: /a\nCache-Control: max-age=60");
    after->has_invalidated(0);
    shared.store.invalidate(hash(), kLater);
    after->finish(kLater);
    EXPECT_EQ(stored(), nullptr);
}

TEST_F(LearningTest, AnUnsafeSuccessInvalidatesWhatItNamesAtTheSameOrigin) {  // RFC 9111 §4.4
    for (const auto* uri : {"http://h/b", "http://h/c", "http://other/d"})
        put(uri, "", "body", kNow);
    const test::Head text("Location: /b\nContent-Location: http://other/d");
    EXPECT_EQ(invalidate_after(shared, RuleTable(), key, head_of(201, text), kLater).count, 2u);
    EXPECT_EQ(stored(), nullptr);
    EXPECT_EQ(find("http://h/b", kLater).response, nullptr);
    EXPECT_NE(find("http://h/c", kLater).response, nullptr);
    EXPECT_NE(find("http://other/d", kLater).response, nullptr);
    ASSERT_EQ(events.invalidated.size(), 1u) << "the peers hear of all at once";
    EXPECT_EQ(events.invalidated[0].keys.size(), 2u);
}

TEST_F(LearningTest, AnUnsafeSuccessInvalidatesTheGroupsItNames) {  // RFC 9875
    put("http://h/b", "", "body", kNow, {hasher("cache-group http://h g")});
    const test::Head text("Cache-Group-Invalidation: \"g\"");
    EXPECT_EQ(invalidate_after(shared, RuleTable(), key, head_of(200, text), kLater).count, 2u);
    EXPECT_EQ(find("http://h/b", kLater).response, nullptr);
    ASSERT_EQ(events.invalidated.size(), 1u);
    EXPECT_EQ(events.invalidated[0].tags.size(), 1u);
}

TEST(UnsafeRequest, MayHaveTakenEffectOnceSomethingOfItWentOut) {
    for (const auto error : {FetchError::head_timeout, FetchError::body_timeout, FetchError::reset,
                             FetchError::malformed, FetchError::abandoned, FetchError::stopping})
        EXPECT_TRUE(may_have_taken_effect(error)) << to_string(error);
    for (const auto error :
         {FetchError::none, FetchError::resolve_failed, FetchError::resolve_timeout,
          FetchError::connect_failed, FetchError::connect_timeout, FetchError::tls_failed,
          FetchError::busy, FetchError::no_descriptors, FetchError::not_allowed,
          FetchError::own_listener, FetchError::origin_down})
        EXPECT_FALSE(may_have_taken_effect(error)) << to_string(error);
}

}  // namespace store_update_test
}  // namespace proxy
