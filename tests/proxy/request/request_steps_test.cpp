#include "proxy/request/request_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "protocol/membership/peer_view.hpp"
#include "proxy/access/password_file.hpp"
#include "proxy/fetch/body_writer.hpp"
#include "tests/proxy/request/recorded_transport.hpp"

namespace proxy {
namespace request_steps_test {

using namespace std::chrono_literals;
using test::line;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Clock = Store::Clock;

/// Requests to a node whose transport has no HTTP/1.1 text. Nothing above the transport may know.
class RequestStepsTest : public ::testing::Test, public test::RecordedTransport {
protected:
    std::unique_ptr<Exchange> begin(std::string_view method = "GET", std::vector<Field> fields = {},
                                    std::string_view target = "http://h/a") {
        fields.insert(fields.begin(), line("Host", "h"));
        return std::make_unique<Exchange>(*this, method, target, std::move(fields));
    }
    std::unique_ptr<Exchange> served(std::string_view method = "GET",
                                     std::vector<Field> fields = {},
                                     std::string_view target = "http://h/a") {
        auto exchange = begin(method, std::move(fields), target);
        exchange->serve();
        return exchange;
    }
    void store(std::string_view body = "0123456789", const std::string& more = {}) {
        put(key.uri(), ("Content-Type: text/plain\r\nETag: \"1\"\r\nVia: 1.1 a\r\n" + more).c_str(),
            body, Clock::now());
    }
    /// Another request's fetch of the target, with the test in the place of the origin.
    struct OtherFetch {
        explicit OtherFetch(RecordedTransport& node)
            : job(std::move(node.job)),
              writer(node.shared.store, node.shared.windows, job->result.lease, *job->result.fill,
                     1'000'000) {
            job->result.lease.take({});
        }
        void begin_response() {
            auto response = std::make_shared<StoredResponse>();
            response->status = 200;
            response->head_fields = "ETag: \"1\"\r\n";
            response->arrival.steady = Clock::now();
            response->freshness.lifetime = StoredSeconds(60);
            Fill::Incoming incoming;
            incoming.response = std::move(response);
            incoming.upstream_status = 200;
            writer.begin(std::move(incoming), Sharing::stored, Clock::now());
        }
        void write(std::string_view bytes) { writer.append_if_storing(bytes, Clock::now()); }

