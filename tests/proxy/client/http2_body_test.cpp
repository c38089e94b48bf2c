#include "proxy/client/http2_body.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/client/http2_limits.hpp"
#include "proxy/request/client_service.hpp"
#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace http2_body_test {

class Windows final : public Http2Body::Windows {
public:
    void taken(std::int32_t, std::size_t bytes) override { opened += bytes; }
    void widen(std::int32_t, std::size_t bytes) override { window = bytes; }
    void refuse(std::int32_t) override { refused = true; }

    std::size_t opened = 0;
    std::size_t window = kHttp2FirstWindow;
    bool refused = false;
};

class Http2BodyTest : public ::testing::Test, protected test::IdleCache {
protected:
    Http2BodyTest() { body.begin(1, std::nullopt, false); }

    base::MemoryBudget& budget() { return shared.windows; }
    base::Charge fill(std::uint64_t bytes) {
        EXPECT_TRUE(budget().take(bytes));
        return {budget(), bytes};
    }
    std::string take() {
        std::vector<std::string_view> pieces;
        body.take(pieces);
        std::string all;
        for (const auto piece : pieces) all.append(piece);
        return all;
    }
    void receive() {
        came.reset();
        boost::asio::co_spawn(io, body.receive_more(),
                              [this](std::exception_ptr, bool more) { came = more; });
        turn();
    }
    void turn() {
        io.restart();
        io.poll();
    }

    SharedClientState shared_clients{*settings, events};
    ClientService service{shared_clients, cache, in_effect};
    Windows windows;
    Http2Body body{service, windows, std::make_shared<base::Wakeup>(io.get_executor())};
    std::optional<bool> came;  // what receive_more() has returned
};

TEST_F(Http2BodyTest, BytesComeAndOpenTheWindowWhenTheyAreDoneWith) {
    body.put("abc");
    EXPECT_EQ(take(), "abc");
    EXPECT_EQ(windows.opened, 0u);
    receive();
    EXPECT_EQ(windows.opened, 3u);
    EXPECT_FALSE(came);
    body.put("d");
    turn();
    EXPECT_EQ(came, true);
    body.end();
    EXPECT_FALSE(body.done());
    EXPECT_EQ(take(), "d");
    EXPECT_TRUE(body.done());
}

TEST_F(Http2BodyTest, AnInterruptEndsAWaitAndNoLaterOne) {
    body.interrupt();  // nobody waits
    receive();
    EXPECT_FALSE(came);
    body.interrupt();
    turn();
    EXPECT_EQ(came, false);
    receive();
    EXPECT_FALSE(came);
    body.put("x");
    turn();
    EXPECT_EQ(came, true);
}

TEST_F(Http2BodyTest, ALongBodyHasAWideWindowWhileThereIsRoom) {
    body.put(std::string(kHttp2FreeBytes / 2, 'x'));
    EXPECT_EQ(windows.window, kHttp2WideWindow);
    EXPECT_EQ(budget().used(), kHttp2WideWindow);
    body.close();
    EXPECT_EQ(budget().used(), kHttp2WideWindow);  // its bytes are still here
    body.finish();
    EXPECT_EQ(budget().used(), 0u);
}

TEST_F(Http2BodyTest, WithoutRoomForAWideWindowTheFirstOneIsCharged) {
    const auto others = fill(budget().cap() / 2);
    body.put(std::string(kHttp2FreeBytes, 'x'));
    EXPECT_EQ(windows.window, kHttp2FirstWindow);
    EXPECT_EQ(budget().used(), others.bytes());
    body.put("x");
    EXPECT_EQ(budget().used(), others.bytes() + kHttp2FirstWindow - kHttp2FreeBytes);
    EXPECT_FALSE(windows.refused);
}

TEST_F(Http2BodyTest, WithoutAnyRoomABodyThatIsNotTakenIsRefused) {
    const auto others = fill(budget().cap());
    for (int i = 0; i < 10; ++i) {  // one that is taken goes on
        body.put(std::string(kHttp2FreeBytes, 'x'));
        turn();
        EXPECT_EQ(take().size(), kHttp2FreeBytes);
        receive();
    }
    EXPECT_FALSE(windows.refused);
    body.put(std::string(kHttp2FreeBytes + 1, 'x'));
    EXPECT_TRUE(windows.refused);
    turn();
    EXPECT_EQ(came, false);
    body.put("more");
    body.end();
    EXPECT_FALSE(body.done());  // an end would make a whole body of the part
    receive();
    EXPECT_EQ(came, false);
}

TEST_F(Http2BodyTest, ADroppedBodyKeepsItsWindowOpen) {
    body.put("abc");
    EXPECT_TRUE(body.is_open());
    body.drop();
    EXPECT_EQ(windows.opened, 3u);
    body.put(std::string(100'000, 'x'));
    EXPECT_EQ(windows.opened, 100'003u);
    EXPECT_EQ(budget().used(), 0u);
    EXPECT_EQ(body.received_bytes(), 100'003);
    body.end();
    EXPECT_FALSE(body.is_open());
}

}  // namespace http2_body_test
}  // namespace proxy
