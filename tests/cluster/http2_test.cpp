#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "tests/cluster/fixture.hpp"
#include "tests/cluster/http2_client.hpp"
#include "tests/cluster/tls_kit.hpp"

namespace proxy::test {
namespace http2_test {

using namespace std::chrono_literals;
using Lines = Http2Client::Lines;

// Error codes (RFC 9113 §7).
constexpr std::uint32_t kNoError = 0, kProtocolError = 1, kInternalError = 2, kFlowControlError = 3,
                        kFrameSizeError = 6, kRefusedStream = 7, kCompressionError = 9,
                        kEnhanceYourCalm = 11;
constexpr std::uint16_t kMaxConcurrentStreams = 3, kInitialWindow = 4;
constexpr std::uint8_t kPriorityUpdate = 0x10;  // RFC 9218 §7.1
constexpr std::string_view kPadding{"\3\0\0\0", 4};
constexpr std::uint16_t kTlsPort = 3130;

/// Sec-WebSocket-Accept for a key (RFC 6455 §4.2.2).
std::string websocket_accept(const std::string& key) {
    const auto text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char hash[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), hash, &size, EVP_sha1(), nullptr);
    unsigned char out[64];
    EVP_EncodeBlock(out, hash, static_cast<int>(size));
    return reinterpret_cast<const char*>(out);
}

/// One node that takes HTTP/2 in the clear.
class Http2 : public NodesTest {
protected:
    Node& start_node(const std::function<void(Config&)>& change = {}) {
        auto settings = config("a");
        if (change) change(settings);
        return start(std::move(settings));
    }
    static Http2Client connect(const std::string& from = {}) {
        return Http2Client(Socket::connect(address("a"), kProxyPort, from));
    }
    std::uint64_t refusals(RequestRefusal reason) const {
        return status("a").work.refusals[reason];
    }
    /// The node serves others after `client` has misbehaved.
    void expect_alive() {
        auto other = connect();
        EXPECT_EQ(other.fetch(Http2Client::get("/alive")).status, 200u);
    }
};

TEST_F(Http2, AMissAndAHitAreServed) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) {
        exchange.answer(fresh("X-Case: Kept\r\n"), "body of " + exchange.target);
    });
    auto client = connect();
    const auto& miss = client.fetch(Http2Client::get("/x"));
    EXPECT_EQ(miss.status, 200u);
    EXPECT_EQ(miss.body, "body of /x");
    EXPECT_EQ(miss.field("x-case"), "Kept");
    EXPECT_EQ(miss.field("content-length"), "10");
    EXPECT_EQ(miss.field("connection"), "");
    const auto& hit = client.fetch(Http2Client::get("/x"));
    EXPECT_EQ(hit.body, "body of /x");
    EXPECT_TRUE(contains(hit.field("cache-status"), "hit"));
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::local_hit) == 1; }));
    EXPECT_TRUE(contains(origin.heads().at(0), "Via: 2.0 a"));
    // HTTP/1.1 finds the same object under the same key.
    EXPECT_TRUE(contains(get("a", "/x").cache_status(), "hit"));
}

TEST_F(Http2, HeadAndConditionAndRangeHaveTheirMeaning) {
    start_node();
    const auto scripted =
        origin.set([](auto& exchange) { exchange.answer(fresh("ETag: \"1\"\r\n"), "0123456789"); });
    auto client = connect();
    client.fetch(Http2Client::get("/x"));
    const auto& head = client.fetch(Http2Client::lines("HEAD", "/x"));
    EXPECT_EQ(head.status, 200u);
    EXPECT_EQ(head.field("content-length"), "10");
    EXPECT_EQ(head.body, "");
    const auto& same = client.fetch(Http2Client::get("/x", {{"if-none-match", "\"1\""}}));
    EXPECT_EQ(same.status, 304u);
    EXPECT_EQ(same.body, "");
    const auto& part = client.fetch(Http2Client::get("/x", {{"range", "bytes=2-4"}}));
    EXPECT_EQ(part.status, 206u);
    EXPECT_EQ(part.body, "234");
    EXPECT_EQ(part.field("content-range"), "bytes 2-4/10");
}

TEST_F(Http2, HitsOfManyStreamsAreCountedOnceEach) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) {
        const auto large = exchange.target == "/large";
        exchange.answer(fresh(), large ? std::string(100'000, 'x') : exchange.target);
    });
    auto client = connect();
    client.fetch(Http2Client::get("/small"));
    client.fetch(Http2Client::get("/large"));
    constexpr int kPairs = 20;
    std::vector<std::int32_t> small, large, head;
    for (int i = 0; i < kPairs; ++i) {
        small.push_back(client.begin(Http2Client::get("/small")));
        large.push_back(client.begin(Http2Client::get("/large")));
        head.push_back(client.begin(Http2Client::lines("HEAD", "/small")));
    }
    for (int i = 0; i < kPairs; ++i) {
        EXPECT_EQ(client.response(small[i]).body, "/small");
        EXPECT_TRUE(contains(client.response(small[i]).field("cache-status"), "hit"));
        EXPECT_EQ(client.response(large[i]).body.size(), 100'000u);
        EXPECT_EQ(client.response(head[i]).field("content-length"), "6");
        EXPECT_EQ(client.response(head[i]).body, "");
    }
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::local_hit) == 3 * kPairs; }));
    EXPECT_EQ(origin.heads().size(), 2u);
}

TEST_F(Http2, AStoredResponseThatMayNotServeIsFetchedAgain) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) {
        const auto varies = exchange.target == "/vary";
        exchange.answer(varies ? fresh("Vary: X-Kind\r\n") : "Cache-Control: max-age=0\r\n",
                        "text");
    });
    auto client = connect();
    for (const auto* kind : {"one", "two", "one"})
        EXPECT_EQ(client.fetch(Http2Client::get("/vary", {{"x-kind", kind}})).body, "text");
    EXPECT_EQ(origin.heads().size(), 2u);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(client.fetch(Http2Client::get("/stale")).body, "text");
    EXPECT_EQ(origin.heads().size(), 4u);
    const auto& reload = client.fetch(Http2Client::get("/vary", {{"cache-control", "no-cache"}}));
    EXPECT_EQ(reload.body, "text");
    EXPECT_EQ(origin.heads().size(), 5u);
}

