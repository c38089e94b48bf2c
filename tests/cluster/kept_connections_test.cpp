// The choice of a connection to the origin for each request, and the requests that are sent once
// more.
#include <linux/filter.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <thread>

#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace kept_connections_test {

using namespace std::chrono_literals;

class KeptConnections : public NodesTest {
protected:
    KeptConnections() { start(config("a")); }
};

TEST_F(KeptConnections, CarryRequestsOfEveryMethod) {
    const auto scripted = origin.set([](Exchange& e) { e.answer({}, e.body); });
    auto connection = client();
    constexpr int kEach = 20;
    for (int i = 0; i < kEach; ++i)
        for (const auto* method : {"POST", "PATCH", "PROPFIND", "PUT", "DELETE", "BREW"})
            EXPECT_EQ(connection.ask(method, "/", {}, "a body").status, 200u) << method;
    EXPECT_EQ(origin.requests(), 6u * kEach);
    // A new one only after a pause, which a busy machine may make.
    EXPECT_LE(origin.connections(), 6u * kEach / 4);
}

/// A body as it stands on the wire, in a length or in chunks.
struct Body {
    const char* fields;
    std::string bytes;
};

TEST_F(KeptConnections, ThatEndedCostNoIdempotentRequestItsAnswer) {  // RFC 9110 §9.2.2
    std::mutex mutex;
    std::vector<std::string> bodies;
    std::atomic<bool> end_next = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/warm") return e.answer({}, "warm");
        const std::lock_guard lock(mutex);
        bodies.push_back(e.body);
        e.keep = !end_next.exchange(false);
        if (e.keep) e.answer({}, "done");
    });
    auto connection = client();
    const std::string large(50'000, 'x');
    const std::string chunked = "5\r\nhello\r\n0\r\n\r\n";
    for (const auto& body : {Body{"Content-Length: 50000\r\n", large},
                             Body{"Transfer-Encoding: chunked\r\n", chunked}}) {
        SCOPED_TRACE(body.fields);
        EXPECT_EQ(connection.ask("POST", "/warm", {}, "x").status, 200u);
        end_next = true;
        bodies.clear();
        connection.begin("PUT", "/x", body.fields);
        connection.socket.send(body.bytes);
        EXPECT_EQ(connection.read().body, "done");
        const std::lock_guard lock(mutex);
        ASSERT_EQ(bodies.size(), 2u);
        EXPECT_EQ(bodies[0], bodies[1]);
        EXPECT_EQ(bodies[1], body.bytes);
    }
}

TEST_F(KeptConnections, ThatWereIdleForTooLongCostNoRequestItsAnswer) {  // RFC 9110 §15.5.9
    std::atomic<bool> times_out = false;
    const auto scripted = origin.set([&](Exchange& e) {
        if (!times_out.exchange(false)) return e.answer("Cache-Control: no-store\r\n", "done");
        e.answer("Connection: close\r\n", {}, "408 Request Timeout");
        e.keep = false;
    });
    times_out = true;
    EXPECT_EQ(get("a", "/").status, 408u) << "a new connection was not idle";
    EXPECT_EQ(get("a", "/warm").status, 200u);
    times_out = true;
    EXPECT_EQ(get("a", "/").status, 200u);
    EXPECT_EQ(origin.requests(), 4u);
}

TEST_F(KeptConnections, GiveNoOtherRequestToTheOriginTwice) {
    std::atomic<int> posts = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        if (e.target == "/warm") return e.answer({}, "warm");
        ++posts;  // executed, and then the process ends
        e.keep = false;
    });
    auto connection = client();
    for (const auto* method : {"POST", "PATCH", "MKCOL", "BREW"}) {
        EXPECT_EQ(connection.ask("POST", "/warm", {}, "x").status, 200u);
        posts = 0;
        EXPECT_EQ(connection.ask(method, "/x", {}, "a body").status, 502u);
        EXPECT_EQ(posts, 1) << method;
    }
}

TEST_F(KeptConnections, AreTheOnlyOnesAfterWhichARequestIsSentAgain) {
    std::atomic<int> requests = 0;
    const auto scripted = origin.set([&](Exchange& e) {
        ++requests;  // read, and no answer
        e.keep = false;
    });
    for (const auto* method : {"GET", "HEAD", "OPTIONS", "DELETE"}) {
        requests = 0;
        EXPECT_EQ(client().ask(method, std::string("/") + method).status, 502u);
        EXPECT_EQ(requests, 1) << method;
    }
}

/// From now on the system takes no packet for this connection, as if a firewall had forgotten it.
void cut_off(int socket) {
    const auto is_all_acknowledged = [socket] {
        int queued = 1;
        return ::ioctl(socket, SIOCOUTQ, &queued) == 0 && queued == 0;
    };
    ASSERT_TRUE(eventually(is_all_acknowledged));
    sock_filter nothing{BPF_RET | BPF_K, 0, 0, 0};
    const sock_fprog program{1, &nothing};
    ASSERT_EQ(::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program), 0);
}

