#include "proxy/http/storage_verdict.hpp"
#include "proxy/http/rule.hpp"

#include "proxy/http/described_enum.hpp"

#include "proxy/http/vary.hpp"
#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>
#include <set>

namespace proxy {
namespace storage_verdict_test {

using namespace std::chrono_literals;
using test::Head;

constexpr WallTime kNow = std::chrono::sys_days(2026y / 11 / 20);

struct Exchange {
    std::string response = "Cache-Control: max-age=60";
    unsigned status = 200;
    std::string request = "Host: a";
    CacheRules rules = {};
};

StorageVerdict verdict(const Exchange& exchange) {
    const Head request(exchange.request.c_str()), response(exchange.response.c_str());
    return storage_verdict(request, request_directives(request), exchange.status, response,
                           response_directives(response, exchange.rules), vary_names(response),
                           freshness_of(exchange.status, response, kNow, kNow, exchange.rules),
                           exchange.rules);
}

TEST(StorageVerdict, StoresExplicitlyFreshResponses) {  // RFC 9111 §3
    EXPECT_EQ(verdict({}), StorageVerdict::store);
    EXPECT_EQ(verdict({.response = "Expires: Thu, 18 Aug 2050 02:01:18 GMT"}),
              StorageVerdict::store);
}

TEST(StorageVerdict, StoresAnyFinalStatusWithExplicitFreshness) {  // behaviour 8
    for (const unsigned status : {201, 203, 204, 226, 299, 302, 307, 399, 400, 403, 404, 418, 499,
                                  500, 502, 503, 504, 599}) {
        EXPECT_EQ(verdict({.status = status}), StorageVerdict::store) << status;
    }
}

TEST(StorageVerdict, NeverStoresInterimPartialOrNotModified) {  // behaviours 10, 12
    EXPECT_EQ(verdict({.status = 100}), StorageVerdict::interim);
    EXPECT_EQ(verdict({.status = 103}), StorageVerdict::interim);
    EXPECT_EQ(verdict({.status = 206}), StorageVerdict::partial);
    EXPECT_EQ(verdict({.status = 304}), StorageVerdict::not_modified);
}

TEST(StorageVerdict, HeedsNoStoreAndPrivateBesideOtherDirectives) {  // behaviour 7
    EXPECT_EQ(verdict({.response = "Cache-Control: max-age=60, No-Store"}),
              StorageVerdict::no_store);
    EXPECT_EQ(verdict({.response = "Cache-Control: no-store, foo=bar, s-maxage=60, public"}),
              StorageVerdict::no_store);
    EXPECT_EQ(verdict({.response = "Cache-Control: PRIVATE, public\nCache-Control: max-age=60"}),
              StorageVerdict::private_);
    EXPECT_EQ(verdict({.request = "Cache-Control: no-store"}), StorageVerdict::request_no_store);
}

TEST(StorageVerdict, StoresTheRestOfAQualifiedPrivateResponse) {  // RFC 9111 §5.2.2.7
    EXPECT_EQ(verdict({.response = "Cache-Control: max-age=60, private=\"Set-Cookie\""}),
              StorageVerdict::store);
}

TEST(StorageVerdict, LetsMustUnderstandDecide) {  // RFC 9111 §5.2.2.3, behaviour 9
    const std::string directives = "Cache-Control: max-age=60, no-store, must-understand";
    EXPECT_EQ(verdict({.response = directives}), StorageVerdict::store);
    EXPECT_EQ(verdict({.response = directives, .status = 404}), StorageVerdict::store);
    EXPECT_EQ(verdict({.response = directives, .status = 499}), StorageVerdict::must_understand);
    EXPECT_EQ(verdict({.response = "Cache-Control: must-understand, max-age=60", .status = 299}),
              StorageVerdict::must_understand);
    EXPECT_EQ(verdict({.response = directives + ", private"}), StorageVerdict::private_);
}

TEST(StorageVerdict, SharesAnAuthorizedResponseByPermissionOnly) {  // RFC 9111 §3.5, behaviour 13
    const std::string authorized = "Authorization: Basic eA==";
    EXPECT_EQ(verdict({.request = authorized}), StorageVerdict::authorization);
    for (const char* value : {"public, max-age=60", "must-revalidate, max-age=60", "s-maxage=60"}) {
        EXPECT_EQ(
            verdict({.response = std::string("Cache-Control: ") + value, .request = authorized}),
            StorageVerdict::store)
            << value;
    }
    EXPECT_EQ(
        verdict({.response = "Cache-Control: proxy-revalidate, max-age=60", .request = authorized}),
        StorageVerdict::authorization);
}

StorageVerdict verdict_of_part(const char* control, const char* request = "Host: a") {
    const Head asked(request), given((std::string("Cache-Control: ") + control).c_str());
    return part_verdict(asked, request_directives(asked), response_directives(given, {}), {});
}

TEST(PartVerdict, NeedsNoLifetimeAsTheIndexHasOne) {
    EXPECT_EQ(verdict_of_part(""), StorageVerdict::store);
    EXPECT_EQ(verdict_of_part("max-age=0"), StorageVerdict::store);
    EXPECT_EQ(verdict_of_part("", "Cookie: a=b"), StorageVerdict::store);
}

TEST(PartVerdict, HeedsDirectivesOfThePart) {  // RFC 9111 §5.2.1.5, §5.2.2.5, §5.2.2.7
    EXPECT_EQ(verdict_of_part("no-store"), StorageVerdict::no_store);
    EXPECT_EQ(verdict_of_part("private, max-age=60"), StorageVerdict::private_);
    EXPECT_EQ(verdict_of_part("max-age=60", "Cache-Control: no-store"),
              StorageVerdict::request_no_store);
}

TEST(PartVerdict, SharesAnAuthorizedPartByPermissionOnly) {  // RFC 9111 §3.5, behaviour 13
    const auto* authorized = "Authorization: Basic eA==";
    EXPECT_EQ(verdict_of_part("max-age=60", authorized), StorageVerdict::authorization);
    for (const auto* control : {"public", "must-revalidate", "s-maxage=60"})
        EXPECT_EQ(verdict_of_part(control, authorized), StorageVerdict::store) << control;
    EXPECT_EQ(verdict_of_part("public, private", authorized), StorageVerdict::private_);
}

TEST(StorageVerdict, RefusesResponsesThatVaryOnEverything) {  // RFC 9111 §4.1, behaviour 18
    for (const char* value : {"*", "Accept, *", "*, Accept", ", *,", "Accept\nVary: *"}) {
        EXPECT_EQ(verdict({.response = std::string("Cache-Control: max-age=60\nVary: ") + value}),
                  StorageVerdict::vary_any)
            << value;
    }
    EXPECT_EQ(verdict({.response = "Cache-Control: max-age=60\nVary: Accept"}),
              StorageVerdict::store);
}

TEST(StorageVerdict, StoresCookiesOnlyWhereConfigured) {  // behaviour 2
    for (const char* name : {"Set-Cookie", "Set-Cookie2", "set-cookie"}) {
        const auto response = "Cache-Control: max-age=60\n" + std::string(name) + ": a=b";
        EXPECT_EQ(verdict({.response = response}), StorageVerdict::set_cookie) << name;
        EXPECT_EQ(verdict({.response = response,
                           .request = "Cookie: c=d",
                           .rules = {.store_set_cookie = true}}),
                  StorageVerdict::store)
            << name;
    }
    EXPECT_EQ(verdict({.response = "Cache-Control: max-age=60, private=\"Set-Cookie\"\n"
                                   "Set-Cookie: a=b"}),
              StorageVerdict::store)
        << "the origin keeps it from others itself";
}

TEST(StorageVerdict, StoresHeuristicallyFreshOnesForSomeStatuses) {  // RFC 9111 §4.2.2
    const std::string modified = "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT";
    EXPECT_EQ(verdict({.response = modified}), StorageVerdict::store);
    EXPECT_EQ(verdict({.response = modified, .status = 404}), StorageVerdict::store);
    EXPECT_EQ(verdict({.response = modified, .status = 302}), StorageVerdict::no_freshness);
    EXPECT_EQ(verdict({.response = modified, .status = 503}), StorageVerdict::no_freshness);
    EXPECT_EQ(verdict({.response = modified + "\nCache-Control: public", .status = 302}),
              StorageVerdict::store);
}

TEST(StorageVerdict, RefusesResponsesWithoutReuse) {  // behaviour 28
    EXPECT_EQ(verdict({.response = ""}), StorageVerdict::not_reusable);
    EXPECT_EQ(verdict({.response = "Expires: 0"}), StorageVerdict::not_reusable);
    EXPECT_EQ(verdict({.response = "Cache-Control: max-age=60\nAge: 60"}),
              StorageVerdict::not_reusable);
    EXPECT_EQ(verdict({.response = "Cache-Control: no-cache, max-age=60"}),
              StorageVerdict::not_reusable);
}

TEST(StorageVerdict, StoresStaleOnesThatCanBeValidated) {  // behaviours 28, 41
    EXPECT_EQ(verdict({.response = "ETag: \"a\""}), StorageVerdict::store);
    EXPECT_EQ(verdict({.response = "Cache-Control: no-cache\nETag: \"a\""}), StorageVerdict::store);
    EXPECT_EQ(verdict({.response = "Expires: 0\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT"}),
              StorageVerdict::store);
    EXPECT_EQ(verdict({.response = "Cache-Control: max-age=0, stale-while-revalidate=5"}),
              StorageVerdict::store);
}

TEST(StorageVerdict, IgnoresPragma) {  // RFC 9111 §5.4, behaviour 43
    EXPECT_EQ(verdict({.response = "Pragma: no-cache\nCache-Control: max-age=60"}),
              StorageVerdict::store);
}

TEST(StorageVerdict, StoresNoCookieByGuesswork) {
    EXPECT_EQ(verdict({.response = "Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\nSet-Cookie: a=1",
                       .rules = {.store_set_cookie = true}}),
              StorageVerdict::set_cookie);
}

TEST(StorageVerdict, KeepsAnswersToConditionsAndRangesOut) {  // they answer more than the key says
    EXPECT_EQ(verdict({.status = 412}), StorageVerdict::partial);
    EXPECT_EQ(verdict({.status = 416}), StorageVerdict::partial);
}

TEST(StorageVerdict, RefusesResponsesWithStaleIfErrorAlone) {
    EXPECT_EQ(verdict({.response = "Cache-Control: stale-if-error=60"}),
              StorageVerdict::not_reusable);
    EXPECT_EQ(verdict({.response = "Cache-Control: max-age=0, stale-if-error=60"}),
              StorageVerdict::store);
}

TEST(EndsStored, WhenTheOriginForbidsStoringItsPresentAnswer) {
    for (const auto verdict : {StorageVerdict::no_store, StorageVerdict::private_,
                               StorageVerdict::must_understand, StorageVerdict::vary_any}) {
        for (const unsigned status : {200, 203, 304, 404, 410}) {
            EXPECT_TRUE(ends_stored(verdict, status)) << status;
        }
        for (const unsigned status : {301, 302, 401, 403, 429, 500, 503}) {
            EXPECT_FALSE(ends_stored(verdict, status)) << status;
        }
    }
    for (const auto verdict :
         {StorageVerdict::store, StorageVerdict::authorization, StorageVerdict::set_cookie,
          StorageVerdict::too_large, StorageVerdict::no_room, StorageVerdict::request_no_store}) {
        EXPECT_FALSE(ends_stored(verdict, 200));
        EXPECT_FALSE(ends_stored(verdict, 304));
    }
}

TEST(StorageVerdict, HasADifferentNameForEachReason) {
    std::set<std::string_view> names;
    for (const auto each : kEachOf<StorageVerdict>) names.insert(to_string(each));
    EXPECT_EQ(names.size(), kEnumSize<StorageVerdict>);
    EXPECT_EQ(to_string(StorageVerdict::store), "store");
    EXPECT_EQ(to_string(StorageVerdict::not_reusable), "not_reusable");
    EXPECT_EQ(to_string(StorageVerdict::aborted), "aborted");
}

/// The verdict on a response with an explicit lifetime under a rule.
StorageVerdict verdict_by(const StoringRule& rule, const char* response, const char* request = "",
                          unsigned status = 200) {
    const Head asked(request), given(response);
    const CacheRules rules{.rule = &rule};
    const auto said = response_directives(given, rules);
    auto freshness = freshness_of(status, given, said, WallTime(), WallTime(), rules);
    apply_rule(freshness, rule, status, false);
    return storage_verdict(asked, request_directives(asked), status, given, said, "", freshness,
                           rules);
}

TEST(StorageVerdictByRule, IgnoresWhatTheRuleListsAndNothingElse) {
    StoringRule rule;
    rule.ignored.is_private = true;
    EXPECT_EQ(verdict_by(rule, "Cache-Control: private, max-age=60"), StorageVerdict::store);
    EXPECT_EQ(verdict_by(rule, "Cache-Control: no-store, max-age=60"), StorageVerdict::no_store);
    EXPECT_EQ(verdict_by(rule, "Cache-Control: max-age=60\nSet-Cookie: a=b"),
              StorageVerdict::set_cookie);
    rule.ignored = {.no_store = true};
    EXPECT_EQ(verdict_by(rule, "Cache-Control: no-store, max-age=60"), StorageVerdict::store);
    EXPECT_EQ(verdict_by(rule, "Cache-Control: private, max-age=60"), StorageVerdict::private_);
    rule.ignored = {.set_cookie = true};
    EXPECT_EQ(verdict_by(rule, "Cache-Control: max-age=60\nSet-Cookie: a=b"),
              StorageVerdict::store);
    EXPECT_EQ(verdict_by(rule, "Cache-Control: max-age=60", "Cache-Control: no-store"),
              StorageVerdict::request_no_store)
        << "the client's own wish stays";
}

TEST(StorageVerdictByRule, SharesContentButNoRefusalOfCredentials) {
    StoringRule rule;
    rule.share_authorized = true;
    rule.fresh_for = {{401, std::chrono::hours(1)}};
    const auto* authorized = "Authorization: Basic eA==";
    EXPECT_EQ(verdict_by(rule, "Cache-Control: max-age=60", authorized), StorageVerdict::store);
    EXPECT_EQ(verdict_by(rule, "", authorized, 401), StorageVerdict::authorization);
    EXPECT_EQ(verdict_by({}, "Cache-Control: max-age=60", authorized),
              StorageVerdict::authorization);
}

TEST(StorageVerdictByRule, KeepsQualifiedStatements) {  // RFC 9111 §5.2.2.7
    StoringRule rule;
    rule.ignored.is_private = true;
    const CacheRules rules{.rule = &rule};
    const Head given("Cache-Control: private=\"X-User\"");
    EXPECT_EQ(response_directives(given, rules).private_fields, "X-User");
}

}  // namespace storage_verdict_test
}  // namespace proxy
