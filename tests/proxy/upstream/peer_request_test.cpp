#include "proxy/upstream/peer_request.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <optional>

#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace peer_request_test {

using namespace std::chrono_literals;

/// A request to the peer "b". No connection is available, so it fails as soon as it is sent.
class PeerRequestTest : public ::testing::Test, protected test::IdleCache {
protected:
    PeerRequestTest() {
        auto view = std::make_shared<protocol::PeerView>();
        view->peers.resize(1);
        view->peers.set(0, {"b", {"127.0.0.1", 80}, "token", true, {}, 7, true});
        upstream.set_peers(view);
        request.emplace(upstream, PeerOfView{view, 0}, PeerPatience{50ms, 2s});
    }

    PeerVerdict send() {
        std::optional<PeerVerdict> verdict;
        boost::asio::co_spawn(io, wait(*request, verdict), boost::asio::detached);
        io.poll();
        return verdict.value();
    }
    const PeerCounters& counts() { return upstream.peers.of("b")->counts(); }

    std::optional<PeerRequest> request;

private:
    static boost::asio::awaitable<void> wait(PeerRequest& request,
                                             std::optional<PeerVerdict>& verdict) {
        std::string text("GET http://h/a HTTP/1.1\r\n\r\n");
        const auto end = co_await request.send(std::move(text), true);
        verdict = end;
    }
};

TEST_F(PeerRequestTest, BooksAFailureInThePeersRecord) {
    EXPECT_EQ(send(), PeerVerdict::failure);
    EXPECT_EQ(counters.peer_requests, 1u);
    EXPECT_EQ(counts().asked, 1u);
    EXPECT_EQ(counts().failures, 1u);
    EXPECT_EQ(upstream.peers.of("b")->last_failure().reason, to_string(FetchError::busy));
}

TEST_F(PeerRequestTest, BooksTheFirstEndAlone) {
    send();
    request->close(PeerVerdict::hit);
    request.reset();
    EXPECT_EQ(counts().hits, 0u);
    EXPECT_EQ(counts().failures, 1u);
}

TEST_F(PeerRequestTest, IsInNoBooksBeforeItIsSent) {
    request->close(PeerVerdict::failure);
    request.reset();
    EXPECT_EQ(counts().asked, 0u);
    EXPECT_EQ(counts().failures, 0u);
}

TEST_F(PeerRequestTest, BlamesNoLaterRunOfTheNode) {
    auto view = std::make_shared<protocol::PeerView>();
    view->peers.resize(1);
    view->peers.set(0, {"b", {"127.0.0.1", 80}, "token", true, {}, 8, true});
    upstream.set_peers(view);
    send();
    EXPECT_TRUE(upstream.peers.of("b")->last_failure().reason.empty());
    EXPECT_FALSE(upstream.peers.of("b")->broken());
}

TEST_F(PeerRequestTest, NotesBeginAndEndInTheLogOfItsFetch) {
    const auto log = std::make_shared<PeerRequestLog>();
    request->note_in(log);
    send();
    ASSERT_EQ(log->all().size(), 1u);
    EXPECT_EQ(log->all()[0].node, "b");
    EXPECT_EQ(log->all()[0].verdict, PeerVerdict::failure);
}

}  // namespace peer_request_test
}  // namespace proxy