/// Connections of node a to an origin whose packets vanish from some time on.
class VanishedConnections : public KeptConnections {
protected:
    /// Opens so many connections, and cuts them off.
    void warm_up(std::size_t connections) {
        std::vector<std::future<unsigned>> answers;
        for (std::size_t i = 0; i < connections; ++i)
            answers.push_back(std::async(std::launch::async, [this, i] {
                return client().get("/warm" + std::to_string(i)).status;
            }));
        ASSERT_TRUE(all_here_.wait_for(connections));
        all_here_.open();
        for (auto& answer : answers) EXPECT_EQ(answer.get(), 200u);
        const std::lock_guard lock(mutex_);
        for (const auto descriptor : descriptors_) cut_off(descriptor);
    }

    void let_through() {
        const std::lock_guard lock(mutex_);
        for (const auto descriptor : descriptors_) {
            int unused = 0;
            ASSERT_EQ(
                ::setsockopt(descriptor, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused), 0);
        }
    }

    std::atomic<int> posts = 0;

private:
    Gate all_here_;
    std::mutex mutex_;
    std::vector<int> descriptors_;
    ScriptedOrigin::Scripted scripted_{origin.set([this](Exchange& e) {
        if (e.method == "POST") ++posts;
        if (e.target.starts_with("/warm")) {
            {
                const std::lock_guard lock(mutex_);
                descriptors_.push_back(e.socket.descriptor());
            }
            all_here_.wait();
        }
        e.answer({}, "done");
    })};
};

TEST_F(VanishedConnections, AreNoticedWithinSecondsAndTheirSiblingsAreUsedNoMore) {
    warm_up(3);
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(client().get("/one").body, "done");
    const auto took = std::chrono::steady_clock::now() - begun;
    EXPECT_GE(took, 1900ms);  // not before the other system has had its time
    EXPECT_LT(took, 10s);     // the head may take 60 s
    for (const auto* target : {"/two", "/three", "/four"}) {
        const auto next = std::chrono::steady_clock::now();
        EXPECT_EQ(client().get(target).body, "done");
        EXPECT_LT(std::chrono::steady_clock::now() - next, 1900ms);
    }
}

TEST_F(VanishedConnections, CostNoBodyOfARepeatableRequestItsAnswer) {
    warm_up(1);
    EXPECT_EQ(client().ask("PUT", "/x", {}, "a body").body, "done");
}

TEST_F(VanishedConnections, ThatAreLateGetNoPostTwice) {
    warm_up(1);
    auto answer =
        std::async(std::launch::async, [this] { return client().ask("POST", "/x", {}, "a body"); });
    std::this_thread::sleep_for(1000ms);
    if (posts > 0) GTEST_SKIP() << "a busy machine has made the connection too old for a POST";
    std::this_thread::sleep_for(1500ms);
    EXPECT_EQ(posts, 0);
    let_through();
    EXPECT_EQ(answer.get().body, "done");
    EXPECT_EQ(posts, 1);
    EXPECT_EQ(origin.connections(), 1u);
}

TEST_F(KeptConnections, AreWaitedForWhenOnlyTheServerIsSlow) {
    const auto scripted = origin.set([](Exchange& e) {
        if (e.target != "/warm") std::this_thread::sleep_for(2500ms);
        e.answer({}, "done");
    });
    EXPECT_EQ(client().get("/warm").body, "done");
    EXPECT_EQ(client().get("/slow").body, "done");
    EXPECT_EQ(origin.requests(), 2u);
    EXPECT_EQ(origin.connections(), 1u);
}

// It belongs to no answer (RFC 9110 §9.3.2, RFC 9112 §6.3), least of all to the next.
TEST_F(KeptConnections, CarryNothingAfterAHeadWhoseBodyMayStillCome) {
    const auto scripted = origin.set([](Exchange& e) {
        if (e.method != "HEAD") return e.answer(fresh(), "good");
        e.send("HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n");
        std::this_thread::sleep_for(20ms);
        e.send("HTTP/1.1 200 OK\r\n" + fresh("Content-Length: 4\r\n") + "\r\nevil");
    });
    auto connection = client();
    for (int i = 0; i < 10; ++i) {
        const auto target = "/" + std::to_string(i);
        EXPECT_EQ(connection.ask("HEAD", target).status, 200u);
        EXPECT_EQ(connection.get(target).body, "good");
        EXPECT_EQ(connection.get(target).body, "good") << "out of the store";
    }
    EXPECT_EQ(count("a", Outcome::error), 0u);
}

TEST_F(KeptConnections, CarryOnAfterAHeadThatAnnouncesNoBody) {
    const auto scripted = origin.set([](Exchange& e) { e.answer({}, ""); });
    auto connection = client();
    for (int i = 0; i < 20; ++i) EXPECT_EQ(connection.ask("HEAD", "/").status, 200u);
    EXPECT_LE(origin.connections(), 5u);  // a new one only after a pause
}

TEST_F(KeptConnections, HoldNothingOfABodyThatIsThrough) {
    const auto scripted = origin.set([](Exchange& e) { e.answer({}, "ok"); });
    auto connection = client();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(connection.ask("POST", "/", {}, std::string(30'000, 'x')).status, 200u);
    EXPECT_TRUE(eventually([&] { return status("a").window_bytes == 0; }));
}

}  // namespace kept_connections_test
}  // namespace proxy::test