        std::unique_ptr<FetchJob> job;
        BodyWriter writer;
    };
    /// A body of 25 bytes in blocks of 10, all of them in memory.
    void store_in_blocks() {
        const std::string whole = "0123456789abcdefghijABCDE";
        auto index = std::make_shared<StoredResponse>();
        index->status = 200;
        index->head_fields = "ETag: \"1\"\r\n";
        index->arrival.steady = Clock::now();
        index->freshness.lifetime = StoredSeconds(60);
        index->blocks = Blocks{whole.size(), 10};
        const auto version = version_of(*index, whole.size(), hasher);
        for (std::uint64_t at = 0; at < whole.size(); at += 10) {
            const auto range = index->blocks->at(at);
            put(block_key(key.uri(), version.etag, version.form, range), "",
                std::string_view(whole).substr(at, range.size()), Clock::now());
        }
        FillLease(shared.store, hasher(key.uri()), key.uri(), nullptr)
            .publish(std::move(index), Clock::now());
    }
};

TEST_F(RequestStepsTest, AHitIsStatusFieldsAndBody) {
    store();
    const auto hit = served();
    ASSERT_TRUE(hit->served);
    EXPECT_TRUE(hit->response.complete());
    EXPECT_EQ(hit->response.status, 200u);
    EXPECT_EQ(hit->response.length, 10u);
    EXPECT_EQ(hit->response.body, "0123456789");
    EXPECT_EQ(hit->response.body_bytes(), 10u);
    const test::RecordedResponse::Lines fields{{"Content-Type", "text/plain"},
                                               {"ETag", "\"1\""},
                                               {"Via", "1.1 a"},
                                               {"Age", "0"},
                                               {"Cache-Status", "a; hit; ttl=60"}};
    EXPECT_EQ(hit->response.fields_seen, fields) << "none of framing or of a connection";
    EXPECT_EQ(hit->stats.outcome, Outcome::local_hit);
    EXPECT_EQ(hit->stats.from.memory, 10u);
    EXPECT_EQ(hit->stats.status, 200u);
}

TEST_F(RequestStepsTest, HeadHasTheLengthAndNoBody) {
    store();
    const auto hit = served("HEAD");
    EXPECT_TRUE(hit->response.complete());
    EXPECT_EQ(hit->response.length, 10u);
    EXPECT_FALSE(hit->response.has_body);
    EXPECT_EQ(hit->response.body, "");
}

TEST_F(RequestStepsTest, ARangeIsAPartOfTheBody) {
    store();
    const auto part = served("GET", {line("Range", "bytes=2-4")});
    EXPECT_TRUE(part->response.complete());
    EXPECT_EQ(part->response.status, 206u);
    EXPECT_EQ(part->response.length, 3u);
    EXPECT_EQ(part->response.body, "234");
    EXPECT_EQ(part->response.value("Content-Range"), "bytes 2-4/10");
    const auto none = served("GET", {line("Range", "bytes=10-")});
    EXPECT_EQ(none->response.status, 416u);
    EXPECT_EQ(none->response.value("Content-Range"), "bytes */10");
}

TEST_F(RequestStepsTest, AStrayContentRangeStaysButBesideThatOfAPart) {  // RFC 9110 §14.4
    store("0123456789", "content-range: bytes 0-1/2\r\nX-A: 1\r\n");
    EXPECT_EQ(served()->response.value("content-range"), "bytes 0-1/2");
    const auto part = served("GET", {line("Range", "bytes=2-4")});
    EXPECT_EQ(part->response.status, 206u);
    const test::RecordedResponse::Lines fields{{"Content-Range", "bytes 2-4/10"},
                                               {"Content-Type", "text/plain"},
                                               {"ETag", "\"1\""},
                                               {"Via", "1.1 a"},
                                               {"X-A", "1"},
                                               {"Age", "0"},
                                               {"Cache-Status", "a; hit; ttl=60"}};
    EXPECT_EQ(part->response.fields_seen, fields);
}

TEST_F(RequestStepsTest, AConditionMakesA304WithoutABody) {
    store();
    const auto same = served("GET", {line("If-None-Match", "\"1\"")});
    EXPECT_TRUE(same->response.complete());
    EXPECT_EQ(same->response.status, 304u);
    EXPECT_FALSE(same->response.has_body);
    EXPECT_EQ(same->response.length, std::nullopt);
    EXPECT_EQ(same->response.value("ETag"), "\"1\"");
    EXPECT_EQ(same->response.value("Content-Type"), "");
}

TEST_F(RequestStepsTest, AMissStreamsAsItArrives) {
    OtherFetch fetch(*this);
    const auto follower = served();
    EXPECT_FALSE(follower->served);
    EXPECT_EQ(follower->response.status, 0u) << "no head has come";
    fetch.begin_response();
    fetch.write("first ");
    go_on();
    EXPECT_EQ(follower->response.status, 200u);
    EXPECT_EQ(follower->response.length, std::nullopt) << "nobody knows it yet";
    EXPECT_EQ(follower->response.body, "first ");
    EXPECT_FALSE(follower->response.complete());
    fetch.write("second");
    go_on();
    EXPECT_EQ(follower->response.body, "first second");
    EXPECT_FALSE(follower->served);
    fetch.writer.finish(Clock::now());
    go_on();
    EXPECT_TRUE(follower->served);
    EXPECT_TRUE(follower->response.complete());
    EXPECT_THAT(follower->response.value("Cache-Status"), HasSubstr("collapsed"));
}

TEST_F(RequestStepsTest, ABodyThatBreaksOffStaysIncomplete) {
    OtherFetch fetch(*this);
    const auto follower = served();
    fetch.begin_response();
    fetch.write("first ");
    go_on();
    fetch.writer.fail({FetchError::reset, 200}, Clock::now());
    go_on();
    EXPECT_TRUE(follower->served);
    EXPECT_FALSE(follower->response.complete()) << "the transport breaks it off";
    EXPECT_TRUE(follower->stats.cut);
}

TEST_F(RequestStepsTest, BlocksAreOneBody) {
    store_in_blocks();
    const auto whole = served();
    EXPECT_TRUE(whole->response.complete());
    EXPECT_EQ(whole->response.length, 25u);
    EXPECT_EQ(whole->response.body, "0123456789abcdefghijABCDE");
    const auto part = served("GET", {line("Range", "bytes=8-21")});
    EXPECT_TRUE(part->response.complete());
    EXPECT_EQ(part->response.status, 206u);
    EXPECT_EQ(part->response.value("Content-Range"), "bytes 8-21/25");
    EXPECT_EQ(part->response.body, "89abcdefghijAB");
    EXPECT_EQ(part->stats.from.memory, 14u);
}

TEST_F(RequestStepsTest, AnErrorIsAResponseOfThisNode) {
    const auto failed = served();  // no connection may be opened here
    EXPECT_TRUE(failed->served);
    EXPECT_TRUE(failed->response.complete());
    EXPECT_EQ(failed->response.status, 503u);
    EXPECT_EQ(failed->response.value("Via"), "1.1 a");
    EXPECT_EQ(failed->response.value("Content-Type"), "text/plain; charset=utf-8");
    EXPECT_EQ(failed->response.body.size(), failed->response.length);
    EXPECT_EQ(failed->stats.outcome, Outcome::error);
    const auto nowhere = served("GET", {}, "/a");
    EXPECT_EQ(nowhere->response.status, 404u);
    EXPECT_EQ(nowhere->stats.outcome, Outcome::refused) << "the node does what it is told";
    EXPECT_FALSE(nowhere->retired);
    const auto malformed = served("GET", {}, "http://h:99999/a");
    EXPECT_EQ(malformed->response.status, 400u);
    EXPECT_TRUE(malformed->retired) << "what follows may be as bad";
}

TEST_F(RequestStepsTest, AClientThatTakesItsTimeIsWaitedFor) {
    store();
    const auto slow = begin();
    slow->response.room = 4;
    slow->serve();
    EXPECT_TRUE(slow->response.complete());
    EXPECT_EQ(slow->response.waits, 1u);
    EXPECT_EQ(slow->response.body, "0123456789");
    EXPECT_FALSE(slow->stats.aborted);
}

TEST_F(RequestStepsTest, AClientThatStopsReadingEndsItsResponse) {
    store();
    const auto gone = begin();
    gone->response.room = 4;
    gone->response.reads_on = false;
    gone->serve();
    EXPECT_TRUE(gone->served);
    EXPECT_FALSE(gone->response.complete());
    EXPECT_TRUE(gone->stats.aborted);
    EXPECT_EQ(gone->stats.from.memory, 4u) << "what it took";
}

TEST_F(RequestStepsTest, APurgeIsTheNodesToCarryOut) {
    const auto purge = served("PURGE");
    EXPECT_EQ(purges.uris, std::vector<std::string>{"http://h/a"});
    EXPECT_TRUE(purge->response.complete());
    EXPECT_EQ(purge->response.value("Content-Type"), "application/json");
    EXPECT_THAT(purge->response.body, StartsWith("{"));
}

TEST_F(RequestStepsTest, OptionsEndsWhereItsHopsDo) {
    const auto here = served("OPTIONS", {line("Max-Forwards", "0")});
    EXPECT_EQ(here->response.status, 200u);
    EXPECT_THAT(here->response.value("Allow"), HasSubstr("GET, HEAD"));
    EXPECT_EQ(served("OPTIONS", {line("Max-Forwards", "x")})->response.status, 400u);
}

TEST_F(RequestStepsTest, APasswordComesOverTlsOrFromThisHost) {
    auto config = *client_settings;
    config.forward.authentication = AuthenticationConfig{};
    client_settings.replace(std::make_shared<const LoadedConfig>(Config(std::move(config))),
                            {nullptr, parse_users("", "users").file, nullptr});
    // The connection decides, and not the address in a PROXY header: here 10.0.0.9.
    for (const auto& [secure, from_here, status] :
         {std::tuple(true, false, 407u), {false, true, 407u}, {false, false, 403u}}) {
        Exchange exchange(*this, "GET", "http://h/a", {});
        exchange.secure = secure;
        exchange.from_here = from_here;
        exchange.serve();
        EXPECT_EQ(exchange.response.status, status);
        EXPECT_EQ(
            exchange.response.body.find("forward.authentication.in_clear") != std::string::npos,
            status == 403);
    }
    EXPECT_EQ(counters.refusals[RequestRefusal::credentials_in_clear], 1u);
}

TEST_F(RequestStepsTest, ALoopIsRefused) {
    store();
    const auto loop = served("GET", {line("Via", "1.1 a")});
    EXPECT_EQ(loop->response.status, 508u);
    EXPECT_EQ(counters.refusals[RequestRefusal::loop], 1u);
}

TEST_F(RequestStepsTest, APeerGetsWhatIsStoredOrAReason) {
    protocol::PeerView view;
    protocol::PeerView::Peer peer;
    peer.node = "b";
    peer.accepted[0] = "token";
    view.peers.resize(1);
    view.peers.set(0, std::move(peer));
    upstream.set_peers(std::make_shared<const protocol::PeerView>(std::move(view)));
    const auto proof = line("Hearsay-Peer", "b token");
    const auto absent = served("GET", {proof});
    EXPECT_TRUE(absent->of_peer);
    EXPECT_EQ(absent->response.status, 504u);
    EXPECT_EQ(absent->response.value("Cache-Status"), "a; detail=absent");
    absent->stats.close(service, absent->request, absent->response);
    EXPECT_EQ(counters.bytes_to_peers, 0u) << "a refusal is no content";
    store();
    const auto hit = served("GET", {proof});
    EXPECT_TRUE(hit->response.complete());
    EXPECT_EQ(hit->response.body, "0123456789");
    EXPECT_EQ(hit->stats.peer, "b");
    hit->stats.close(service, hit->request, hit->response);
    EXPECT_EQ(counters.requests[Outcome::local_hit], 0u) << "it is no client request";
    EXPECT_EQ(counters.bytes_to_peers, 10u);
    EXPECT_FALSE(served("GET", {line("Hearsay-Peer", "b wrong")})->of_peer);
    EXPECT_EQ(served("POST", {proof})->response.status, 400u);
}

TEST_F(RequestStepsTest, ARequestPastTheCacheIsRelayed) {
    store();
    const auto relayed = served("DELETE");  // no connection may be opened here
    EXPECT_TRUE(relayed->served);
    EXPECT_EQ(relayed->response.status, 503u);
    EXPECT_EQ(relayed->stats.outcome, Outcome::error);
    EXPECT_NE(find(key.uri(), Clock::now()).response, nullptr) << "nothing has reached the origin";
}

TEST_F(RequestStepsTest, TheBooksCountBytesOfBodiesAlone) {
    store();
    const auto hit = served();
    hit->stats.close(service, hit->request, hit->response);
    EXPECT_EQ(counters.requests[Outcome::local_hit], 1u);
    EXPECT_EQ(counters.bytes_to_clients, 10u);
}

}  // namespace request_steps_test
}  // namespace proxy
