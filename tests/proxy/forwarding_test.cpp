#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "proxy/client/error_answer.hpp"
#include "proxy/http/response_head.hpp"
#include "proxy/net/quick_recovery.hpp"
#include "proxy/net/read_buffer.hpp"
#include "proxy/net/timer_wheel.hpp"
#include "proxy/upstream/origin_trouble.hpp"
#include "proxy/upstream/peer_choice.hpp"
#include "proxy/upstream/peer_request.hpp"
#include "proxy/upstream/request_snapshot.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy {
namespace {

using namespace std::chrono_literals;
using boost::beast::http::verb;

const PeerRecord::Time kNow = PeerRecord::Time(1000h);

void ask(PeerRecord& record, PeerVerdict verdict, std::chrono::nanoseconds round_trip = 1ms,
         PeerRecord::Time now = kNow) {
    record.asked();
    record.answered_after(round_trip, now);
    record.ended(verdict, now);
}

TEST(PeerRecord, CountsWhatBecameOfEachQuestion) {
    PeerRecord record;
    for (const auto verdict : {PeerVerdict::hit, PeerVerdict::false_hit, PeerVerdict::stale_hit,
                               PeerVerdict::refused, PeerVerdict::timeout, PeerVerdict::failure})
        ask(record, verdict);
    const auto& counts = record.counts();
    EXPECT_EQ(counts.asked, 6u);
    EXPECT_EQ(counts.hits, 1u);
    EXPECT_EQ(counts.false_hits, 1u);
    EXPECT_EQ(counts.stale_hits, 1u);
    EXPECT_EQ(counts.refused, 1u);
    EXPECT_EQ(counts.failures, 2u);
}

TEST(PeerRecord, IsNotBlamedForAnAnswerThatAnotherOneOutran) {
    PeerRecord record;
    for (unsigned i = 0; i < 2 * kBreakerFailures; ++i) ask(record, PeerVerdict::outrun);
    EXPECT_TRUE(record.may_ask(kNow));
    EXPECT_EQ(record.counts().failures, 2 * kBreakerFailures);  // what it gave was of no use
}

TEST(PeerRecord, KnowsWhenItsDistanceWasLastMeasured) {
    PeerRecord record;
    EXPECT_TRUE(record.measured_long_ago(kNow));
    record.measure_from(kNow);
    EXPECT_FALSE(record.measured_long_ago(kNow + kMeasureAgainAfter / 2));
    record.answered_after(5ms, kNow + kMeasureAgainAfter);
    EXPECT_EQ(record.round_trip().mean(), 5ms);
    EXPECT_FALSE(record.measured_long_ago(kNow + kMeasureAgainAfter * 3 / 2));
    EXPECT_TRUE(record.measured_long_ago(kNow + 2 * kMeasureAgainAfter));
}

TEST(PeerRecord, IsLeftAloneAfterFailuresInARowForLongerEachTime) {
    PeerRecord record;
    for (unsigned i = 0; i < kBreakerFailures; ++i) {
        EXPECT_TRUE(record.may_ask(kNow));
        ask(record, PeerVerdict::timeout);
    }
    EXPECT_FALSE(record.may_ask(kNow));
    EXPECT_TRUE(record.may_ask(kNow + kBreakerFirst));
    ask(record, PeerVerdict::failure, 1ms, kNow + kBreakerFirst);
    EXPECT_FALSE(record.may_ask(kNow + 2 * kBreakerFirst));
    EXPECT_TRUE(record.may_ask(kNow + 3 * kBreakerFirst));
    for (int i = 0; i < 50; ++i) ask(record, PeerVerdict::failure);
    EXPECT_TRUE(record.may_ask(kNow + kBreakerMax));  // never for ever
    ask(record, PeerVerdict::hit, 1ms, kNow + kBreakerMax);
    ask(record, PeerVerdict::failure, 1ms, kNow + kBreakerMax);
    EXPECT_TRUE(record.may_ask(kNow + kBreakerMax));  // one success closes the breaker
}

TEST(PeerRecord, IsDistrustedWhenMostAnswersWereFalseHits) {
    PeerRecord record;
    for (unsigned i = 0; i < kDistrustAfter - 1; ++i) ask(record, PeerVerdict::false_hit);
    EXPECT_TRUE(record.may_ask(kNow));
    ask(record, PeerVerdict::false_hit);
    EXPECT_FALSE(record.may_ask(kNow));
    EXPECT_TRUE(record.may_ask(kNow + kDistrustFor));
    ask(record, PeerVerdict::false_hit);
    EXPECT_TRUE(record.may_ask(kNow + kDistrustFor));  // a new judgement needs new evidence
}

TEST(ChoosePeers, TakesTheCheapestTwoThatMayBeAsked) {
    std::vector<PeerRecord> records(5);
    const std::chrono::milliseconds times[]{9ms, 1ms, 5ms, 2ms, 7ms};
    for (std::size_t i = 0; i < records.size(); ++i)
        for (int n = 0; n < 200; ++n) ask(records[i], PeerVerdict::hit, times[i]);
    auto choice = choose_peers({0, 1, 2, 3, 4}, records, kNow);
    ASSERT_EQ(choice.count, 2u);
    EXPECT_EQ(choice.peers[0], 1u);
    EXPECT_EQ(choice.peers[1], 3u);
    for (unsigned i = 0; i < kBreakerFailures; ++i) ask(records[1], PeerVerdict::failure);
    choice = choose_peers({0, 1, 3, 4}, records, kNow);
    EXPECT_EQ(choice.peers[0], 3u);
    EXPECT_EQ(choice.peers[1], 4u);
    EXPECT_EQ(choose_peers({1}, records, kNow).count, 0u);
    EXPECT_EQ(choose_peers({}, records, kNow).count, 0u);
    EXPECT_EQ(choose_peers({63, 700}, records, kNow).count, 0u);  // no peers
}

TEST(PeersNamed, AreTheSameAfterAReloadThatReordersThem) {
    const auto view_of = [](std::initializer_list<const char*> nodes) {
        protocol::PeerView view;
        view.peers.resize(nodes.size());
        std::size_t number = 0;
        for (const auto* node : nodes) {
            protocol::PeerView::Peer peer;
            peer.node = node;
            view.peers.set(number++, peer);
        }
        return view;
    };
    const PeerNames names{"c", "a", "c"};
    EXPECT_EQ(peers_named(names, view_of({"a", "b", "c"})), (summary::PeerSet{0, 2}));
    EXPECT_EQ(peers_named(names, view_of({"b", "a", "c"})), (summary::PeerSet{1, 2}));
    EXPECT_EQ(peers_named(names, view_of({"b", "a"})), (summary::PeerSet{1}));
    EXPECT_TRUE(peers_named({}, view_of({"b", "a"})).empty());
}

TEST(ChoosePeers, PrefersThePeerWithLessUnderWay) {
    std::vector<PeerRecord> records(2);
    records[0].asked();
    EXPECT_EQ(choose_peers({0, 1}, records, kNow).peers[0], 1u);
}

TEST(QuickRecovery, ShortensTheWaitForARetransmissionWhereTheSystemCan) {
    boost::asio::io_context io;
    boost::asio::ip::tcp::socket socket(io, boost::asio::ip::tcp::v4());
    const auto wait = [&] {  // as Linux has it since 6.16: 45 is TCP_RTO_MIN_US
        int microseconds = 0;
        socklen_t size = sizeof microseconds;
        ::getsockopt(socket.native_handle(), IPPROTO_TCP, 45, &microseconds, &size);
        return std::chrono::microseconds(microseconds);
    };
    if (wait() <= kPeerRetransmission) GTEST_SKIP() << "not with this kernel";
    recover_quickly(socket.native_handle());
    EXPECT_GE(wait(), kPeerRetransmission);
    EXPECT_LE(wait(), kPeerRetransmission + 10ms);  // it counts in ticks
}

TEST(ReadBuffer, KeepsWhatIsLeftWhenItMakesRoom) {
    std::mt19937 random(5);
    ReadBuffer buffer;
    std::string expected;
    unsigned char next = 0;
    for (int round = 0; round < 2000; ++round) {
        const auto room = buffer.prepare(1 + random() % 3000);
        const auto n = std::min<std::size_t>(room.size(), random() % 3000);
        for (std::size_t i = 0; i < n; ++i) {
            static_cast<unsigned char*>(room.data())[i] = next;
            expected.push_back(static_cast<char>(next++));
        }
        buffer.commit(n);
        ASSERT_EQ(buffer.data(), expected);
        const auto used = random() % (expected.size() + 1);
        buffer.consume(used);
        expected.erase(0, used);
    }
    buffer.clear();
    buffer.trim();
    EXPECT_TRUE(buffer.empty());
}

/// A timer that notes when it went off.
struct Noted final : TimerWheel::Timer {
    void expire() override {
        ++expired;
        at = TimerWheel::Clock::now();
    }
    int expired = 0;
    TimerWheel::Clock::time_point at;
};

TEST(TimerWheel, ExpiresOnceAtTheDeadlineOrATickLater) {
    boost::asio::io_context io;
    TimerWheel wheel(io.get_executor());
    Noted soon, moved, never;
    const auto begun = TimerWheel::Clock::now();
    wheel.arm(soon, begun + 30ms);
    wheel.arm(moved, begun + 10ms);
    wheel.arm(moved, begun + 60ms);  // put off
    wheel.arm(never, begun + 20ms);
    wheel.disarm(never);
    io.run();  // until nothing is armed: then it ticks no more
    EXPECT_GE(soon.at - begun, 30ms);
    EXPECT_GE(moved.at - begun, 60ms);
    EXPECT_EQ(soon.expired, 1);
    EXPECT_EQ(moved.expired, 1);
    EXPECT_EQ(never.expired, 0);
}

TEST(TimerWheel, ForgetsATimerThatIsGone) {
    boost::asio::io_context io;
    TimerWheel wheel(io.get_executor());
    {
        Noted gone;
        wheel.arm(gone, TimerWheel::Clock::now() + 20ms);
    }
    io.run();
}

Head request_head(std::string_view method, std::string_view target, std::vector<Field> fields) {
    Head head;
    head.method = method;
    head.verb = boost::beast::http::string_to_verb({method.data(), method.size()});
    head.target = target;
    head.fields = std::move(fields);
    return head;
}

Field line(std::string_view name, std::string_view value) {
    return {boost::beast::http::string_to_field({name.data(), name.size()}), name, value};
}

CacheKey key_of(std::string_view target, std::string_view host = "h.test") {
    CacheKey key;
    EXPECT_EQ(key.assign(Scheme::http, verb::get, target, host), TargetError::none);
    return key;
}

TEST(RequestSnapshot, KeepsTheHostAsTheClientWroteIt) {
    const auto head = request_head("GET", "/a%2f?q", {line("Host", "H.test:80"), line("X-A", "1")});
    const RequestSnapshot snapshot(head, key_of("/a%2f?q", "H.test:80"), true);
    EXPECT_EQ(origin_request(snapshot, "n", ""),
              "GET /a%2f?q HTTP/1.1\r\nHost: H.test:80\r\nX-A: 1\r\nVia: 1.1 n\r\n\r\n");
}

TEST(RequestSnapshot, TakesTheHostOfAnAbsoluteTarget) {  // RFC 9112 §3.2.2
    const auto head = request_head("GET", "http://real.test/x", {line("Host", "other.test")});
    const RequestSnapshot snapshot(head, key_of("http://real.test/x", "other.test"), true);
    EXPECT_EQ(origin_request(snapshot, "n", ""),
              "GET /x HTTP/1.1\r\nHost: real.test\r\nVia: 1.1 n\r\n\r\n");
}

TEST(RequestSnapshot, OfAHeadAsksForWhatAGetBrings) {
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

const auto kFieldKey = protocol::field_key("0123456789abcdef0123456789abcdef");

TEST(RequestSnapshot, TellsOriginsAloneOfTheClient) {
    const auto head = request_head(
        "GET", "/a",
        {line("Host", "h.test"), line("X-Forwarded-For", "10.0.0.1"), line("X-B", "2"),
         line("Forwarded", "for=10.0.0.1"), line("Connection", "x-forwarded-for, forwarded")});
    const RequestSnapshot snapshot(head, key_of("/a"), true);
    EXPECT_EQ(origin_request(snapshot, "n", ""),
              "GET /a HTTP/1.1\r\nHost: h.test\r\nX-B: 2\r\nX-Forwarded-For: 10.0.0.1\r\n"
              "Forwarded: for=10.0.0.1\r\nVia: 1.1 n\r\n\r\n")
        << "whatever Connection names";
    const auto to_peer = PeerRequest(snapshot, {}, kFieldKey).text("a", "t0ken", std::nullopt);
    EXPECT_EQ(to_peer.find("10.0.0.1"), std::string::npos) << to_peer;
    EXPECT_EQ(snapshot.fields.size(), 3u) << "what may be varied by";
}

TEST(PeerRequest, AsksForWhatThePeerHasOnly) {  // RFC 9111 §5.2.1.7
    const auto head = request_head("GET", "/a", {line("Host", "h.test")});
    const RequestSnapshot snapshot(head, key_of("/a"), true);
    const PeerRequest question(snapshot, {}, kFieldKey);
    EXPECT_EQ(question.text("a", "t0ken", std::nullopt, "Range: bytes=0-9\r\n"),
              "GET http://h.test/a HTTP/1.1\r\nHost: h.test\r\nRange: bytes=0-9\r\n"
              "Cache-Control: only-if-cached\r\n"
              "Hearsay-Peer: a t0ken\r\nVia: 1.1 a\r\n\r\n");
}

RequestDirectives asking(std::string_view cache_control) {
    const std::vector<Field> fields{line("Cache-Control", cache_control)};
    return request_directives(fields);
}

TEST(PeerRequest, SaysHowOldAnAnswerMayBe) {
    const auto head = request_head("GET", "/a", {line("Host", "h.test")});
    const RequestSnapshot snapshot(head, key_of("/a"), true);
    const auto control = [&](const RequestDirectives& directives,
                             std::optional<std::chrono::seconds> max_age) {
        const auto text = PeerRequest(snapshot, directives, kFieldKey).text("a", "t", max_age);
        const auto at = text.find("Cache-Control: ") + 15;
        return text.substr(at, text.find('\r', at) - at);
    };
    EXPECT_EQ(control(asking("x"), 7s), "only-if-cached, max-age=7");  // not what was made before
    EXPECT_EQ(control(asking("max-age=5"), 7s), "only-if-cached, max-age=5");
    EXPECT_EQ(control(asking("max-age=9"), 7s), "only-if-cached, max-age=7");
    EXPECT_EQ(control(asking("max-age=9"), std::nullopt), "only-if-cached, max-age=9");
    EXPECT_EQ(control(asking("min-fresh=3, max-stale=4, x=secret"), std::nullopt),
              "only-if-cached, min-fresh=3, max-stale=4");
}

/// The example of protocol/FORMAT.md.
const std::string kQuestion =
    "GET http://example.com/ HTTP/1.1\r\n"
    "Host: example.com\r\n"
    "Accept-Encoding: gzip\r\n"
    "Cache-Control: only-if-cached, max-age=60\r\n"
    "Hearsay-Peer: b 7a8746f87c961318b5dd7658d787cb8a\r\n"
    "Hearsay-Fields: cookie=e21e970f10fa78e155d7493c28e768e8, "
    "x-api-key=0ad8916c9c89ea658bf0885aadd607d9\r\n"
    "Via: 1.1 b\r\n\r\n";

TEST(PeerRequest, ReadsAsOnThePage) {
    const auto head = request_head(
        "GET", "/",
        {line("Host", "example.com"), line("Cookie", "sid=1"), line("Accept-Encoding", "gzip"),
         line("X-Api-Key", "s3cret"), line("Range", "bytes=0-9"), line("Hearsay-Fields", "x=y")});
    const RequestSnapshot snapshot(head, key_of("/", "example.com"), true);
    const auto question = PeerRequest(snapshot, asking("max-age=60"), kFieldKey)
                              .text("b", "7a8746f87c961318b5dd7658d787cb8a", std::nullopt);
    EXPECT_EQ(question, kQuestion);

    const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    std::ifstream page(root / "protocol/FORMAT.md");
    std::string shown;
    for (std::string each; std::getline(page, each);)
        if (each.starts_with("    ")) shown.append(each.substr(4)).append("\r\n");
    EXPECT_NE(shown.find(kQuestion.substr(0, kQuestion.size() - 2)), std::string::npos);
}

TEST(PeerRequest, IsNotMadeOfMoreFieldsThanItCanCarry) {
    std::vector<Field> lines{line("Host", "h.test")};
    std::vector<std::string> names;
    for (int i = 0; i < 180; ++i) names.push_back("X-" + std::string(20, 'x') + std::to_string(i));
    for (const auto& name : names) lines.push_back(line(name, "1"));
    const auto head = request_head("GET", "/", std::move(lines));
    const RequestSnapshot snapshot(head, key_of("/"), true);
    EXPECT_FALSE(PeerRequest(snapshot, {}, kFieldKey).possible());
}

TEST(RenderResponse, PartsWhatIsStoredFromWhatIsForOneAnswer) {
    Head head;
    head.status = 200;
    head.fields = {line("Date", "Sat, 21 Nov 2026 10:00:00 GMT"),
                   line("Age", "5"),
                   line("Content-Length", "10"),
                   line("Connection", "close"),
                   line("Cache-Status", "up; hit"),
                   line("X-A", "1"),
                   line("X-A", "2")};
    std::string out;
    LiveFields live;
    render_response(head, "n", {}, WallTime{}, out, live);
    EXPECT_EQ(out,
              "HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\nX-A: 1\r\nX-A: 2\r\nVia: "
              "1.1 n\r\n");
    EXPECT_EQ(live.cache_status, "up; hit");
    EXPECT_TRUE(live.has_age);
}

TEST(RenderResponse, AddsADateThatIsMissing) {  // RFC 9110 §6.6.1
    Head head;
    head.status = 404;
    std::string out;
    LiveFields live;
    render_response(head, "n", {}, WallTime{}, out, live);
    EXPECT_EQ(out,
              "HTTP/1.1 404 Not Found\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nVia: 1.1 n\r\n");
}

class Route : public ::testing::Test {
protected:
    OriginRoute route(std::string_view target, bool absolute) const {
        return route_to_origin(config, key_of(target), absolute);
    }
    Config config;
};

TEST_F(Route, GoesToTheFirstOriginEntryThatMatchesInEitherForm) {
    config.origins = {{"h.test", {"10.0.0.1", 81}}, {"*", {"10.0.0.2", 82}}};
    for (const auto absolute : {false, true}) {
        const auto found = route(absolute ? "http://h.test/" : "/", absolute);
        ASSERT_TRUE(std::holds_alternative<UpstreamTarget>(found));
        EXPECT_EQ(std::get<UpstreamTarget>(found).port, 81);
        EXPECT_FALSE(
            std::get<UpstreamTarget>(found).on_clients_word);  // configured origins may be private
    }
    EXPECT_EQ(std::get<UpstreamTarget>(route("http://other.test/", true)).port, 82);
}

TEST_F(Route, GoesToTheTargetInForwardMode) {
    config.forward.enabled = true;
    const auto found = std::get<UpstreamTarget>(route("http://[::1]:8080/", true));
    EXPECT_EQ(found.host, "::1");
    EXPECT_EQ(found.port, 8080);
    EXPECT_TRUE(found.on_clients_word);
}

TEST_F(Route, SaysWhyThereIsNone) {
    EXPECT_EQ(std::get<NoRoute>(route("/", false)), NoRoute::no_origin);
    EXPECT_EQ(std::get<NoRoute>(route("http://h.test/", true)), NoRoute::forward_disabled);
}

TEST_F(Route, IsSecuredAsTheEntryOrElseTheTargetSays) {
    config.forward.enabled = true;
    config.origins = {{"plain.test", {"10.0.0.1", 80}},
                      {"one.test", {"10.0.0.2", 443}, OriginTlsConfig{}},
                      {"same.test", {"10.0.0.2", 443}, OriginTlsConfig{}},
                      {"other.test", {"10.0.0.2", 443}, OriginTlsConfig{false, {}, {}}}};
    ASSERT_TRUE(load_tls(config).empty());
    const auto tls = [&](std::string_view target) {
        return std::get<UpstreamTarget>(route(target, true)).tls;
    };
    EXPECT_FALSE(tls("https://plain.test/"));
    EXPECT_FALSE(tls("http://else.test/"));
    ASSERT_TRUE(tls("http://one.test/"));
    EXPECT_EQ(tls("http://one.test/")->name, "10.0.0.2");
    EXPECT_EQ(tls("http://one.test/"), tls("https://same.test/"));
    EXPECT_NE(tls("http://one.test/"), tls("http://other.test/"));
    ASSERT_TRUE(tls("https://else.test/"));
    EXPECT_EQ(tls("https://else.test/")->name, "");
    EXPECT_NE(tls("https://else.test/")->id, tls("http://one.test/")->id);
}

TEST(OriginTrouble, IsUnreachableOnlyWhereNoAnswerCouldBeHad) {
    for (const auto error :
         {FetchError::resolve_failed, FetchError::connect_failed, FetchError::connect_timeout,
          FetchError::tls_failed, FetchError::head_timeout, FetchError::body_timeout,
          FetchError::reset, FetchError::resolve_timeout}) {
        EXPECT_EQ(trouble_of(error), OriginTrouble::unreachable) << to_string(error);
        EXPECT_TRUE(went_forward(error)) << to_string(error);
    }
    for (const auto error : {FetchError::busy, FetchError::no_descriptors, FetchError::stopping}) {
        EXPECT_EQ(trouble_of(error), OriginTrouble::error) << to_string(error);
        EXPECT_FALSE(went_forward(error)) << to_string(error);
    }
    EXPECT_EQ(trouble_of(FetchError::origin_down), OriginTrouble::unreachable);
    EXPECT_FALSE(went_forward(FetchError::origin_down)) << "it was spared the question";
    for (const auto error : {FetchError::not_allowed, FetchError::own_listener}) {
        EXPECT_EQ(trouble_of(error), std::nullopt) << to_string(error);
        EXPECT_FALSE(went_forward(error)) << to_string(error);
    }
    EXPECT_EQ(trouble_of(FetchError::malformed), OriginTrouble::error);
    EXPECT_EQ(trouble_of(FetchError::origin_error), OriginTrouble::error);
    EXPECT_TRUE(went_forward(FetchError::malformed));
}

TEST(ErrorAnswer, HasAStatusAndASentenceForEveryError) {
    for (const auto error :
         {FetchError::resolve_failed, FetchError::connect_failed, FetchError::tls_failed,
          FetchError::reset, FetchError::malformed, FetchError::origin_error})
        EXPECT_EQ(status_of(error), 502u);
    for (const auto error :
         {FetchError::connect_timeout, FetchError::head_timeout, FetchError::body_timeout,
          FetchError::resolve_timeout, FetchError::origin_down})
        EXPECT_EQ(status_of(error), 504u);
    for (const auto error : {FetchError::abandoned, FetchError::stopping})
        EXPECT_EQ(status_of(error), 503u);
    EXPECT_EQ(status_of(FetchError::not_allowed), 403u);
    EXPECT_EQ(status_of(FetchError::own_listener), 403u);
    EXPECT_NE(explain(FetchError::connect_failed, "h.test").find("h.test"), std::string::npos);
}

}  // namespace
}  // namespace proxy
