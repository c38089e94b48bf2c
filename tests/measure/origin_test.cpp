#include "measure/origin/origin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/system/system_error.hpp>
#include <memory>
#include <thread>

#include "measure/origin/origin_body.hpp"
#include "tests/measure/scripted_server.hpp"

namespace measure {
namespace origin_test {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

OriginOptions anywhere() {
    OriginOptions options;
    options.listen.port = 0;
    return options;
}

std::string get(const std::string& target, const std::string& lines = {}) {
    return "GET " + target + " HTTP/1.1\r\nHost: a.example\r\n" + lines + "\r\n";
}
constexpr const char* kClose = "Connection: close\r\n";

std::string body_of(const std::string& answer) {
    const auto end = answer.find("\r\n\r\n");
    return end == std::string::npos ? "no head" : answer.substr(end + 4);
}

bool is_body_of(const std::string& url, std::uint64_t begin, const std::string& body) {
    proxy::CacheKey key;
    key.assign(proxy::Scheme::http, boost::beast::http::verb::get, url, {});
    return OriginBody::of(key).matches(begin, body);
}

TEST(Origin, GivesTheBodyOfTheUrlWhole) {
    const Origin origin(anywhere());
    const auto answer =
        raw_exchange(origin.port(), get("/x", std::string("Hearsay-Bytes: 1000000\r\n") + kClose));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    const auto body = body_of(answer);
    EXPECT_EQ(body.size(), 1'000'000u);
    EXPECT_TRUE(is_body_of("http://a.example/x", 0, body));
    EXPECT_EQ(origin.requests(), 1u);
    EXPECT_EQ(origin.body_bytes(), 1'000'000u);
}

TEST(Origin, GivesTheSameForBothFormsOfTarget) {
    const Origin origin(anywhere());
    const auto reverse = raw_exchange(origin.port(), get("/x?y", kClose));
    const auto forward = raw_exchange(origin.port(), get("http://a.example/x?y", kClose));
    EXPECT_EQ(body_of(reverse).size(), 1024u);
    EXPECT_EQ(body_of(reverse), body_of(forward));
}

TEST(Origin, GivesParts) {
    const Origin origin(anywhere());
    const auto body = body_of(raw_exchange(
        origin.port(),
        get("/x", std::string("Hearsay-Bytes: 300000\r\nRange: bytes=70000-269999\r\n") + kClose)));
    EXPECT_EQ(body.size(), 200'000u);
    EXPECT_TRUE(is_body_of("http://a.example/x", 70'000, body));
}

TEST(Origin, AnswersPipelinedRequestsInOrder) {
    const Origin origin(anywhere());
    const std::string post = "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
    const auto all =
        raw_exchange(origin.port(), get("/1", "Hearsay-Bytes: 20\r\n") + post +
                                        get("/2", "Hearsay-Bytes: 30\r\n") +
                                        get("/3", std::string("Hearsay-Bytes: 0\r\n") + kClose));
    const auto first = all.find("Content-Length: 20"), second = all.find("Content-Length: 1024"),
               third = all.find("Content-Length: 30"), fourth = all.find("Content-Length: 0");
    EXPECT_TRUE(first < second && second < third && third < fourth && fourth != std::string::npos)
        << all;
    EXPECT_EQ(origin.requests(), 4u);
}

TEST(Origin, WaitsAsLongAsItIsTold) {
    const Origin origin(anywhere());
    const auto begin = std::chrono::steady_clock::now();
    raw_exchange(origin.port(), get("/x", std::string("Hearsay-Delay: 30\r\n") + kClose));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 30ms);
}

TEST(Origin, AsksForABodyThatWaits) {  // RFC 9110 §10.1.1
    const Origin origin(anywhere());
    const auto answer = raw_exchange(origin.port(),
                                     "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                                     "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                                     "3\r\nabc\r\n0\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"));
}

TEST(Origin, RefusesWhatIsNotARequest) {
    const Origin origin(anywhere());
    EXPECT_THAT(raw_exchange(origin.port(), "hello\r\n\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(raw_exchange(origin.port(), "GET / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 400"));
    EXPECT_THAT(raw_exchange(origin.port(), get("/" + std::string(20'000, 'x'))),
                StartsWith("HTTP/1.1 414"));
    EXPECT_THAT(raw_exchange(origin.port(), get("/", "X: " + std::string(70'000, 'x') + "\r\n")),
                StartsWith("HTTP/1.1 431"));
}

TEST(Origin, TellsWhenItsPortIsTaken) {
    const Origin origin(anywhere());
    auto options = anywhere();
    options.listen.port = origin.port();
    EXPECT_THROW(Origin{options}, boost::system::system_error);
    options.listen.host = "no such host.invalid";
    EXPECT_THROW(Origin{options}, boost::system::system_error);
}

TEST(Origin, ServesManyConnectionsOnSeveralThreads) {
    auto options = anywhere();
    options.workers = 2;
    const Origin origin(options);
    std::vector<std::thread> clients;
    for (int c = 0; c < 4; ++c) {
        clients.emplace_back([&, c] {
            for (int i = 0; i < 20; ++i) {
                const auto path = '/' + std::to_string(c * 100 + i);
                const auto body = body_of(raw_exchange(origin.port(), get(path, kClose)));
                EXPECT_TRUE(is_body_of("http://a.example" + path, 0, body));
            }
        });
    }
    for (auto& client : clients) client.join();
    EXPECT_EQ(origin.requests(), 80u);
}

TEST(Origin, EndsWhileConnectionsAreOpen) {
    auto origin = std::make_unique<Origin>(anywhere());
    const auto port = origin->port();
    std::string answer;
    std::thread client(
        [&] { answer = raw_exchange(port, get("/x")); });  // reads until it is closed
    while (origin->body_bytes() == 0) std::this_thread::yield();
    origin.reset();
    client.join();
    EXPECT_TRUE(is_body_of("http://a.example/x", 0, body_of(answer)));
}

}  // namespace origin_test
}  // namespace measure
