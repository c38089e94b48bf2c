#include "measure/run/replay.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include "measure/origin/origin.hpp"
#include "measure/trace/splitmix.hpp"
#include "tests/measure/scripted_server.hpp"

namespace measure {
namespace replay_test {

using namespace std::chrono_literals;

/// A log written request by request.
class Log {
public:
    Log& get(std::uint64_t client, const std::string& url, std::uint64_t bytes = 10,
             std::int64_t time_ms = 0, std::uint8_t method = kGet) {
        const auto at = std::find(trace.clients.begin(), trace.clients.end(), client);
        const auto index = static_cast<std::uint32_t>(at - trace.clients.begin());
        if (at == trace.clients.end()) trace.clients.push_back(client);
        trace.add({time_ms, index, trace.add_url(url, bytes), method});
        return *this;
    }
    /// `count` requests of as many clients.
    Log& many(std::uint64_t count) {
        for (std::uint64_t c = 1; c <= count; ++c) get(c, "http://a/" + std::to_string(c));
        return *this;
    }
    operator const Trace&() const { return trace; }

    Trace trace;
};

ReplayOptions through(std::vector<HostPort> proxies) {
    ReplayOptions options;
    options.proxies = std::move(proxies);
    options.timeout = 10s;
    return options;
}

/// A client whose proxy is `proxy` of `proxies`.
std::uint64_t client_of(std::size_t proxy, std::size_t proxies) {
    std::uint64_t client = 1;
    while (proxy_of(client, proxies) != proxy) ++client;
    return client;
}

std::uint64_t failures(const ReplayResult& result, RequestFailure failure) {
    std::uint64_t sum = 0;
    for (const auto& proxy : result.proxies) {
        sum += proxy.failures[static_cast<std::size_t>(failure)];
    }
    return sum;
}

std::uint64_t answered(const ReplayResult& result) {
    std::uint64_t sum = 0;
    for (const auto& proxy : result.proxies) sum += proxy.answered();
    return sum;
}

Reply from_origin(const Seen& seen) {
    return {like_the_origin(seen, "Cache-Status: a; fwd=uri-miss; stored\r\n")};
}

// Requests as sent

TEST(Replay, SendsTargetsByteForByte) {
    const std::string odd = "http://A.example:80/x|y{z}\\w\"'^`<>?q=%zz&\xe4\xf6";
    const ScriptedServer proxy(from_origin);
    const auto result = replay(Log().get(1, odd), through({proxy.address()}));
    EXPECT_EQ(proxy.seen().at(0).head,
              "GET " + odd + " HTTP/1.1\r\nHost: A.example:80\r\nHearsay-Bytes: 10\r\n\r\n");
    EXPECT_EQ(answered(result), 1u);
    EXPECT_EQ(result.first_failure, "");
}

TEST(Replay, WritesPathsForReverseProxies) {
    const ScriptedServer proxy(from_origin);
    auto options = through({proxy.address()});
    options.form = RequestForm::origin;
    replay(Log().get(1, "http://a/x?y").get(1, "http://b").get(1, "http://c?q"), options);
    const auto seen = proxy.seen();
    ASSERT_EQ(seen.size(), 3u);
    EXPECT_EQ(seen[0].target() + ' ' + seen[0].field("Host"), "/x?y a");
    EXPECT_EQ(seen[1].target() + ' ' + seen[1].field("Host"), "/ b");
    EXPECT_EQ(seen[2].target() + ' ' + seen[2].field("Host"), "/?q c");
}

TEST(Replay, TellsTheOriginWhatToAnswer) {
    const ScriptedServer proxy(from_origin);
    auto options = through({proxy.address()});
    options.max_age = 5;
    options.delay_ms = 7;
    const auto result = replay(Log().get(1, "http://a/", 99).get(1, "http://b/", 0), options);
    const auto seen = proxy.seen();
    EXPECT_EQ(seen.at(0).field("Hearsay-Bytes"), "99");
    EXPECT_EQ(seen.at(0).field("Hearsay-Max-Age"), "5");
    EXPECT_EQ(seen.at(0).field("Hearsay-Delay"), "7");
    EXPECT_EQ(seen.at(1).field("Hearsay-Bytes"), "");  // unknown: the origin's own size
    EXPECT_EQ(result.proxies[0].body_bytes(), 99u + 1024u);
}

TEST(Replay, SendsOtherMethods) {
    const ScriptedServer proxy(from_origin);
    Log log;
    log.trace.methods.push_back("POST");
    log.get(1, "http://a/", 10, 0, kHead).get(1, "http://a/", 10, 0, 2);
    const auto result = replay(log, through({proxy.address()}));
    EXPECT_EQ(proxy.seen().at(0).method(), "HEAD");
    EXPECT_EQ(proxy.seen().at(1).method(), "POST");
    EXPECT_EQ(proxy.seen().at(1).field("Content-Length"), "0");
    EXPECT_EQ(answered(result), 2u) << result.first_failure;
    EXPECT_EQ(result.proxies[0].body_bytes(), 10u);  // none for HEAD
}

// Order and concurrency

TEST(Replay, SendsEachClientToItsProxy) {
    const ScriptedServer first(from_origin), second(from_origin);
    replay(Log().many(40), through({first.address(), second.address()}));
    std::map<std::string, std::size_t> proxy_seen;
    for (const auto& seen : first.seen()) proxy_seen[seen.target()] = 0;
    for (const auto& seen : second.seen()) proxy_seen[seen.target()] = 1;
    ASSERT_EQ(proxy_seen.size(), 40u);
    for (std::uint64_t c = 1; c <= 40; ++c) {
        EXPECT_EQ(proxy_seen["http://a/" + std::to_string(c)], proxy_of(c, 2)) << c;
    }
}

TEST(Replay, KeepsTheOrderOfEachClient) {
    Log log;
    for (int i = 0; i < 40; ++i) {
        for (std::uint64_t c = 1; c <= 5; ++c) {
            log.get(c, "http://client" + std::to_string(c) + '/' + std::to_string(i));
        }
    }
    std::mutex mutex;
    std::map<std::string, int> under_way;
    int overlaps = 0;
    const ScriptedServer proxy([&](const Seen& seen) {
        const auto client = seen.field("Host");
        {
            const std::lock_guard lock(mutex);
            overlaps += ++under_way[client] > 1;
        }
        std::this_thread::yield();
        const std::lock_guard lock(mutex);
        --under_way[client];
        return from_origin(seen);
    });
    EXPECT_EQ(answered(replay(log, through({proxy.address()}))), 200u);
    EXPECT_EQ(overlaps, 0);
    std::map<std::string, int> next;
    for (const auto& seen : proxy.seen()) {
        const auto client = seen.field("Host");
        EXPECT_EQ(seen.target(), "http://" + client + '/' + std::to_string(next[client]++));
    }
}

/// Holds requests back until `count` of them are there (or nothing happens for too long), and then
/// a moment more, in case there are too many. Counts how many were there at once.
class Gate {
public:
    explicit Gate(int count) : count_(count) {}
    void pass() {
        std::unique_lock lock(mutex_);
        most_ = std::max(most_, ++inside_);
        changed_.notify_all();
        if (!open_) {
            changed_.wait_for(lock, 5s, [this] { return open_ || inside_ >= count_; });
            changed_.wait_for(lock, 30ms, [this] { return open_ || inside_ > count_; });
            open_ = true;
            changed_.notify_all();
        }
        --inside_;
    }
    int most() const { return most_; }

private:
    const int count_;
    int inside_ = 0, most_ = 0;
    bool open_ = false;
    std::mutex mutex_;
    std::condition_variable changed_;
};

TEST(Replay, BoundsWhatIsUnderWayInAll) {
    Gate gate(6);
    const auto script = [&](const Seen& seen) {
        gate.pass();
        return from_origin(seen);
    };
    const ScriptedServer first(script), second(script);
    auto options = through({first.address(), second.address()});
    options.concurrency = 6;
    EXPECT_EQ(answered(replay(Log().many(60), options)), 60u);
    EXPECT_EQ(gate.most(), 6);
}

TEST(Replay, BoundsWhatIsUnderWayAtEachProxyWithASchedule) {
    Gate gate(3);
    const ScriptedServer proxy([&](const Seen& seen) {
        gate.pass();
        return from_origin(seen);
    });
    auto options = through({proxy.address()});
    options.concurrency = 3;
    options.rate = 1e6;
    EXPECT_EQ(answered(replay(Log().many(30), options)), 30u);
    EXPECT_EQ(gate.most(), 3);
}

TEST(Replay, KeepsItsRate) {
    const ScriptedServer proxy(from_origin);
    auto options = through({proxy.address()});
    options.rate = 500;
    const auto result = replay(Log().many(26), options);
    EXPECT_GE(result.elapsed, 50ms);  // 25 intervals of 2 ms
}

TEST(Replay, KeepsTheTimesOfTheLogSoMuchFaster) {
    const ScriptedServer proxy(from_origin);
    auto options = through({proxy.address()});
    options.speedup = 100;
    Log log;
    log.get(1, "http://a/", 10, 1'000'000).get(2, "http://b/", 10, 1'005'000);
    EXPECT_GE(replay(log, options).elapsed, 50ms);
}

TEST(Replay, CountsLatencyFromWhenARequestWasDue) {  // a stall must not hide behind waiting
                                                     // requests
    std::atomic<bool> first{true};
    const ScriptedServer proxy([&](const Seen& seen) {
        if (first.exchange(false)) std::this_thread::sleep_for(60ms);
        return from_origin(seen);
    });
    auto options = through({proxy.address()});
    options.concurrency = 1;
    options.rate = 10'000;
    const auto result = replay(Log().many(5), options);
    const auto& latency = result.proxies[0].of(ReportedOutcome::origin_fetch).latency;
    EXPECT_EQ(latency.count(), 5u);
    EXPECT_GE(latency.quantile(0), 50ms);
}

TEST(Replay, ReusesConnections) {
    const ScriptedServer proxy(from_origin);
    Log log;
    for (int i = 0; i < 20; ++i) log.get(1, "http://a/" + std::to_string(i));
    replay(log, through({proxy.address()}));
    for (const auto& seen : proxy.seen()) EXPECT_EQ(seen.connection, 0u);
}

TEST(Replay, GivesAConnectionOfItsOwnToWhatMustNotBeRepeated) {  // it may be closing
    const ScriptedServer proxy(from_origin);
    Log log;
    log.trace.methods.push_back("POST");
    log.get(1, "http://a/").get(1, "http://a/", 10, 0, 2);
    EXPECT_EQ(answered(replay(log, through({proxy.address()}))), 2u);
    EXPECT_EQ(proxy.seen().at(1).connection, 1u);
}

// Answers

TEST(Replay, SortsAnswersByWhereTheyCameFrom) {
    const std::map<std::string, std::string> words{
        {"http://a/local", "a; hit"},
        {"http://a/peer", "a; fwd=uri-miss; detail=PEER_b"},
        {"http://a/origin", "a; fwd=uri-miss; stored"},
        {"http://a/pass", "a; fwd=bypass"}};
    const ScriptedServer proxy([&](const Seen& seen) {
        const auto word = words.find(seen.target());
        return Reply{like_the_origin(
            seen, word == words.end() ? "" : "Cache-Status: " + word->second + "\r\n")};
    });
    Log log;
    for (const auto& [url, word] : words) log.get(1, url, 100);
    log.get(1, "http://a/silent", 100).get(1, "http://a/peer", 100);
    const auto result = replay(log, through({proxy.address()}));
    EXPECT_EQ(result.sent, 6u);
    const auto& seen = result.proxies[0];
    EXPECT_EQ(seen.of(ReportedOutcome::local_hit).requests, 1u);
    EXPECT_EQ(seen.of(ReportedOutcome::peer_hit).requests, 2u);
    EXPECT_EQ(seen.of(ReportedOutcome::peer_hit).body_bytes, 200u);
    EXPECT_EQ(seen.of(ReportedOutcome::origin_fetch).requests, 1u);
    EXPECT_EQ(seen.of(ReportedOutcome::uncacheable).requests, 1u);
    EXPECT_EQ(seen.of(ReportedOutcome::unknown).requests, 1u);
    EXPECT_EQ(seen.of(ReportedOutcome::peer_hit).latency.count(), 2u);
}

TEST(Replay, TakesChunkedAndCloseDelimitedBodies) {
    const ScriptedServer proxy([](const Seen& seen) {
        const std::string whole = like_the_origin(seen);
        const std::string body = whole.substr(whole.find("\r\n\r\n") + 4);
        if (seen.target() == "http://a/chunked") {
            return Reply{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n" +
                         body.substr(0, 4) + "\r\n6\r\n" + body.substr(4) + "\r\n0\r\n\r\n"};
        }
        return Reply{"HTTP/1.0 200 OK\r\n\r\n" + body, true};
    });
    const auto result = replay(Log().get(1, "http://a/chunked").get(1, "http://a/close"),
                               through({proxy.address()}));
    EXPECT_EQ(result.first_failure, "");
    EXPECT_EQ(answered(result), 2u);
}

TEST(Replay, TakesInterimAnswers) {
    const ScriptedServer proxy([](const Seen& seen) {
        return Reply{"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + like_the_origin(seen)};
    });
    EXPECT_EQ(answered(replay(Log().get(1, "http://a/"), through({proxy.address()}))), 1u);
}

TEST(Replay, CountsTheBytesOfOtherOriginsAndChecksThoseOfItsOwn) {
    const ScriptedServer proxy([](const Seen& seen) {
        if (seen.target() != "http://a/real") return from_origin(seen);
        return Reply{"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello"};
    });
    Log log;
    log.get(1, "http://a/real", 10).get(1, "http://a/own", 10);
    const auto result = replay(log, through({proxy.address()}));
    EXPECT_EQ(result.first_failure, "");
    EXPECT_EQ(result.proxies[0].answered(), 2u);
    EXPECT_EQ(result.proxies[0].body_bytes(), 15u);
    EXPECT_EQ(result.proxies[0].verified, 1u);
    EXPECT_EQ(result.body_bytes, (std::vector<std::uint64_t>{5, 0}));
}

TEST(Replay, NoticesAWrongBodyOfTheBuiltInOrigin) {
    const ScriptedServer proxy([](const Seen& seen) {
        auto reply = from_origin(seen);
        reply.bytes.back() ^= 1;
        return reply;
    });
    const auto result = replay(Log().get(1, "http://a/"), through({proxy.address()}));
    EXPECT_EQ(failures(result, RequestFailure::wrong_body), 1u);
}

TEST(Replay, NotesTheNamesByWhichAProxyAnswers) {
    const ScriptedServer one(from_origin);
    EXPECT_EQ(replay(Log().get(1, "http://a/").get(1, "http://b/"), through({one.address()}))
                  .proxies[0]
                  .node,
              "a");
    const ScriptedServer two([](const Seen& seen) {
        const auto node = seen.target() == "http://a/" ? "n1" : "\"n 2\"";
        return Reply{like_the_origin(seen, std::string("Cache-Status: ") + node + "; hit\r\n")};
    });
    const auto result =
        replay(Log().get(1, "http://a/").get(1, "http://b/"), through({two.address()}));
    EXPECT_EQ(result.proxies[0].node, "n1");
    EXPECT_EQ(result.proxies[0].other_node, "n 2");
}

/// How the one request of a replay fails when the proxy answers so, all bodies being checked.
std::string failure_of(const Reply& reply, std::chrono::milliseconds timeout = 10s) {
    const ScriptedServer proxy([&](const Seen&) { return reply; });
    auto options = through({proxy.address()});
    options.verify = Verify::all;
    options.timeout = timeout;
    const auto result = replay(Log().get(1, "http://a/"), options);
    EXPECT_EQ(answered(result) + result.proxies[0].failed(), 1u);
    return result.first_failure.substr(0, result.first_failure.find(" from "));
}

TEST(Replay, NamesWhatIsWrong) {
    const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    EXPECT_EQ(failure_of({ok + "0123456789"}), "wrong body (status 200)");
    EXPECT_EQ(failure_of({"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}),
              "wrong body (status 200)");
    EXPECT_EQ(failure_of({"HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n"}),
              "unexpected status (status 502)");
    EXPECT_EQ(failure_of({"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"}),
              "unexpected status (status 404)");
    EXPECT_EQ(failure_of({"220 smtp\r\n\r\n", true}), "malformed answer");
    EXPECT_EQ(failure_of({ok + "012", true}), "connection broken (status 200)");
    EXPECT_EQ(failure_of({"HTTP/1.1 200 O", true}), "connection broken");
    EXPECT_EQ(failure_of({"", true}), "connection broken");
    EXPECT_EQ(failure_of({""}, 50ms), "no answer in time");
    EXPECT_EQ(failure_of({ok + "012"}, 50ms), "no answer in time (status 200)");
}

TEST(Replay, ARefusalOfTheProxyItselfIsNoAnswer) {
    const auto forbidden = [](const std::string& cache_status) {
        const ScriptedServer proxy([&](const Seen&) {
            return Reply{"HTTP/1.1 403 No\r\nContent-Length: 0\r\nCache-Status: " + cache_status +
                         "\r\n\r\n"};
        });
        auto options = through({proxy.address()});
        options.verify = Verify::none;
        return replay(Log().get(1, "http://a/"), options);
    };
    const auto by_proxy = forbidden("a; detail=not_allowed");
    EXPECT_EQ(failures(by_proxy, RequestFailure::refused), 1u);
    EXPECT_EQ(answered(by_proxy), 0u);
    EXPECT_EQ(by_proxy.first_failure.find("refused by the proxy (status 403, not_allowed) from "),
              0u)
        << by_proxy.first_failure;
    EXPECT_EQ(answered(forbidden("a; fwd=uri-miss")), 1u) << "the origin's own word";
}

TEST(Replay, NamesProxyAndUrlOfTheFirstFailure) {
    const HostPort address = nobody();
    const auto result = replay(Log().get(1, "http://a/x"), through({address}));
    EXPECT_EQ(result.first_failure, "no connection from " + address.text() + " for http://a/x");
    EXPECT_EQ(failures(result, RequestFailure::connect), 1u);
}

TEST(Replay, TakesAnyBodyWhenNotToldToVerify) {
    const ScriptedServer proxy(
        [](const Seen&) { return Reply{"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno"}; });
    auto options = through({proxy.address()});
    options.verify = Verify::none;
    EXPECT_EQ(answered(replay(Log().get(1, "http://a/"), options)), 1u);
}

TEST(Replay, AsksAgainWhenAKeptConnectionHasEnded) {  // RFC 9112 §9.3.1
    const ScriptedServer proxy([](const Seen& seen) {
        // The answer does not say that it is the connection's last.
        return Reply{from_origin(seen).bytes, true};
    });
    Log log;
    for (int i = 0; i < 20; ++i) log.get(1, "http://a/" + std::to_string(i));
    const auto result = replay(log, through({proxy.address()}));
    EXPECT_EQ(answered(result), 20u) << result.first_failure;
}

TEST(Replay, DoesNotWaitForOthersWhenOneProxyHangs) {
    std::promise<void> others_done;
    std::atomic<int> done{0};
    const ScriptedServer good([&](const Seen& seen) {
        if (++done == 10) others_done.set_value();
        return from_origin(seen);
    });
    const ScriptedServer hanging([wait = others_done.get_future().share()](const Seen& seen) {
        wait.wait_for(20s);
        return from_origin(seen);
    });
    auto options = through({good.address(), hanging.address()});
    options.rate = 10'000;
    options.concurrency = 1;
    Log log;
    log.get(client_of(1, 2), "http://a/0");
    for (int i = 0; i < 10; ++i) log.get(client_of(0, 2), "http://a/" + std::to_string(i));
    const auto result = replay(log, options);
    EXPECT_EQ(result.proxies[0].answered(), 10u);
    EXPECT_EQ(result.proxies[1].answered(), 1u) << result.first_failure;
}

// Failover

TEST(Replay, FailsWithItsProxyWithoutFailover) {
    const ScriptedServer good(from_origin);
    const auto result =
        replay(Log().get(client_of(1, 2), "http://a/").get(client_of(0, 2), "http://b/"),
               through({good.address(), nobody()}));
    EXPECT_EQ(result.proxies[0].answered(), 1u);
    EXPECT_EQ(result.proxies[0].taken_over, 0u);
    EXPECT_EQ(result.proxies[1].failed(), 1u);
}

TEST(Replay, GoesToTheNextProxyWithFailover) {
    const ScriptedServer good(from_origin);
    auto options = through({good.address(), nobody()});
    options.failover = true;
    Log log;
    for (int i = 0; i < 10; ++i) log.get(client_of(1, 2), "http://a/" + std::to_string(i));
    const auto result = replay(log, options);
    EXPECT_EQ(result.proxies[0].answered(), 10u);
    EXPECT_EQ(result.proxies[0].taken_over, 10u);
    EXPECT_EQ(result.proxies[1].failed(), 0u);
}

TEST(Replay, TakesOverWhenAnAnswerBreaksOff) {
    const ScriptedServer good(from_origin);
    const ScriptedServer dying([](const Seen& seen) {
        return Reply{like_the_origin(seen).substr(0, like_the_origin(seen).size() - 3), true};
    });
    auto options = through({good.address(), dying.address()});
    options.failover = true;
    const auto result = replay(Log().get(client_of(1, 2), "http://a/"), options);
    EXPECT_EQ(result.proxies[0].taken_over, 1u);
    EXPECT_EQ(result.proxies[0].body_bytes(), 10u);  // of the whole answer only
}

TEST(Replay, DoesNotRepeatWhatMustNotBeRepeated) {  // RFC 9110 §9.2.2
    const ScriptedServer good(from_origin);
    const ScriptedServer dying([](const Seen&) { return Reply{"", true}; });
    auto options = through({good.address(), dying.address()});
    options.failover = true;
    Log log;
    log.trace.methods.push_back("POST");
    log.get(client_of(1, 2), "http://a/", 10, 0, 2);
    EXPECT_EQ(failures(replay(log, options), RequestFailure::cut), 1u);
    EXPECT_TRUE(good.seen().empty());
    EXPECT_EQ(dying.seen().size(), 1u);
}

TEST(Replay, CountsAFailureOfAllAtTheFirst) {
    auto options = through({nobody(), nobody()});
    options.failover = true;
    const auto result = replay(Log().get(client_of(1, 2), "http://a/"), options);
    EXPECT_EQ(result.proxies[0].failed(), 0u);
    EXPECT_EQ(result.proxies[1].failed(), 1u);
}

// Whole replays

TEST(Replay, RunsThroughARealServer) {
    OriginOptions at;
    at.listen.port = 0;
    const Origin origin(at);
    Log log;
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < 300; ++i) {
        log.get(i % 17, "http://a/" + std::to_string(i), 1 + i * i * 7);
        bytes += 1 + i * i * 7;
    }
    ReplayProgress last;
    const auto result = replay(log, through({{"127.0.0.1", origin.port()}}),
                               [&](const ReplayProgress& now) { last = now; });
    EXPECT_EQ(result.first_failure, "");
    EXPECT_EQ(result.sent, 300u);
    EXPECT_FALSE(result.stopped);
    EXPECT_EQ(result.proxies[0].of(ReportedOutcome::unknown).requests, 300u);
    EXPECT_EQ(result.proxies[0].body_bytes(), bytes);
    EXPECT_EQ(origin.requests(), 300u);
    EXPECT_EQ(last.done, 300u);
    EXPECT_EQ(last.total, 300u);
}

TEST(Replay, EndsEarlyOnASignal) {
    std::atomic<int> count{0};
    const ScriptedServer proxy([&](const Seen& seen) {
        if (++count == 10) ::kill(::getpid(), SIGTERM);
        return from_origin(seen);
    });
    auto options = through({proxy.address()});
    options.stop_on_signal = true;
    options.rate = 2000;
    const auto result = replay(Log().many(20'000), options);
    EXPECT_TRUE(result.stopped);
    EXPECT_GE(result.sent, 10u);
    EXPECT_LT(result.sent, 20'000u);
    EXPECT_EQ(answered(result), result.sent);  // every request that was begun was finished
}

TEST(Replay, RefusesSenselessOptions) {
    Log log;
    log.get(1, "http://a/");
    EXPECT_THROW(replay(log, through({})), std::invalid_argument);
    auto options = through({nobody()});
    options.rate = options.speedup = 1;
    EXPECT_THROW(replay(log, options), std::invalid_argument);
    options.rate = -1;
    options.speedup = 0;
    EXPECT_THROW(replay(log, options), std::invalid_argument);
    options.rate = 0;
    options.concurrency = 0;
    EXPECT_THROW(replay(log, options), std::invalid_argument);
    EXPECT_THROW(replay(log, through({{"no such host.invalid", 1}})), std::invalid_argument);
}

}  // namespace replay_test
}  // namespace measure
