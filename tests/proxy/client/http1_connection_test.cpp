#include "proxy/client/http1_connection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <string>

#include "tests/proxy/loopback.hpp"
#include "tests/proxy/request/recorded_transport.hpp"

namespace proxy {
namespace http1_connection_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// One client connection to a node that has a response to http://h/a.
class Http1ConnectionTest : public ::testing::Test, public test::RecordedTransport {
protected:
    /// The connection ends before the node's parts do.
    ~Http1ConnectionTest() override {
        boost::system::error_code ignored;
        line.far.close(ignored);
        test::run_until(io, [this] { return ended; });
    }
    Http1ConnectionTest() { put(key.uri(), "ETag: \"1\"\r\n", "body", Store::Clock::now()); }

    void begin() {
        AcceptedConnection client(std::move(line.near), Scheme::http,
                                  boost::asio::ip::make_address("127.0.0.1"));
        boost::asio::co_spawn(io, serve_client(service, std::move(client)),
                              [this](std::exception_ptr) { ended = true; });
    }
    /// The bytes that the client gets until `enough` of them have come.
    template <class Enough>
    std::string receive(const Enough& enough) {
        std::string all;
        test::run_until(io, [&] {
            all += line.read_far();
            return enough(all);
        });
        return all;
    }
    static auto ends_with(std::string_view end) {
        return [end](const std::string& all) { return all.ends_with(end); };
    }

    test::Loopback line{io};
    bool ended = false;
};

TEST_F(Http1ConnectionTest, ServesPipelinedRequestsInOrder) {
    begin();
    line.write_far(
        "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n"
        "HEAD http://h/a HTTP/1.1\r\nHost: h\r\n\r\n"
        "GET /a HTTP/1.1\r\nHost: h\r\n\r\n");
    const auto all = receive([](const std::string& got) {
        return got.find("404") != std::string::npos && got.ends_with(".)\n");
    });
    EXPECT_THAT(all, StartsWith("HTTP/1.1 200 OK\r\nETag: \"1\"\r\n"));
    EXPECT_THAT(all, HasSubstr("Content-Length: 4\r\n\r\nbodyHTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(all, HasSubstr("\r\n\r\nHTTP/1.1 404 Not Found\r\n"));
    EXPECT_FALSE(ended);
    EXPECT_EQ(counters.requests[Outcome::local_hit], 2u);
}

TEST_F(Http1ConnectionTest, RefusesBytesThatAreNoRequestAndCloses) {
    begin();
    line.write_far("GET http://h/a HTTP/1.1\r\nHost : h\r\n\r\n");
    const auto all = receive([&](const std::string& got) { return !got.empty(); });
    EXPECT_THAT(all, StartsWith("HTTP/1.1 400 Bad Request\r\n"));
    EXPECT_THAT(all, HasSubstr("Connection: close\r\n"));
    line.far.close();
    test::run_until(io, [this] { return ended; });
    EXPECT_EQ(counters.requests[Outcome::error], 1u);
}

TEST_F(Http1ConnectionTest, EndsAtOnceBehindTheLastRequestOfItsClient) {
    begin();
    line.write_far("GET http://h/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    receive(ends_with("Connection: close\r\n\r\nbody"));
    io.poll();
    EXPECT_TRUE(ended) << "while the client keeps its end open";
    EXPECT_EQ(shared_clients.connections.load(), 0u);
}

TEST_F(Http1ConnectionTest, EndsAtOnceBehindARequestOfHttp10) {
    begin();
    line.write_far("GET http://h/a HTTP/1.0\r\n\r\n");
    receive(ends_with("\r\n\r\nbody"));
    io.poll();
    EXPECT_TRUE(ended);
}

TEST_F(Http1ConnectionTest, WaitsForAClientThatSendsMoreBehindItsLastRequest) {
    begin();
    line.write_far("GET http://h/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\nmore");
    receive(ends_with("Connection: close\r\n\r\nbody"));
    io.poll();
    EXPECT_FALSE(ended) << "a close would reset the connection, perhaps before the client has read";
    line.far.close();
    test::run_until(io, [this] { return ended; });
}

TEST_F(Http1ConnectionTest, WaitsBehindARequestWithABody) {
    begin();
    line.write_far(
        "POST /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi");
    receive(ends_with(".)\n"));
    io.poll();
    EXPECT_FALSE(ended) << "a line end may follow it";
    line.far.close();
    test::run_until(io, [this] { return ended; });
}

TEST_F(Http1ConnectionTest, WaitsBehindEarlierResponsesThatItsClientHasNotTaken) {
    put(key.uri(), "", std::string(1'000'000, 'x'), Store::Clock::now());
    put("http://h/b", "", "body", Store::Clock::now());
    begin();
    line.write_far(
        "GET http://h/a HTTP/1.1\r\nHost: h\r\n\r\n"
        "GET http://h/b HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 100; ++i) io.poll();
    EXPECT_FALSE(ended);
    line.far.close();
    test::run_until(io, [this] { return ended; });
}

TEST_F(Http1ConnectionTest, StaysOpenBehindALargerResponse) {
    put(key.uri(), "", std::string(20'000, 'x'), Store::Clock::now());
    begin();
    line.write_far("GET http://h/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    receive(ends_with(std::string(20'000, 'x')));
    io.poll();
    EXPECT_FALSE(ended);
    line.far.close();
    test::run_until(io, [this] { return ended; });
}

}  // namespace http1_connection_test
}  // namespace proxy
