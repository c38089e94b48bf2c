#include "proxy/http/hop_by_hop.hpp"

#include "tests/proxy/http/head.hpp"

#include <gmock/gmock.h>

namespace proxy {
namespace hop_by_hop_test {

using test::Head;
using testing::ElementsAre;
using testing::IsEmpty;

template <class Predicate>
std::vector<std::string> names(Fields fields, const Predicate& wanted) {
    std::vector<std::string> found;
    for (const auto& field : fields) {
        if (wanted(field)) found.emplace_back(field.name);
    }
    return found;
}

std::vector<std::string> stopped(const Head& head) {
    return names(head, HopByHop(head));
}

std::vector<std::string> stored(const Head& head, const CacheRules& rules = {}) {
    return names(head, StoredFields(head, rules));
}

TEST(HopByHop, StopsTheFixedList) {  // RFC 9110 §7.6.1, RFC 9111 §3.1
    EXPECT_THAT(stopped("Connection: close\nKeep-Alive: x\nProxy-Connection: x\nTE: x\n"
                        "Transfer-Encoding: chunked\nUpgrade: x\nProxy-Authenticate: x\n"
                        "Proxy-Authentication-Info: x\nProxy-Authorization: x\n"
                        "hearsay-peer: a token\nhearsay-fields: cookie=0\nTrailer: Digest"),
                testing::SizeIs(12));
}

TEST(HopByHop, LetsEverythingElsePass) {  // behaviour 11: unknown fields as well
    EXPECT_THAT(stopped("Host: a\nContent-Length: 1\nX-Foo: b\nCookie: c\nAuthorization: d\n"
                        "Trailers: e\nVia: f\nCache-Control: g\nTE2: x"),
                IsEmpty());
}

TEST(HopByHop, StopsTheFieldsThatConnectionNames) {  // RFC 9110 §7.6.1
    EXPECT_THAT(stopped("X-A: 1\nConnection: close, x-a\nx-b: 2\nX-C: 3\nconnection: ,X-B"),
                ElementsAre("X-A", "Connection", "x-b", "connection"));
}

TEST(HopByHop, PassesTheFieldsThatFrameOrAddressTheMessage) {
    EXPECT_THAT(stopped("Content-Length: 1\nHost: a\nConnection: content-length, host"),
                ElementsAre("Connection"));
}

TEST(HopByHop, ReadsKeepAlive) {  // RFC 9112 §9.3
    EXPECT_TRUE(HopByHop(Head("Connection: x, Keep-Alive")).keep_alive());
    EXPECT_FALSE(HopByHop(Head("Connection: close")).keep_alive());
    EXPECT_FALSE(HopByHop(Head("Keep-Alive: 5")).keep_alive());
}

TEST(HopByHop, RefusesMoreOptionsThanItsLimit) {
    std::string line = "Connection: close";
    for (std::size_t i = 0; i < kMaxNamedFields; ++i) line += ", x" + std::to_string(i);
    EXPECT_FALSE(HopByHop(Head(line.c_str())).too_many());
    EXPECT_FALSE(HopByHop(Head((line + ", X0").c_str())).too_many());  // already there
    EXPECT_TRUE(HopByHop(Head((line + ", more").c_str())).too_many());
}

TEST(StoredFields, LeaveOutHopByHopAndAge) {  // RFC 9111 §3.1
    EXPECT_THAT(stored("Date: x\nConnection: X-Gone\nAge: 5\nX-Gone: 1\nX-Kept: 2\nX-Two: a\n"
                       "X-Two: b\nKeep-Alive: 1"),
                ElementsAre("Date", "X-Kept", "X-Two", "X-Two"));
}

TEST(StoredFields, LeaveOutCookiesUnlessTheyMayBeStored) {
    const Head head("Date: x\nSet-Cookie: a\nset-cookie2: b\nX-Kept: 1");
    EXPECT_THAT(stored(head), ElementsAre("Date", "X-Kept"));
    EXPECT_THAT(stored(head, {.store_set_cookie = true}),
                ElementsAre("Date", "Set-Cookie", "set-cookie2", "X-Kept"));
}

TEST(StoredFields, LeaveOutFieldsOfQualifiedDirectives) {  // RFC 9111 §5.2.2.4, §5.2.2.7
    EXPECT_THAT(
        stored("Cache-Control: no-cache=\"Set-Cookie\", private=\"X-A, X-B\"\nSet-Cookie: a\n"
               "x-a: 1\nX-B: 2\nX-C: 3"),
        ElementsAre("Cache-Control", "X-C"));
}

}  // namespace hop_by_hop_test
}  // namespace proxy
