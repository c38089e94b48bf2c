#include "proxy/upstream/request_snapshot.hpp"

#include <gtest/gtest.h>

#include "proxy/http/via.hpp"
#include "proxy/upstream/peer_request_head.hpp"
#include "tests/proxy/request/request.hpp"

namespace proxy {
namespace request_snapshot_test {

using test::key_of;
using test::line;
using test::request_head;

const auto kFieldKey = protocol::field_key("0123456789abcdef0123456789abcdef");

TEST(RequestSnapshot, SendsOriginsTheHostOfTheKey) {  // else who asks first chooses for all
    const auto head = request_head("GET", "/a%2f?q", {line("Host", "H.test:80"), line("X-A", "1")});
    const RequestSnapshot snapshot(head, key_of("/a%2f?q", "H.test:80"), true);
    EXPECT_EQ(origin_request(snapshot, {}, "n", ""),
              "GET /a%2f?q HTTP/1.1\r\nHost: h.test\r\nX-A: 1\r\nVia: 1.1 n\r\n\r\n");
}

TEST(RequestSnapshot, NamesTheNodeInViaAsTheSettingSays) {
    const auto head = request_head("GET", "/a", {line("Host", "h.test"), line("Via", "1.1 x")});
    const RequestSnapshot snapshot(head, key_of("/a"), true);
    Config config;
    config.node = "n";
    const UpstreamServer server;
    UpstreamTarget origin, parent;
    parent.via = &server;
    EXPECT_EQ(name_in_via(config, origin), "n");
    config.forwarded.via = ViaMode::pseudonym;
    EXPECT_EQ(name_in_via(config, origin), via_pseudonym("n"));
    EXPECT_EQ(name_in_via(config, parent), via_pseudonym("n"));
    config.forwarded.via = ViaMode::off;
    EXPECT_EQ(name_in_via(config, origin), "");
    EXPECT_EQ(name_in_via(config, parent), "n") << "loops pass proxies";
    EXPECT_EQ(origin_request(snapshot, {}, name_in_via(config, origin), ""),
              "GET /a HTTP/1.1\r\nHost: h.test\r\nVia: 1.1 x\r\n\r\n");
}

TEST(RequestSnapshot, TakesTheHostOfAnAbsoluteTarget) {  // RFC 9112 §3.2.2
    const auto head = request_head("GET", "http://real.test/x", {line("Host", "other.test")});
    const RequestSnapshot snapshot(head, key_of("http://real.test/x", "other.test"), true);
    EXPECT_EQ(origin_request(snapshot, {}, "n", ""),
              "GET /x HTTP/1.1\r\nHost: real.test\r\nVia: 1.1 n\r\n\r\n");
}

TEST(RequestSnapshot, TurnsAHeadIntoAGet) {
    const auto head = request_head("HEAD", "/x", {line("Host", "h.test")});
    EXPECT_EQ(RequestSnapshot(head, key_of("/x"), true).method, "GET");
}

TEST(RequestSnapshot, LeavesConditionsAndHopByHopFieldsOut) {
    const auto head =
        request_head("GET", "/",
                     {line("Host", "h.test"), line("Connection", "x-hop"), line("X-Hop", "1"),
                      line("If-None-Match", "\"a\""), line("Range", "bytes=0-1"),
                      line("Expect", "100-continue"), line("Hearsay-Peer", "b token")});
    const RequestSnapshot whole(head, key_of("/"), true);
    EXPECT_EQ(whole.text, "");
    const RequestSnapshot as_is(head, key_of("/"), false);
    EXPECT_EQ(as_is.text, "If-None-Match: \"a\"\r\nRange: bytes=0-1\r\n");
}

TEST(RequestSnapshot, GivesOriginsTheTraceOfTheNode) {
    const auto head = request_head("GET", "/a", {line("Host", "h.test"), line("X-B", "2")});
    RequestSnapshot snapshot(head, key_of("/a"), true);
    snapshot.trace_lines = "tracestate: v=1\r\n";
    const auto context =
        parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    EXPECT_EQ(origin_request(snapshot, {}, "n", "X-C: 3\r\n", *context),
              "GET /a HTTP/1.1\r\nHost: h.test\r\nX-B: 2\r\nX-C: 3\r\ntraceparent: "
              "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\ntracestate: v=1\r\n"
              "Via: 1.1 n\r\n\r\n");
}

TEST(RequestSnapshot, NamesTheClientToOriginsOnly) {
    const auto head = request_head(
        "GET", "/a",
        {line("Host", "h.test"), line("X-Forwarded-For", "10.0.0.1"), line("X-B", "2"),
         line("Forwarded", "for=10.0.0.1"), line("Connection", "x-forwarded-for, forwarded")});
    const RequestSnapshot snapshot(head, key_of("/a"), true);
    EXPECT_EQ(origin_request(snapshot, {}, "n", ""),
              "GET /a HTTP/1.1\r\nHost: h.test\r\nX-B: 2\r\nX-Forwarded-For: 10.0.0.1\r\n"
              "Forwarded: for=10.0.0.1\r\nVia: 1.1 n\r\n\r\n")
        << "whatever Connection names";
    const auto to_peer = PeerRequestHead(snapshot, {}, kFieldKey, "x-forwarded-for")
                             .text("a", "t0ken", std::nullopt);
    EXPECT_EQ(to_peer.find("10.0.0.1"), std::string::npos) << to_peer;
    EXPECT_EQ(snapshot.fields.size(), 3u) << "what may be varied by";
}

}  // namespace request_snapshot_test
}  // namespace proxy
