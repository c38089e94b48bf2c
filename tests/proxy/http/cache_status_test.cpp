#include "proxy/http/cache_status.hpp"

#include "tests/proxy/http/head.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace cache_status_test {

using namespace std::chrono_literals;
using test::Head;

std::string member(const CacheStatus& status, std::string_view node = "a") {
    std::string out;
    base::ShortText text(out);
    append_cache_status(text, node, status);
    text.flush();
    return out;
}

TEST(CacheStatus, NamesAHit) {  // RFC 9211 §2.1, §2.4
    EXPECT_EQ(member({.ttl = 30s}), "a; hit; ttl=30");
    EXPECT_EQ(member({.ttl = -412s}), "a; hit; ttl=-412");
    EXPECT_EQ(member({}), "a; hit");
}

TEST(CacheStatus, NamesTheReasonForAForwardedRequest) {  // RFC 9211 §2.2
    EXPECT_EQ(member({.forward = Forward::uri_miss, .stored = true}), "a; fwd=uri-miss; stored");
    EXPECT_EQ(member({.forward = Forward::stale, .ttl = -5s, .forward_status = 304}),
              "a; fwd=stale; fwd-status=304; ttl=-5");
    EXPECT_EQ(member({.forward = Forward::miss, .collapsed = true}), "a; fwd=miss; collapsed");
    EXPECT_EQ(to_string(Forward::vary_miss), "vary-miss");
    EXPECT_EQ(to_string(Forward::bypass), "bypass");
}

TEST(CacheStatus, SaysNeitherHitNorForwardOfAnAnswerOfItsOwn) {  // RFC 9211 §2.1, §2.2
    EXPECT_EQ(member(kOwnAnswer), "a");
    EXPECT_EQ(member({.forward = Forward::nowhere, .detail = "only-if-cached"}),
              "a; detail=only-if-cached");
}

TEST(CacheStatus, WritesDetailsAsTokenOrString) {  // RFC 9211 §2.8, RFC 8941
    EXPECT_EQ(member({.forward = Forward::miss, .detail = "absent"}), "a; fwd=miss; detail=absent");
    EXPECT_EQ(member({.forward = Forward::miss, .detail = "peer b"}),
              "a; fwd=miss; detail=\"peer b\"");
    EXPECT_EQ(member({.detail = "a\"b\\c\r\n\xe4"}), "a; hit; detail=\"a\\\"b\\\\c???\"");
}

TEST(CacheStatus, WritesNodesThatAreNoTokensAsStrings) {
    EXPECT_EQ(member({}, "proxy-1.example"), "proxy-1.example; hit");
    EXPECT_EQ(member({}, "1a"), "\"1a\"; hit");
    EXPECT_EQ(member({}, "a b"), "\"a b\"; hit");
}

TEST(CacheStatus, IsAppendedToEarlierMembers) {
    std::string out = "origin-cdn; hit, ";
    base::ShortText text(out);
    append_cache_status(text, "a", {.forward = Forward::uri_miss});
    text.flush();
    EXPECT_EQ(out, "origin-cdn; hit, a; fwd=uri-miss");
}

TEST(Refusal, IsTheDetailOfTheLastMember) {
    EXPECT_EQ(refusal_of(Head("Cache-Status: b; fwd=miss; detail=absent")), Refusal::absent);
    EXPECT_EQ(refusal_of(Head("Cache-Status: x; detail=busy, b; fwd=stale; detail=stale")),
              Refusal::stale);
    EXPECT_EQ(refusal_of(Head("cache-status: x; detail=busy\nCache-Status: b;detail=variant")),
              Refusal::variant);
}

TEST(Refusal, IsUnknownWhereItIsNotSaid) {
    EXPECT_EQ(refusal_of(Head("Server: x")), Refusal::unknown);
    EXPECT_EQ(refusal_of(Head("Cache-Status: b; fwd=miss")), Refusal::unknown);
    EXPECT_EQ(refusal_of(Head("Cache-Status: detail=absent")), Refusal::unknown);
    EXPECT_EQ(refusal_of(Head("Cache-Status: b; detail=absently")), Refusal::unknown);
    EXPECT_EQ(refusal_of(Head("Cache-Status: b; x=\"; detail=absent\"")), Refusal::unknown);
    EXPECT_EQ(refusal_of(Head("Cache-Status: x; detail=absent, b; fwd=miss")), Refusal::unknown);
}

TEST(Refusal, ReadsItsOwnText) {
    for (const auto refusal :
         {Refusal::absent, Refusal::variant, Refusal::stale, Refusal::busy, Refusal::draining}) {
        const auto line = "Cache-Status: " +
                          member({.forward = Forward::miss, .detail = to_string(refusal)}, "1 x");
        EXPECT_EQ(refusal_of(Head(line.c_str())), refusal);
    }
}

TEST(Refusal, IsAFalseHitOnlyWhenAbsent) {  // the books of DESIGN
    EXPECT_EQ(verdict_of(Refusal::absent), PeerVerdict::false_hit);
    EXPECT_EQ(verdict_of(Refusal::stale), PeerVerdict::stale_hit);
    for (const auto refusal : {Refusal::variant, Refusal::busy, Refusal::draining}) {
        EXPECT_EQ(verdict_of(refusal), PeerVerdict::refused);
    }
    EXPECT_EQ(verdict_of(Refusal::unknown), PeerVerdict::failure);
}

}  // namespace cache_status_test
}  // namespace proxy
