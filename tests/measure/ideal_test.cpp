#include "measure/report/ideal.hpp"

#include <gtest/gtest.h>

#include "measure/trace/splitmix.hpp"

namespace measure {
namespace ideal_test {

/// Two clients that use different ones of two proxies.
struct TwoClients {
    std::uint32_t at_zero = 0, at_one = 1;
    Trace trace;
    TwoClients() {
        for (std::uint64_t number = 1; trace.clients.size() < 2; ++number) {
            if (proxy_of(number, 2) == trace.clients.size()) trace.clients.push_back(number);
        }
    }
    void get(std::uint32_t client, const char* url, std::uint64_t bytes = 100,
             std::uint8_t method = kGet) {
        trace.add({0, client, trace.add_url(url, bytes), method});
    }
};

TEST(Ideal, CountsLocalAndSharedHits) {
    TwoClients log;
    log.get(log.at_zero, "http://a/");
    log.get(log.at_zero, "http://a/");  // local, so shared too
    log.get(log.at_one, "http://a/");   // only shared
    log.get(log.at_one, "http://a/");   // local
    log.get(log.at_one, "http://b/");
    const Ideal ideal = ideal_of(log.trace, 2, 0);
    EXPECT_EQ(ideal.total.requests, 5u);
    EXPECT_EQ(ideal.total.local_hits, 2u);
    EXPECT_EQ(ideal.total.shared_hits, 3u);
    EXPECT_EQ(ideal.proxies[0].local_hits, 1u);
    EXPECT_EQ(ideal.proxies[0].shared_hits, 1u);
    EXPECT_EQ(ideal.proxies[1].local_hits, 1u);
    EXPECT_EQ(ideal.proxies[1].shared_hits, 2u);
    EXPECT_DOUBLE_EQ(ideal.total.local_ratio(), 0.4);
    EXPECT_DOUBLE_EQ(ideal.total.shared_ratio(), 0.6);
}

TEST(Ideal, IsTheSameForOneProxySharedOrNot) {
    TwoClients log;
    log.get(0, "http://a/");
    log.get(1, "http://a/");
    const Ideal ideal = ideal_of(log.trace, 1, 0);
    EXPECT_EQ(ideal.total.local_hits, 1u);
    EXPECT_EQ(ideal.total.shared_hits, 1u);
}

TEST(Ideal, WeighsBytesBySizeOfTheUrl) {
    TwoClients log;
    log.get(log.at_zero, "http://a/", 100);
    log.get(log.at_one, "http://a/", 100);
    log.get(log.at_one, "http://unknown/", 0);
    const Ideal ideal = ideal_of(log.trace, 2, 1024);
    EXPECT_EQ(ideal.total.bytes, 1224u);
    EXPECT_EQ(ideal.total.shared_hit_bytes, 100u);
    EXPECT_EQ(ideal.total.local_hit_bytes, 0u);
}

TEST(Ideal, TakesSpellingsOfOneTargetUriForOneObject) {
    TwoClients log;
    log.get(log.at_zero, "http://a/");
    log.get(log.at_zero, "http://A:80/");
    log.get(log.at_one, "http://a");
    const Ideal ideal = ideal_of(log.trace, 2, 0);
    EXPECT_EQ(ideal.total.local_hits, 1u);
    EXPECT_EQ(ideal.total.shared_hits, 2u);
}

TEST(Ideal, LetsHeadHitButNotStore) {
    TwoClients log;
    log.get(0, "http://a/", 1, kHead);
    log.get(0, "http://a/", 1, kGet);
    log.get(0, "http://a/", 1, kHead);
    EXPECT_EQ(ideal_of(log.trace, 1, 0).total.local_hits, 1u);
}

TEST(Ideal, NeverLetsOtherMethodsHit) {
    TwoClients log;
    log.trace.methods.push_back("POST");
    log.get(0, "http://a/", 1, 2);
    log.get(0, "http://a/", 1, kGet);
    log.get(0, "http://a/", 1, 2);
    EXPECT_EQ(ideal_of(log.trace, 1, 0).total.local_hits, 0u);
}

TEST(Ideal, CountsOnlyTheRequestsThatWereSent) {
    TwoClients log;
    for (int i = 0; i < 10; ++i) log.get(0, "http://a/");
    EXPECT_EQ(ideal_of(log.trace, 2, 0, {0, 4}).total.requests, 4u);
    EXPECT_EQ(ideal_of(log.trace, 2, 0, {0, 4}).total.local_hits, 3u);
}

TEST(Ideal, OfALaterPartKnowsWhatCameBeforeUnlessThatIsLost) {
    TwoClients log;
    for (const auto* url : {"http://a/", "http://b/", "http://a/", "http://c/", "http://c/"})
        log.get(log.at_zero, url);
    const auto later = ideal_of(log.trace, 2, 0, {2, 5}).total;
    EXPECT_EQ(later.requests, 3u);
    EXPECT_EQ(later.local_hits, 2u);
    EXPECT_EQ(later.bytes, 300u);
    EXPECT_EQ(ideal_of(log.trace, 2, 0, {2, 5}, {}, true).total.local_hits, 1u);
    EXPECT_EQ(ideal_of(log.trace, 2, 0, {7, 9}).total.requests, 0u);
}

TEST(Icp, AsksAllOthersAtEachLocalMiss) {
    EXPECT_EQ(icp_messages(10, 8), 140u);
    EXPECT_EQ(icp_messages(10, 1), 0u);
    EXPECT_DOUBLE_EQ(icp_bytes(1, 2, 50), (20 + 4 + 50 + 1) + (20 + 50 + 1));  // RFC 2186
}

TEST(Ideal, TakesTheSizesThatCameBeforeTheLogs) {
    TwoClients log;
    log.get(log.at_zero, "http://a/");
    log.get(log.at_zero, "http://b/");
    const auto by_log = ideal_of(log.trace, 1, 7).total.bytes;
    EXPECT_EQ(ideal_of(log.trace, 1, 7, {0, 2}, {1000, 0}).total.bytes,
              by_log - log.trace.object_bytes[0] + 1000);
}

}  // namespace ideal_test
}  // namespace measure