TEST_F(Http2, AResponseHeadOfManyLinesPasses) {
    start_node([](Config& settings) { settings.limits.head = 200 * 1024; });
    std::string lines;
    for (int i = 0; i < 150; ++i)
        lines.append("X-Line-" + std::to_string(i) + ": " + std::string(600, 'x') + "\r\n");
    const auto scripted = origin.set([&](auto& exchange) { exchange.answer(fresh(lines), "ok"); });
    auto client = connect();
    for (int i = 0; i < 2; ++i) {
        const auto& answer = client.fetch(Http2Client::get("/x"));
        EXPECT_EQ(answer.status, 200u);
        EXPECT_EQ(answer.body, "ok");
        EXPECT_EQ(answer.field("x-line-149").size(), 600u);
    }
}

TEST_F(Http2, AGetWhoseEndComesLaterIsServedByTheCache) {  // RFC 9113 §8.1
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer(fresh(), "ok"); });
    auto client = connect();
    for (int i = 0; i < 2; ++i) {
        const auto stream = client.begin(Http2Client::get("/x"), false);
        client.send_data(stream, "", true);
        EXPECT_EQ(client.response(stream).body, "ok");
    }
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::local_hit) == 1; }));
    ASSERT_EQ(origin.heads().size(), 1u);
    EXPECT_FALSE(contains(origin.heads().front(), "Transfer-Encoding"));
}

TEST_F(Http2, AGetWithContentOrWithoutAnEndReachesTheOrigin) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer(fresh(), "ok"); });
    auto client = connect();
    const auto with_content = client.begin(Http2Client::get("/x"), false);
    client.send_data(with_content, "content", true);
    EXPECT_EQ(client.response(with_content).body, "ok");
    EXPECT_TRUE(contains(origin.heads().front(), "Transfer-Encoding: chunked"));
    std::atomic<int> begun = 0;
    origin.before_body([&](auto&) { ++begun; });
    const auto open = client.begin(Http2Client::get("/y"), false);
    EXPECT_TRUE(eventually([&] { return begun == 1; }));
    client.send_data(open, "", true);
    EXPECT_EQ(client.response(open).body, "ok");
}

TEST_F(Http2, AResetEndsTheWaitForTheEndOfAGet) {
    start_node();
    auto client = connect();
    const auto stream = client.begin(Http2Client::get("/x"), false);
    client.send_reset(stream, 8);
    EXPECT_EQ(client.fetch(Http2Client::get("/y")).status, 200u);
    expect_alive();
}

TEST_F(Http2, AnUploadOfShortLinesGoesOn) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) {
        EXPECT_GE(exchange.body.size(), 1'200'000u);
        exchange.answer({}, "ok");
    });
    auto client = connect();
    const auto stream = client.begin(Http2Client::lines("POST", "/x"), false);
    std::string line("\0\0\x14\0\0\0\0\0\1", 9), many;
    line.append(20, 'x');
    for (int i = 0; i < 1'000; ++i) many.append(line);
    for (int i = 0; i < 60; ++i) {
        while (client.windows[stream] + 65'535 < 20'000u * (i + 1) && client.read_frame()) continue;
        ASSERT_TRUE(client.send(many)) << i;
    }
    client.send_data(stream, "", true);
    EXPECT_EQ(client.response(stream).body, "ok");
}

TEST_F(Http2, StreamsAreServedAtTheSameTime) {
    start_node();
    Gate gate;
    const auto scripted = origin.set([&](auto& exchange) {
        if (exchange.target == "/slow") gate.wait();
        exchange.answer(fresh(), exchange.target);
    });
    auto client = connect();
    const auto slow = client.begin(Http2Client::get("/slow"));
    EXPECT_EQ(client.fetch(Http2Client::get("/quick")).body, "/quick");
    EXPECT_FALSE(client.streams[slow].ended);
    gate.open();
    EXPECT_EQ(client.response(slow).body, "/slow");
}

TEST_F(Http2, ALargeBodyComesWholeThroughSmallWindows) {
    start_node();
    const std::string large(3 << 20, 'x');
    const auto scripted =
        origin.set([&](auto& exchange) { exchange.answer(fresh(), large + exchange.target); });
    auto client = connect();
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).body, large + "/x");
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).body, large + "/x");
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::local_hit) == 1; }));
}

