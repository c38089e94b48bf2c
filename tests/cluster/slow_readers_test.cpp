// Clients of one fetch of a body that outgrows the store: a slow one does not keep others waiting.
// tests/proxy/client/shared_pace_test.cpp leaves one alone for which nobody waits.

#include <atomic>
#include <cerrno>
#include <string>

#include "tests/cluster/fixture.hpp"
#include "tests/cluster/http2_client.hpp"

namespace proxy::test {
namespace slow_readers_test {

using namespace std::chrono_literals;

/// An origin with a chunked body, of which the first bytes come at once, and the others when the
/// test says so.
class SlowReaders : public NodesTest {
protected:
    static constexpr std::size_t kChunk = 1 << 20;
    static constexpr std::chrono::seconds kBodyIdle{12};  // SharedPace::window() is 2 s

    SlowReaders() {
        auto settings = config("a");
        settings.cache.object_max = 1 << 20;
        settings.timeouts.body_idle = kBodyIdle;
        start(settings);
    }
    ~SlowReaders() override { gate_.open(); }
    void serve(Exchange& e) {
        e.keep = false;
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Transfer-Encoding: chunked\r\n") + "\r\n");
        e.send("5\r\nfirst\r\n");
        gate_.wait();
        const std::string chunk(kChunk, 'x');
        for (std::size_t i = 0; i < chunks_; ++i) e.send("100000\r\n" + chunk + "\r\n");
        e.send("0\r\n\r\n");
    }
    std::size_t body_bytes() const { return 5 + chunks_ * kChunk; }
    /// Another client follows the fetch that a first one leads, and then the body grows.
    void expect_followed() {
        auto follower = client();
        follower.begin("GET", "/large");
        ASSERT_TRUE(follower.read_at_least(5));
        const auto begun = std::chrono::steady_clock::now();
        gate_.open();
        const auto answer = follower.read();
        EXPECT_TRUE(answer.complete);
        EXPECT_EQ(answer.body.size(), body_bytes());
        EXPECT_LT(std::chrono::steady_clock::now() - begun, kBodyIdle);
        EXPECT_EQ(origin.requests(), 1u) << "it was no fetch of its own";
    }

    std::size_t chunks_ = 24;  // more than the buffers of two kernels
    Gate gate_;
};

TEST_F(SlowReaders, LetNobodyWaitForLong) {
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    auto leader = client();
    leader.begin("GET", "/large");
    ASSERT_TRUE(leader.read_at_least(5));
    expect_followed();
    EXPECT_FALSE(leader.read().complete);
}

TEST_F(SlowReaders, LetNobodyWaitForLongOverHttp2) {
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    Http2Client leader(Socket::connect(address("a"), kProxyPort));
    leader.opens_windows = false;
    const auto stream = leader.begin(Http2Client::get("/large"));
    leader.read_body(stream, 5);
    expect_followed();
    EXPECT_TRUE(leader.response(stream).reset.has_value()) << "its stream alone has ended";
    EXPECT_FALSE(leader.closed);
}

/// The kernel would go on to keep what it was given, for as long as the client answers its probes.
class SlowReaderAlone : public NodesTest {};

TEST_F(SlowReaderAlone, IsCutByAReset) {
    auto settings = config("a");
    settings.timeouts.body_idle = 300ms;
    start(settings);
    const std::string large(30 << 20, 'x');  // more than both kernels take
    const auto scripted = origin.set([&](Exchange& e) { e.answer(fresh(), large); });
    auto h1 = Socket::connect(address("a"), kProxyPort);
    ASSERT_TRUE(h1.send("GET http://origin.test/x HTTP/1.1\r\nHost: origin.test\r\n\r\n"));
    Http2Client h2(Socket::connect(address("a"), kProxyPort));
    h2.opens_windows = false;
    ASSERT_TRUE(h2.read_until(Http2Client::kSettings));
    h2.send_window_update(0, 1 << 30);
    const auto stream = h2.begin(Http2Client::get("/y"));
    h2.send_window_update(stream, 1 << 30);
    EXPECT_TRUE(eventually([&] { return status("a").connections == 0; }));
    std::string read;
    while (h1.receive(read)) {
    }
    EXPECT_TRUE(h1.was_reset());
    EXPECT_LT(read.size(), large.size());
    while (h2.read_frame()) {
    }
    EXPECT_EQ(errno, ECONNRESET);
}

}  // namespace slow_readers_test
}  // namespace proxy::test
