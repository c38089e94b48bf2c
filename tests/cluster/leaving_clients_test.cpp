// Clients that leave while the origin is waited for: a fetch for nobody ends, and its connection is
// there for others.

#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace leaving_clients_test {

/// An origin that says nothing to /hung, half of an answer to /stuck, and answers all else.
class LeavingClients : public NodesTest {
protected:
    LeavingClients() {
        auto settings = config("a");
        settings.limits.upstream_connections = 1;
        start(settings);
    }
    ~LeavingClients() override { gate_.open(); }
    void serve(Exchange& e) {
        if (e.target == "/hung") gate_.wait();
        if (e.target == "/stuck") {
            e.send("HTTP/1.1 200 OK\r\nCache-Control: no-store\r\nContent-Length: 10\r\n\r\nhalf ");
            gate_.wait();
        }
        e.answer(fresh(), "answer");
    }
    /// Asks, and leaves once the origin has the request and so much of the body is here.
    void ask_and_leave(std::string_view method, std::string_view target, std::size_t body = 0) {
        const auto before = origin.requests();
        auto leaving = client();
        leaving.begin(method, target, {}, method == "POST" ? "x" : "");
        ASSERT_TRUE(eventually([&] { return origin.requests() == before + 1; }));
        if (body > 0) {
            ASSERT_TRUE(leaving.read_at_least(body));
        }
        EXPECT_EQ(get("a", "/other").status, 503u) << "the one connection is taken";
        leaving.socket.reset();
    }
    void expect_given_up(std::string_view method, std::string_view target, std::size_t body = 0) {
        const auto scripted = origin.set([&](Exchange& e) { serve(e); });
        ask_and_leave(method, target, body);
        EXPECT_TRUE(others_are_served());
        gate_.open();
    }
    bool others_are_served() {
        return eventually([&] { return get("a", "/other").status == 200; });
    }

    Gate gate_;
};

TEST_F(LeavingClients, BeforeTheHeadCameGiveUpTheirFetch) {
    expect_given_up("GET", "/hung");
}

TEST_F(LeavingClients, InTheMiddleOfABodyThatStopsGiveUpTheirFetch) {
    expect_given_up("GET", "/stuck", 5);
}

TEST_F(LeavingClients, GiveUpWhatIsPassedOn) {
    expect_given_up("HEAD", "/hung");
}

TEST_F(LeavingClients, InTheMiddleOfWhatIsPassedOnGiveItUp) {
    expect_given_up("POST", "/stuck", 5);
}

TEST_F(LeavingClients, EndWhatTheirUnsafeRequestMayHaveChanged) {  // RFC 9111 §4.4
    {
        const auto scripted =
            origin.set([](Exchange& e) { e.answer(fresh(), "body of " + e.target); });
        get("a", "/hung");
        ASSERT_EQ(status("a").cache.objects, 1u);
    }
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    ask_and_leave("POST", "/hung");
    EXPECT_TRUE(eventually([&] { return status("a").cache.objects == 0; }));
    EXPECT_TRUE(others_are_served());
    gate_.open();
}

/// An origin that stops inside a block of a body, or before it: at the byte stop_at_, until it may
/// go on or the node closes the connection.
class LeavingReadersOfBlocks : public NodesTest {
protected:
    LeavingReadersOfBlocks() {
        auto settings = config("a");
        settings.cache.block = kBlock;
        settings.cache.slice_from = 4 * kBlock;
        start(settings);
    }
    ~LeavingReadersOfBlocks() override { go_on_.open(); }

    void serve(Exchange& e) {
        const auto range = e.field("Range");
        const auto first = range.empty() ? 0 : std::strtoull(range.c_str() + 6, nullptr, 10);
        const auto size = range.empty() ? file_.content.size() : kBlock;
        if (stop_at_ < first || stop_at_ >= first + size) return file_.answer(e);
        e.send(range.empty() ? std::string("HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\n")
                             : "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " +
                                   std::to_string(first) + "-" +
                                   std::to_string(first + kBlock - 1) + "/20000\r\n");
        e.send("ETag: " + file_.etag + "\r\n" + file_.more +
               "Content-Length: " + std::to_string(size) + "\r\n\r\n");
        e.send(std::string_view(file_.content).substr(first, stop_at_ - first));
        if (e.target == "/file") {
            go_on_.wait();
            e.send(std::string_view(file_.content).substr(stop_at_, first + size - stop_at_));
        } else {
            if (e.socket.readable(kPatience)) ended_.open();
            e.keep = false;
        }
    }
    /// Asks, and leaves when the origin has stopped.
    void ask_and_leave(std::string_view target, std::string_view fields) {
        auto leaving = client();
        const auto sent = begin(leaving, target, fields);
        ASSERT_TRUE(sent);
        leaving.socket.reset();
    }
    /// Asks, and reads up to where the origin stops.
    bool begin(Client& asking, std::string_view target, std::string_view fields) {
        asking.begin("GET", target, fields);
        return asking.read_at_least(stop_at_);
    }
    /// A fetch without readers was given up: the node has closed its connection.
    bool its_fetch_ends() { return ended_.wait(); }

    const File file_{bytes(20'000)};
    std::size_t stop_at_ = 0;
    Gate go_on_, ended_;
};

TEST_F(LeavingReadersOfBlocks, GiveUpTheOneThatStopsInTheMiddle) {
    stop_at_ = kBlock + 1000;
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    ask_and_leave("/alone", "");
    EXPECT_TRUE(its_fetch_ends());
}

TEST_F(LeavingReadersOfBlocks, GiveUpTheOneThatDoesNotBegin) {
    stop_at_ = kBlock;
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    ask_and_leave("/alone", "");
    EXPECT_TRUE(its_fetch_ends());
}

TEST_F(LeavingReadersOfBlocks, LeaveItToOthersWhoFollow) {
    stop_at_ = 1000;
    const auto scripted = origin.set([&](Exchange& e) { serve(e); });
    auto follower = client();
    {
        auto leaving = client();
        ASSERT_TRUE(begin(leaving, "/file", "Range: bytes=0-3000\r\n"));
        ASSERT_TRUE(begin(follower, "/file", "Range: bytes=0-4095\r\n"));
        leaving.socket.reset();
    }
    ASSERT_TRUE(eventually([&] { return status("a").connections == 1; }));
    // A fetch alike, which nobody follows, has a time that begins later: once it is given up, the
    // other would have been.
    ask_and_leave("/alone", "Range: bytes=0-3000\r\n");
    ASSERT_TRUE(its_fetch_ends());
    go_on_.open();
    const auto answer = follower.read();
    EXPECT_TRUE(answer.complete);
    EXPECT_EQ(answer.status, 206u);
    EXPECT_EQ(answer.body, file_.content.substr(0, kBlock));
    EXPECT_EQ(origin.requests(), 2u);
}

}  // namespace leaving_clients_test
}  // namespace proxy::test