TEST_F(Http2, AStreamWithAShutWindowHoldsNoOtherUp) {  // RFC 9113 §5.2
    start_node();
    const std::string large(1 << 20, 'x');
    const auto scripted = origin.set([&](auto& exchange) { exchange.answer(fresh(), large); });
    auto client = connect();
    client.opens_windows = false;
    client.send_window_update(0, 16 << 20);
    const auto stuck = client.begin(Http2Client::get("/stuck"));
    client.read_body(stuck, 65'535);
    EXPECT_EQ(client.streams[stuck].body.size(), 65'535u);
    client.opens_windows = true;
    EXPECT_EQ(client.fetch(Http2Client::get("/other")).body, large);
    EXPECT_EQ(client.streams[stuck].body.size(), 65'535u);
    client.send_window_update(stuck, 16 << 20);
    EXPECT_EQ(client.response(stuck).body, large);
}

TEST_F(Http2, AnUrgentResponseGoesFirst) {  // RFC 9218 §10
    start_node();
    const auto scripted = origin.set(
        [](auto& exchange) { exchange.answer(fresh(), std::string(60'000, exchange.target[1])); });
    auto client = connect();
    for (const auto* path : {"/low", "/high", "/more"}) client.fetch(Http2Client::get(path));
    client.opens_windows = false;
    std::size_t window = 65'535;  // of the connection; the fetches have opened it again
    const auto filler = client.begin(Http2Client::get("/more"));
    client.read_body(filler, 60'000);
    window -= 60'000;
    const auto low = client.begin(Http2Client::get("/low", {{"priority", "u=7"}}));
    const auto high = client.begin(Http2Client::get("/high", {{"priority", "u=0"}}));
    while (client.streams[high].status == 0 && client.read_frame()) continue;
    const auto before = client.streams[low].body.size();
    EXPECT_LE(before, window);
    client.send_window_update(0, 40'000);
    client.read_body(high, 40'000 - window);
    EXPECT_EQ(client.streams[low].body.size(), before);
    client.send_window_update(0, 1 << 20);
    EXPECT_EQ(client.response(high).body, std::string(60'000, 'h'));
    EXPECT_EQ(client.response(low).body, std::string(60'000, 'l'));
}

TEST_F(Http2, AnUploadReachesTheOriginWhole) {
    start_node();
    std::string seen, framing;
    const auto scripted = origin.set([&](auto& exchange) {
        seen = exchange.body;
        framing = exchange.field("Content-Length") + exchange.field("Transfer-Encoding");
        exchange.answer({}, "taken");
    });
    auto client = connect();
    const std::string body(300'000, 'u');
    auto stream =
        client.begin(Http2Client::lines("POST", "/up", {{"content-length", "300000"}}), false);
    client.read_until(Http2Client::kSettings);
    EXPECT_EQ(client.settings[kInitialWindow], 65'535u);  // a smaller one would shrink the default
    EXPECT_TRUE(client.send_body(stream, body));
    EXPECT_EQ(client.response(stream).body, "taken");
    EXPECT_EQ(seen, body);
    EXPECT_EQ(framing, "300000");

    stream = client.begin(Http2Client::lines("PUT", "/up"), false);
    client.send_data(stream, "open ", false);
    client.send_data(stream, "length", true);
    EXPECT_EQ(client.response(stream).status, 200u);
    // The node may send the two pieces as one chunk.
    EXPECT_TRUE(seen == "b\r\nopen length\r\n0\r\n\r\n" ||
                seen == "5\r\nopen \r\n6\r\nlength\r\n0\r\n\r\n")
        << seen;
    EXPECT_EQ(framing, "chunked");

    EXPECT_EQ(client.fetch(Http2Client::lines("POST", "/up")).status, 200u);
    EXPECT_EQ(framing, "0");
}

TEST_F(Http2, AClientMaySendTheDefaultWindowBeforeItReadsTheSettings) {  // RFC 9113 §6.9.2
    start_node();
    const auto scripted = origin.set(
        [](auto& exchange) { exchange.answer({}, std::to_string(exchange.body.size())); });
    auto client = connect();
    const auto stream = client.begin(Http2Client::lines("POST", "/up"), false);
    EXPECT_TRUE(client.send_body(stream, std::string(65'535, 'u')));
    EXPECT_EQ(client.response(stream).status, 200u);
}

TEST_F(Http2, AnUploadGoesOnAfterAnEarlySuccess) {
    start_node();
    Gate stalled;
    std::atomic<std::size_t> seen{0};
    const auto scripted = origin.set([&](auto& exchange) { seen = exchange.body.size(); });
    origin.before_body([&](auto& exchange) {
        stalled.wait();  // the node waits to send more
        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
    const std::string body(16 << 20, 'u');  // more than sockets hold
    auto client = connect();
    const auto stream = client.begin(
        Http2Client::lines("POST", "/up", {{"content-length", std::to_string(body.size())}}),
        false);
    EXPECT_TRUE(client.send_body(stream, body, [&] { stalled.open(); }));
    EXPECT_EQ(client.response(stream).body, "ok");
    EXPECT_TRUE(client.streams[stream].ended);
    EXPECT_TRUE(eventually([&] { return seen == body.size(); }));
}

TEST_F(Http2, ALargeRelayedResponseLeavesTheOriginsConnectionInUse) {
    start_node();
    const auto scripted =
        origin.set([](auto& exchange) { exchange.answer({}, std::string(100'000, 'x')); });
    auto client = connect();
    for (unsigned i = 1; i <= 5; ++i) {
        const auto& answer = client.fetch(Http2Client::lines("POST", "/x"));
        EXPECT_EQ(answer.body.size(), 100'000u);
        // The client may have the end before the node has put the connection back.
        ASSERT_TRUE(eventually([&] { return status("a").work.total() == i; }));
    }
    EXPECT_EQ(origin.connections(), 1u);
}

/// Answers before it has read a body, and closes.
void refuse_early(Exchange& exchange) {
    exchange.answer("Connection: close\r\n", "too large", "413 Content Too Large");
    exchange.keep = false;
}

TEST_F(Http2, AnOriginMayAnswerBeforeTheBodyHasCome) {  // RFC 9113 §8.1
    start_node();
    const auto scripted = origin.set([](auto&) {});
    origin.before_body(refuse_early);
    auto client = connect();
    const auto stream =
        client.begin(Http2Client::lines("POST", "/up", {{"content-length", "10000"}}), false);
    client.send_data(stream, "a part", false);
    EXPECT_EQ(client.response(stream).status, 413u);
    // The client sends no more, and is told that nobody waits for it.
    while (!client.streams[stream].reset && client.read_frame()) continue;
    EXPECT_EQ(client.streams[stream].reset, kNoError);
}

TEST_F(Http2, AClientThatSendsItsBodyAfterAnEarlyAnswerSeesNoReset) {
    start_node();
    const auto scripted = origin.set([](auto&) {});
    origin.before_body(refuse_early);
    auto client = connect();
    for (const std::size_t size : {1'000u, 1'000'000u}) {
        const auto stream = client.begin(
            Http2Client::lines("POST", "/up", {{"content-length", std::to_string(size)}}), false);
        EXPECT_EQ(client.response(stream).status, 413u);
        EXPECT_EQ(client.response(stream).body, "too large");
        EXPECT_TRUE(client.send_body(stream, std::string(size, 'u')));
        client.send_frame(Http2Client::kPing, 0, 0, "12345678");
        ASSERT_TRUE(client.read_until(Http2Client::kPing));
        EXPECT_FALSE(client.streams[stream].reset) << size;
    }
}

TEST_F(Http2, ASmallBodyWithAnEarlyAnswerCausesNoReset) {
    start_node();
    const auto scripted = origin.set([](auto&) {});
    origin.before_body(refuse_early);
    auto client = connect();
    for (int i = 0; i < 20; ++i) {
        const auto stream = client.begin(Http2Client::lines("POST", "/up"), false);
        client.send_data(stream, std::string(1000, 'u'), true);
        client.response(stream);
        client.send_frame(Http2Client::kPing, 0, 0, "12345678");
        ASSERT_TRUE(client.read_until(Http2Client::kPing));
        EXPECT_TRUE(client.streams[stream].ended);
        EXPECT_FALSE(client.streams[stream].reset);
    }
}

TEST_F(Http2, InterimResponsesPass) {  // RFC 9113 §8.1
    start_node();
    const auto scripted = origin.set([](auto& exchange) {
        exchange.send("HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n");
        exchange.answer({}, "done");
    });
    auto client = connect();
    const auto stream = client.begin(
        Http2Client::lines("POST", "/x", {{"expect", "100-continue"}, {"content-length", "2"}}),
        false);
    while (client.streams[stream].interims.empty() && client.read_frame()) continue;
    client.send_data(stream, "ab", true);
    EXPECT_EQ(client.response(stream).body, "done");
    EXPECT_EQ(client.streams[stream].interims, (std::vector<unsigned>{100, 103}));
}

TEST_F(Http2, ABodyThatBreaksOffResetsItsStreamAlone) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) {
        if (exchange.target != "/short") return exchange.answer(fresh(), "whole");
        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this");
        exchange.keep = false;
    });
    auto client = connect();
    const auto& cut = client.fetch(Http2Client::get("/short"));
    EXPECT_FALSE(cut.ended);
    EXPECT_TRUE(cut.reset);
    EXPECT_EQ(client.fetch(Http2Client::get("/other")).body, "whole");
}

TEST_F(Http2, MalformedRequestsResetTheirStreamsAlone) {  // RFC 9113 §8.1.1
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer(fresh(), "ok"); });
    auto client = connect();
    const auto with = [](Lines more) { return Http2Client::get("/x", more); };
    const std::vector<Lines> malformed{
        with({{"X-Upper", "1"}}),
        with({{"connection", "close"}}),
        with({{"transfer-encoding", "chunked"}}),
        with({{"te", "gzip"}}),
        with({{"x", "a\r\ninjected: 1"}}),
        with({{"x", std::string("a\0b", 3)}}),
        with({{":status", "200"}}),
        with({{"x", "1"}, {":path", "/y"}}),
        with({{"host", "elsewhere.test"}}),
        with({{"content-length", "x"}}),
        Http2Client::get("/a b"),
        Http2Client::get("no-slash"),
        Http2Client::get(""),
        Http2Client::lines("G T", "/x"),
        {{":method", "GET"}, {":path", "/x"}, {":authority", "origin.test"}},
        {{":method", "GET"}, {":scheme", "http"}, {":path", "/x"}},
        {{":method", "GET"}, {":scheme", "ftp"}, {":authority", "origin.test"}, {":path", "/x"}},
    };
    for (std::size_t i = 0; i < malformed.size(); ++i) {
        const auto& answer = client.fetch(malformed[i]);
        EXPECT_TRUE(answer.reset == kProtocolError || answer.status == 400)
            << i << ' ' << answer.status;
        EXPECT_FALSE(client.goaway) << i;
    }
    EXPECT_EQ(origin.requests(), 0u);
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).status, 200u);
}

TEST_F(Http2, AContentLengthThatDisagreesWithTheDataIsAnError) {  // RFC 9113 §8.1.1
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    auto stream = client.begin(Http2Client::lines("POST", "/x", {{"content-length", "5"}}), false);
    client.send_data(stream, "0123456789", true);
    EXPECT_EQ(client.response(stream).reset, kProtocolError);
    stream = client.begin(Http2Client::lines("POST", "/x", {{"content-length", "5"}}), false);
    client.send_data(stream, "012", true);
    EXPECT_EQ(client.response(stream).reset, kProtocolError);
    stream = client.begin(Http2Client::lines("POST", "/x", {{"content-length", "5"}}), true);
    EXPECT_EQ(client.response(stream).reset, kProtocolError);
    expect_alive();
}

TEST_F(Http2, AHeadBeyondTheLimitsIsRefused) {
    start_node([](Config& settings) { settings.limits.head = 4096; });
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    EXPECT_EQ(client.fetch(Http2Client::get("/x", {{"x", std::string(5000, 'x')}})).status, 431u);
    EXPECT_EQ(client.fetch(Http2Client::get("/" + std::string(17'000, 'x'))).status, 414u);
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).status, 200u);
}

TEST_F(Http2, ErrorsOfTheConnectionEndItWithAReason) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer(fresh(), "ok"); });
    using Act = std::function<void(Http2Client&)>;
    const std::string eight(8, '\0');
    const std::vector<std::pair<std::uint32_t, Act>> faults{
        // RFC 9113 §4.2: a frame above SETTINGS_MAX_FRAME_SIZE
        {kFrameSizeError, [](auto& c) { c.send_frame(Http2Client::kPing, 0, 0, "1"); }},
        {kFrameSizeError, [](auto& c) { c.send_frame(Http2Client::kSettings, 0, 0, "12345"); }},
        {kFrameSizeError,
         [](auto& c) { c.send_frame(Http2Client::kSettings, Http2Client::kAck, 0, "123456"); }},
        // §5.1: DATA on an idle stream
        {kProtocolError, [](auto& c) { c.send_data(1, "x", true); }},
        // §5.1.1: an even number, and one that is too low
        {kProtocolError,
         [](auto& c) {
             c.next_stream = 2;
             c.begin(Http2Client::get("/x"));
         }},
        // §6.2: HEADERS on stream 0
        {kProtocolError,
         [](auto& c) {
             c.send_frame(Http2Client::kHeaders, Http2Client::kEndHeaders, 0,
                          c.encode(Http2Client::get("/x")));
         }},
        // §6.2: another frame between HEADERS and CONTINUATION
        {kProtocolError,
         [=](auto& c) {
             c.send_frame(Http2Client::kHeaders, 0, 1, c.encode(Http2Client::get("/x")));
             c.send_frame(Http2Client::kPing, 0, 0, eight);
         }},
        // §4.3: a block that HPACK cannot decode
        {kCompressionError,
         [](auto& c) {
             c.send_frame(Http2Client::kHeaders, Http2Client::kEndHeaders, 1,
                          "\xff\xff\xff\xff\xff");
         }},
        // §6.5.2: values out of range
        {kProtocolError,
         [](auto& c) {
             c.send_frame(Http2Client::kSettings, 0, 0, std::string("\0\2\0\0\0\2", 6));
         }},
        {kFlowControlError,
         [](auto& c) {
             c.send_frame(Http2Client::kSettings, 0, 0, std::string("\0\4\xff\xff\xff\xff", 6));
         }},
        // §6.6: a client pushes nothing
        {kProtocolError,
         [](auto& c) {
             c.send_frame(Http2Client::kPush, Http2Client::kEndHeaders, 1, std::string(4, '\0'));
         }},
        // §6.9: a window of nothing, and one beyond 2^31-1
        {kProtocolError, [](auto& c) { c.send_window_update(0, 0); }},
        {kFlowControlError, [](auto& c) { c.send_window_update(0, 0x7fffffff); }},
        // §6.10: CONTINUATION without HEADERS
        {kProtocolError, [](auto& c) { c.send_frame(Http2Client::kContinuation, 0, 1, "x"); }},
        // §6.1: padding that exceeds its frame
        {kProtocolError,
         [](auto& c) {
             c.begin(Http2Client::lines("POST", "/x"), false);
             c.send_frame(Http2Client::kData, Http2Client::kPadded, 1,
                          "\xff"
                          "a");
         }},
    };
    for (std::size_t i = 0; i < faults.size(); ++i) {
        auto client = connect();
        faults[i].second(client);
        EXPECT_TRUE(client.read_to_end()) << i;
        EXPECT_EQ(client.goaway, faults[i].first) << i;
        EXPECT_EQ(refusals(RequestRefusal::malformed), i + 1);
    }
    expect_alive();
}

TEST_F(Http2, APrefaceThatIsNoneIsNotAnswered) {  // RFC 9113 §3.4
    start_node();
    Http2Client client(Socket::connect(address("a"), kProxyPort), false);
    client.send("PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n");
    EXPECT_TRUE(client.read_to_end());
}

TEST_F(Http2, UnknownFramesAndSettingsAreIgnored) {  // RFC 9113 §4.1, §6.5.2
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    client.send_frame(0xee, 0xff, 0, "whatever");
    client.send_frame(Http2Client::kSettings, 0, 0, std::string("\xab\xcd\0\0\0\1", 6));
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).body, "ok");
}

TEST_F(Http2, MoreStreamsThanAllowedAreRefused) {  // RFC 9113 §5.1.2
    start_node([](Config& settings) { settings.protocols.http2.streams = 3; });
    Gate gate;
    const auto scripted = origin.set([&](auto& exchange) {
        gate.wait();
        exchange.answer({}, "ok");
    });
    auto client = connect();
    std::vector<std::int32_t> served;
    for (int i = 0; i < 3; ++i)
        served.push_back(client.begin(Http2Client::get("/" + std::to_string(i))));
    EXPECT_EQ(client.fetch(Http2Client::get("/more")).reset, kRefusedStream);
    EXPECT_EQ(client.settings[kMaxConcurrentStreams], 3u);
    gate.open();
    for (const auto stream : served) EXPECT_EQ(client.response(stream).body, "ok");
    EXPECT_EQ(client.fetch(Http2Client::get("/more")).body, "ok");
}

TEST_F(Http2, ARapidResetCostsTheConnectionOnly) {  // CVE-2023-44487
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    for (int i = 0; i < 5'000; ++i) {
        const auto stream = client.begin(Http2Client::get("/" + std::to_string(i)));
        client.send_reset(stream, 8);
    }
    EXPECT_TRUE(client.read_to_end());
    EXPECT_EQ(client.goaway, kEnhanceYourCalm);
    EXPECT_LT(origin.requests(), 2'500u);
    EXPECT_EQ(refusals(RequestRefusal::http2_flood), 1u);
    expect_alive();
}

TEST_F(Http2, ResetsThatTheClientBringsAboutCountAsWell) {  // CVE-2025-8671
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    for (int i = 0; i < 5'000; ++i) {
        const auto stream = client.begin(Http2Client::get("/" + std::to_string(i)));
        client.send_window_update(stream, 0x7fffffff);
    }
    EXPECT_TRUE(client.read_to_end());
    EXPECT_EQ(client.goaway, kEnhanceYourCalm);
    expect_alive();
}

TEST_F(Http2, FloodsOfFramesCostTheConnectionOnly) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer(fresh(), "ok"); });
    const std::string eight(8, '\0'), five("\0\0\0\0\1", 5);
    using Act = std::function<void(Http2Client&)>;
    const std::vector<Act> floods{
        [](auto& c) { c.send_frame(Http2Client::kSettings, 0, 0, {}); },
        [&](auto& c) { c.send_frame(Http2Client::kPing, 0, 0, eight); },
        [&](auto& c) { c.send_frame(Http2Client::kPriority, 0, 3, five); },
        [](auto& c) { c.send_window_update(0, 1); },
        [](auto& c) { c.send_data(1, {}, false); },
        [](auto& c) { c.send_frame(Http2Client::kData, Http2Client::kPadded, 1, kPadding); },
        [](auto& c) { c.send_frame(0xee, 0, 0, "unknown"); },
        [](auto& c) {
            c.send_frame(kPriorityUpdate, 0, 0, {"\0\0\0\1u=1", 7});
        },
    };
    for (std::size_t i = 0; i < floods.size(); ++i) {
        auto client = connect();
        client.begin(Http2Client::lines("POST", "/x"), false);
        for (int n = 0; n < 3'000; ++n) floods[i](client);
        EXPECT_TRUE(client.read_to_end()) << i;
        EXPECT_EQ(client.goaway, kEnhanceYourCalm) << i;
    }
    EXPECT_GE(refusals(RequestRefusal::http2_flood), floods.size());
    expect_alive();
}

TEST_F(Http2, AFloodOfSingleBytesCostsTheConnectionOnly) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    const auto stream = client.begin(Http2Client::lines("POST", "/x"), false);
    std::string many;
    for (int i = 0; i < 1'000; ++i) many.append({"\0\0\1\0\0\0\0\0\1x", 10});
    for (int i = 0; i < 65 && client.send(many); ++i) continue;
    EXPECT_TRUE(client.read_to_end());
    EXPECT_EQ(client.goaway, kEnhanceYourCalm);
    EXPECT_EQ(stream, 1);
    expect_alive();
}

TEST_F(Http2, AFloodOfContinuationsCostsTheConnectionOnly) {  // CVE-2024-28182
    start_node();
    auto client = connect();
    client.send_frame(Http2Client::kHeaders, 0, 1, client.encode(Http2Client::get("/x")));
    for (int i = 0; i < 1'000; ++i)
        client.send_frame(Http2Client::kContinuation, 0, 1, client.encode({{"x", "y"}}));
    EXPECT_TRUE(client.read_to_end());
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    expect_alive();
}

TEST_F(Http2, AnExpandingHeadHoldsNoMoreThanTheLimit) {
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    client.begin(Http2Client::get("/x", {{"x", std::string(3'000, 'x')}}));
    // The line stands in the dynamic table by now: one byte names it.
    auto block = client.encode(Http2Client::get("/y"));
    block.append(std::string(12'000, '\xbe'));
    const auto stream = std::exchange(client.next_stream, client.next_stream + 2);
    client.send_frame(Http2Client::kHeaders, Http2Client::kEndHeaders | Http2Client::kEndStream,
                      stream, block);
    EXPECT_EQ(client.response(stream).status, 431u);
    expect_alive();
}

TEST_F(Http2, AHalfSentHeadHasADeadline) {
    start_node([](Config& settings) { settings.timeouts.client_head = 200ms; });
    auto client = connect();
    client.send_frame(Http2Client::kHeaders, 0, 1, client.encode(Http2Client::get("/x")));
    EXPECT_TRUE(client.read_to_end());
}

TEST_F(Http2, AMalformedHeadLeavesOtherStreamsTheirTime) {
    start_node([](Config& settings) { settings.timeouts.client_head = 200ms; });
    Gate gate;
    const auto scripted = origin.set([&](auto& exchange) {
        gate.wait();
        exchange.answer({}, "late");
    });
    auto client = connect();
    const auto slow = client.begin(Http2Client::get("/slow"));
    ASSERT_TRUE(gate.wait_for(1));
    const auto bad = client.begin(Http2Client::get("/bad", {{"Upper", "case"}}));
    EXPECT_TRUE(client.response(bad).reset);
    auto later = connect();
    later.send_frame(Http2Client::kHeaders, 0, 1, later.encode(Http2Client::get("/x")));
    EXPECT_TRUE(later.read_to_end()) << "a head that began later has had its time";
    gate.open();
    EXPECT_EQ(client.response(slow).body, "late");
}

TEST_F(Http2, AnIdleConnectionEndsWithGoaway) {
    start_node([](Config& settings) { settings.timeouts.keep_alive = 200ms; });
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    const auto stream = client.begin(Http2Client::get("/x"));
    client.response(stream);
    EXPECT_TRUE(client.read_to_end());
    EXPECT_EQ(client.goaway, kNoError);
    EXPECT_EQ(client.last_stream, stream);
}

TEST_F(Http2, APostWhoseLengthOfNothingIsWrongDoesNotReachTheOrigin) {  // RFC 9113 §8.1.1
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    const auto wrong =
        client.begin(Http2Client::lines("POST", "/up", {{"content-length", "0"}}), false);
    client.send_data(wrong, "bytes", true);
    EXPECT_EQ(client.response(wrong).reset, kProtocolError);
    // One without any byte is a request, also if its end comes apart.
    const auto empty =
        client.begin(Http2Client::lines("POST", "/up", {{"content-length", "0"}}), false);
    client.send_data(empty, "", true);
    EXPECT_EQ(client.response(empty).status, 200u);
    EXPECT_EQ(origin.requests(), 1u);
}

TEST_F(Http2, ARequestThatComesWithThePrefaceIsNoIdleConnection) {
    start_node([](Config& settings) { settings.timeouts.keep_alive = 200ms; });
    const auto scripted = origin.set([](auto& exchange) {
        std::this_thread::sleep_for(700ms);  // longer than the connection may be idle
        exchange.answer({}, "late");
    });
    Http2Client client(Socket::connect(address("a"), kProxyPort, {}), false);
    const auto head = client.encode(Http2Client::get("/x"));
    // Preface, an empty SETTINGS frame, and the request in HEADERS with END_STREAM and END_HEADERS.
    std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    bytes.append("\0\0\0\4\0\0\0\0\0", 9).append("\0\0", 2);
    bytes.push_back(static_cast<char>(head.size()));
    bytes.append("\1\5\0\0\0\1", 6).append(head);
    ASSERT_TRUE(client.send(bytes));
    EXPECT_EQ(client.response(1).body, "late");
}

TEST_F(Http2, AClientThatTakesNothingIsLeft) {
    start_node([](Config& settings) { settings.timeouts.body_idle = 300ms; });
    const std::string large(1 << 20, 'x');
    const auto scripted = origin.set([&](auto& exchange) { exchange.answer(fresh(), large); });
    auto client = connect();
    client.opens_windows = false;
    const auto stuck = client.begin(Http2Client::get("/x"));
    const auto small = client.begin(Http2Client::get("/x"));
    // An end without an error would pass for the whole body.
    EXPECT_EQ(client.response(stuck).reset, kInternalError);
    EXPECT_FALSE(client.response(stuck).ended);
    EXPECT_EQ(client.response(small).reset, kInternalError);
    EXPECT_FALSE(client.response(small).ended);
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::origin_fetch) == 1; }));
}

TEST_F(Http2, AClientThatGivesNothingIsLeft) {
    start_node([](Config& settings) { settings.timeouts.body_idle = 300ms; });
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    const auto stream =
        client.begin(Http2Client::lines("POST", "/x", {{"content-length", "10"}}), false);
    EXPECT_TRUE(client.response(stream).reset);
}

TEST_F(Http2, AResetEndsTheWaitForTheOrigin) {
    start_node();
    Gate gate;
    const auto scripted = origin.set([&](auto& exchange) {
        gate.wait();
        exchange.answer({}, "late");
    });
    auto client = connect();
    const auto stream = client.begin(Http2Client::lines("POST", "/x"));
    ASSERT_TRUE(gate.wait_for(1));
    client.send_reset(stream, 8);
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::error) == 1; }));
    gate.open();
}

TEST_F(Http2, AConnectBecomesATunnelOfOneStream) {  // RFC 9113 §8.5
    start_node([&](Config& settings) {
        settings.forward.enabled = true;
        settings.forward.private_destinations = Destinations::allow;
        settings.forward.connect_ports = {origin.port()};
    });
    const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "ok"); });
    auto client = connect();
    const auto target = origin_authority();
    const auto tunnel = client.begin({{":method", "CONNECT"}, {":authority", target}}, false);
    while (client.streams[tunnel].status == 0 && client.read_frame()) continue;
    ASSERT_EQ(client.streams[tunnel].status, 200u);
    EXPECT_EQ(client.streams[tunnel].field("cache-status"), "");
    client.send_data(tunnel, "GET /through HTTP/1.1\r\nHost: x\r\n\r\n", false);
    while (!contains(client.streams[tunnel].body, "\r\n\r\nok") && client.read_frame()) continue;
    EXPECT_TRUE(contains(client.streams[tunnel].body, "200 OK"));
    // Other streams go on beside it.
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).body, "ok");
    client.send_data(tunnel, {}, true);
    EXPECT_TRUE(client.response(tunnel).ended);
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::uncacheable) == 1; }));
}

TEST_F(Http2, AConnectThatIsNotAllowedIsRefused) {
    start_node();
    auto client = connect();
    const auto& refused = client.fetch({{":method", "CONNECT"}, {":authority", "127.0.0.1:1"}});
    EXPECT_EQ(refused.status, 403u);
    const auto& none = client.fetch(
        {{":method", "CONNECT"}, {":authority", "127.0.0.1:1"}, {"content-length", "0"}});
    EXPECT_EQ(none.status, 403u) << "as without a length";
}

TEST_F(Http2, AnExtendedConnectHasNoContent) {  // RFC 8441 §4
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer(fresh(), "page"); });
    auto client = connect();
    const auto ask = [&](const char* protocol, const Lines& more) {
        Lines lines{{":method", "CONNECT"},
                    {":protocol", protocol},
                    {":scheme", "http"},
                    {":path", "/x"},
                    {":authority", "origin.test"}};
        lines.insert(lines.end(), more.begin(), more.end());
        const auto stream = client.begin(lines, false);
        client.read_body(stream, 1);
        return client.streams[stream].status;
    };
    // A length would make an origin wait for content, and take the next request for it.
    EXPECT_EQ(ask("websocket", {{"content-length", "60"}}), 400u);
    EXPECT_TRUE(origin.heads().empty());
    EXPECT_EQ(ask("websocket", {}), 502u);  // the origin has not switched
    ASSERT_EQ(origin.heads().size(), 1u);
    EXPECT_FALSE(contains(origin.heads().front(), "Content-Length"));
}

TEST_F(Http2, AnUnknownProtocolIsNoOrdinaryRequest) {  // RFC 8441 §4: a success opens a tunnel
    start_node();
    const auto scripted = origin.set([](auto& exchange) { exchange.answer(fresh(), "page"); });
    auto client = connect();
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).body, "page");
    for (const auto* protocol : {"connect-udp", "foo"}) {
        const auto& refused = client.fetch({{":method", "CONNECT"},
                                            {":protocol", protocol},
                                            {":scheme", "http"},
                                            {":path", "/x"},
                                            {":authority", "origin.test"}});
        EXPECT_EQ(refused.status, 501u);
    }
    EXPECT_EQ(origin.heads().size(), 1u);
}

TEST_F(Http2, LargeHeadsAreChargedToTheWindows) {
    start_node([](Config& settings) { settings.limits.body_windows = 1 << 20; });
    Gate gate;
    const auto scripted = origin.set([&](auto& exchange) {
        gate.wait();
        exchange.answer({}, "ok");
    });
    auto client = connect();
    const Lines large{{"cache-control", "no-store"}, {"x-large", std::string(12'000, 'x')}};
    std::vector<std::int32_t> streams;
    for (int i = 0; i < 60; ++i) streams.push_back(client.begin(Http2Client::get("/x", large)));
    const auto small = client.begin(Http2Client::get("/small"));
    for (const auto stream : streams)
        while (stream > streams[20] && !client.streams[stream].ended &&
               !client.streams[stream].reset && client.read_frame())
            continue;
    gate.open();
    auto refused = 0, served = 0;
    for (const auto stream : streams) {
        const auto& answer = client.response(stream);
        if (answer.reset == kRefusedStream) ++refused;
        if (answer.status == 200) ++served;
    }
    EXPECT_EQ(refused + served, 60);
    EXPECT_GE(served, 10);
    EXPECT_GE(refused, 30);
    EXPECT_EQ(client.response(small).body, "ok");
    for (int i = 0; i < 3; ++i) EXPECT_EQ(client.fetch(Http2Client::get("/x", large)).body, "ok");
}

TEST_F(Http2, HeadsThatAClientDoesNotTakeAreBounded) {
    start_node([](Config& settings) { settings.limits.body_windows = 1 << 20; });
    std::string lines;
    for (int i = 0; i < 40; ++i)
        lines.append("X-Line-" + std::to_string(i) + ": " + std::string(1'000, 'x') + "\r\n");
    const auto scripted = origin.set([&](auto& exchange) { exchange.answer(fresh(lines), "ok"); });
    auto client = connect();
    EXPECT_EQ(client.fetch(Http2Client::get("/x")).body, "ok");
    // 12 MB of heads, of which the socket takes a part.
    for (int i = 0; i < 300; ++i) client.send_reset(client.begin(Http2Client::get("/x")), 8);
    const auto last = client.begin(Http2Client::get("/x"));
    const auto& answer = client.response(last);
    if (answer.reset) {
        EXPECT_EQ(answer.reset, kRefusedStream) << "there was no room for its head";
    } else if (!answer.ended) {
        EXPECT_EQ(client.goaway, kEnhanceYourCalm);
    }
    expect_alive();
}

TEST_F(Http2, AnEndOfATunnelReachesBothSides) {
    start_node([&](Config& settings) {
        settings.forward.enabled = true;
        settings.forward.private_destinations = Destinations::allow;
        settings.forward.connect_ports = {origin.port()};
    });
    const auto scripted = origin.set([](auto& exchange) {
        exchange.send("the end");
        exchange.keep = false;
    });
    auto client = connect();
    const auto target = origin_authority();
    const auto tunnel = client.begin({{":method", "CONNECT"}, {":authority", target}}, false);
    client.send_data(tunnel, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false);
    EXPECT_EQ(client.response(tunnel).body, "the end");
    client.send_data(tunnel, {}, true);
    const auto again = client.begin({{":method", "CONNECT"}, {":authority", target}}, false);
    while (client.streams[again].status == 0 && client.read_frame()) continue;
    client.send_reset(again, 8);
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::uncacheable) == 2; }));
}

/// The handshake with an origin that agrees by the key, and sends its input back.
ScriptedOrigin::Script echo_websocket(bool with_good_key) {
    return [with_good_key](Exchange& exchange) {
        exchange.keep = false;
        const auto key = exchange.field("Sec-WebSocket-Key");
        exchange.send(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Protocol: chat\r\nSec-WebSocket-Accept: " +
            (with_good_key ? websocket_accept(key) : "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") + "\r\n\r\n");
        for (std::string got; exchange.socket.receive(got); got.clear()) exchange.send(got);
    };
}
const Lines kWebSocket{{":method", "CONNECT"},
                       {":protocol", "websocket"},
                       {":scheme", "http"},
                       {":authority", "origin.test"},
                       {":path", "/chat"},
                       {"sec-websocket-version", "13"},
                       {"sec-websocket-protocol", "chat"}};

TEST_F(Http2, AWebSocketRunsOverOneStream) {  // RFC 8441
    start_node();
    const auto scripted = origin.set(echo_websocket(true));
    auto client = connect();
    ASSERT_TRUE(client.read_until(Http2Client::kSettings));
    EXPECT_EQ(client.settings[8], 1u);  // ENABLE_CONNECT_PROTOCOL
    const auto chat = client.begin(kWebSocket, false);
    while (client.streams[chat].status == 0 && client.read_frame()) continue;
    EXPECT_EQ(client.streams[chat].status, 200u);
    EXPECT_EQ(client.streams[chat].field("sec-websocket-protocol"), "chat");
    EXPECT_EQ(client.streams[chat].field("sec-websocket-accept"), "");
    EXPECT_EQ(client.streams[chat].field("upgrade"), "");
    client.send_data(chat, "hello", false);
    client.read_body(chat, 5);
    EXPECT_EQ(client.streams[chat].body, "hello");
    client.send_data(chat, {}, true);
    EXPECT_TRUE(client.response(chat).ended);
    EXPECT_TRUE(contains(origin.heads().at(0), "GET /chat HTTP/1.1"));
}

TEST_F(Http2, AWebSocketThatTheOriginDoesNotAgreeToIsNoTunnel) {  // RFC 8441 §5
    start_node();
    {
        const auto scripted = origin.set([](auto& exchange) { exchange.answer({}, "page"); });
        auto client = connect();
        const auto stream = client.begin(kWebSocket, false);
        EXPECT_EQ(client.response(stream).status, 502u);
        // A client that leaves its side open does not keep the stream.
        while (!client.streams[stream].reset && client.read_frame()) continue;
        EXPECT_EQ(client.streams[stream].reset, kNoError);
    }
    {
        const auto scripted =
            origin.set([](auto& exchange) { exchange.answer({}, "no", "403 Forbidden"); });
        auto client = connect();
        EXPECT_EQ(client.fetch(kWebSocket).status, 403u);
    }
    const auto scripted = origin.set(echo_websocket(false));
    auto client = connect();
    const auto chat = client.begin(kWebSocket, false);
    EXPECT_TRUE(client.response(chat).reset);
}

TEST_F(Http2, ADrainLosesNoRequest) {  // RFC 9113 §6.8
    auto& node = start_node();
    Gate gate;
    const auto scripted = origin.set([&](auto& exchange) {
        if (exchange.target == "/slow") gate.wait();
        exchange.answer(fresh(), exchange.target);
    });
    auto client = connect();
    const auto slow = client.begin(Http2Client::get("/slow"));
    ASSERT_TRUE(gate.wait_for(1));
    node.drain();
    ASSERT_TRUE(client.read_until(Http2Client::kGoaway));
    EXPECT_EQ(client.goaway, kNoError);
    EXPECT_EQ(client.last_stream, 0x7fffffff);
    // A request that was on its way already.
    EXPECT_EQ(client.fetch(Http2Client::get("/quick")).body, "/quick");
    gate.open();
    EXPECT_EQ(client.response(slow).body, "/slow");
    EXPECT_TRUE(client.read_to_end());
    node.join();
}

TEST_F(Http2, SettingsComeFirstAlsoFromANodeThatLeaves) {  // RFC 9113 §3.4
    auto& node = start_node([](Config& settings) { settings.timeouts.drain_grace = 2s; });
    node.drain();
    auto client = connect();
    ASSERT_TRUE(client.read_frame());
    EXPECT_FALSE(client.settings.empty());
    EXPECT_FALSE(client.goaway);
    node.join();
}

TEST_F(Http2, SettingsTurnItOff) {
    start_node([](Config& settings) { settings.protocols.http2.cleartext = false; });
    auto socket = Socket::connect(address("a"), kProxyPort);
    socket.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    std::string answer;
    while (socket.receive(answer)) continue;
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
}

TEST_F(Http2, ATlsClientChoosesItInTheHandshake) {  // RFC 9113 §3.2
    static Certificates certificates;
    const auto files = certificates.issue("DNS:a.test");
    start_node([&](Config& settings) {
        settings.tls = TlsConfig{{address("a"), kTlsPort}, files.certificate, files.key};
    });
    const auto scripted =
        origin.set([](auto& exchange) { exchange.answer(fresh(), std::string(100'000, 's')); });
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    static constexpr unsigned char kNames[] = "\x02h2\x08http/1.1";
    SSL_CTX_set_alpn_protos(context.get(), kNames, sizeof kNames - 1);
    TlsEnd end(context.get(), Socket::connect(address("a"), kTlsPort), false, "a.test");
    ASSERT_TRUE(end.open());
    Http2Client client(std::move(end));
    for (int i = 0; i < 2; ++i) {
        auto lines = Http2Client::get("/x");
        lines[1].second = "https";
        const auto& answer = client.fetch(lines);
        EXPECT_EQ(answer.status, 200u);
        EXPECT_EQ(answer.body.size(), 100'000u);
    }
    EXPECT_TRUE(eventually([&] { return count("a", Outcome::local_hit) == 1; }));
}

TEST_F(Http2, AStreamThatHasEndedForTheClientDoesNotCount) {  // RFC 9113 §5.1.2
    static Certificates certificates;
    const auto files = certificates.issue("DNS:a.test");
    start_node([&](Config& settings) {
        settings.tls = TlsConfig{{address("a"), kTlsPort}, files.certificate, files.key};
        settings.protocols.http2.streams = 2;
    });
    const auto scripted =
        origin.set([](auto& exchange) { exchange.answer(fresh(), std::string(140'000, 's')); });
    std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
    static constexpr unsigned char kNames[] = "\x02h2";
    SSL_CTX_set_alpn_protos(context.get(), kNames, sizeof kNames - 1);
    TlsEnd end(context.get(), Socket::connect(address("a"), kTlsPort), false, "a.test");
    ASSERT_TRUE(end.open());
    Http2Client client(std::move(end));
    auto lines = Http2Client::get("/x");
    lines[1].second = "https";
    auto before = client.begin(lines);
    for (int i = 0; i < 200; ++i) {
        const auto next = client.begin(lines);
        EXPECT_EQ(client.response(before).body.size(), 140'000u);
        ASSERT_EQ(client.response(before).reset.value_or(kNoError), kNoError) << i;
        before = next;
    }
}

}  // namespace http2_test
}  // namespace proxy::test
