#include "proxy/client/http1_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <string>

#include "tests/proxy/fetch/idle_cache.hpp"
#include "tests/proxy/loopback.hpp"

namespace proxy {
namespace http1_writer_test {

using ::testing::EndsWith;
using ::testing::StartsWith;

/// Responses on one connection, to a request of the version in `request`.
class Http1WriterTest : public ::testing::Test, protected test::IdleCache {
protected:
    Http1WriterTest() { next(); }

    void next(int version = 11) {
        const auto head = std::string("GET http://h/a HTTP/1.") + (version == 11 ? "1" : "0") +
                          "\r\nHost: h\r\n\r\n";
        line.write_far(head);
        auto received = connection.begin_head();
        const auto receive = [&]() -> boost::asio::awaitable<void> {
            while (!received) {
                boost::system::error_code ec;
                const auto bytes = co_await connection.read(ec);
                received = connection.go_on_with_head(bytes, ec);
            }
        };
        if (!received) boost::asio::co_spawn(io, receive, boost::asio::detached);
        test::run_until(io, [&] { return received == ClientConnection::ReadResult::head; });
        EXPECT_EQ(reader.parse(request), ParseError::ok);
        writer.start();
    }
    void begin(const ResponseHead& head, std::string_view own = "X-Own: 1\r\n") {
        writer.fields().append(own);
        writer.begin(head);
    }
    ResponseWriter::Progress write(std::string_view bytes, bool end = false) {
        auto& buffers = writer.next_piece();
        if (!bytes.empty()) buffers.emplace_back(bytes.data(), bytes.size());
        BodyPiece piece;
        piece.bytes = bytes.size();
        piece.end = end;
        return writer.write_now(piece);
    }

    static constexpr auto kAll = ResponseWriter::Progress::all;
    test::Loopback line{io};
    SharedClientState shared_clients{*settings, events};
    ClientService service{shared_clients, cache, in_effect};
    ClientConnection connection{service, AcceptedConnection(std::move(line.near), Scheme::http,
                                                            boost::asio::ip::address())};
    proxy::Head request;
    Http1RequestReader reader{service, connection};
    Http1Writer writer{connection, reader, request};
};

TEST_F(Http1WriterTest, SendsHeadAndBodyOfAStatedLength) {
    begin({200, "ETag: \"1\"\r\n", 3, true});
    EXPECT_EQ(write("abc"), kAll);
    EXPECT_TRUE(writer.complete());
    EXPECT_TRUE(writer.may_be_followed());
    EXPECT_EQ(line.read_far(),
              "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nX-Own: 1\r\nContent-Length: 3\r\n\r\nabc");
    EXPECT_EQ(writer.body_bytes(), 3u);
}

TEST_F(Http1WriterTest, MakesChunksOfABodyWithoutALength) {
    begin({200, {}, {}, true});
    EXPECT_EQ(write("abc"), kAll);
    EXPECT_FALSE(writer.complete());
    EXPECT_EQ(write("0123456789abcdef"), kAll);
    EXPECT_EQ(write("", true), kAll);
    EXPECT_TRUE(writer.may_be_followed());
    EXPECT_EQ(line.read_far(),
              "HTTP/1.1 200 OK\r\nX-Own: 1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10\r\n"
              "0123456789abcdef\r\n0\r\n\r\n");
    EXPECT_EQ(writer.body_bytes(), 19u) << "without the lines of chunks";
}

TEST_F(Http1WriterTest, EndsABodyWithoutALengthByTheConnectionForHttp10) {
    next(10);
    begin({200, {}, {}, true});
    EXPECT_EQ(write("abc", true), kAll);
    EXPECT_TRUE(writer.complete());
    EXPECT_FALSE(writer.may_be_followed());
    EXPECT_THAT(line.read_far(), EndsWith("Connection: close\r\n\r\nabc"));
}

TEST_F(Http1WriterTest, LeavesOutABodyThatDoesNotFollow) {
    begin({304, {}, {}, false}, "");
    EXPECT_EQ(write(""), kAll);
    EXPECT_TRUE(writer.complete());
    EXPECT_EQ(line.read_far(), "HTTP/1.1 304 Not Modified\r\n\r\n");
    next();
    begin({200, {}, 10, false}, "");
    EXPECT_EQ(write(""), kAll);
    EXPECT_TRUE(writer.complete());
    EXPECT_EQ(line.read_far(), "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n");
    EXPECT_EQ(writer.body_bytes(), 0u);
}

TEST_F(Http1WriterTest, CountsBytesOfTheBodyAsTheyGoOut) {
    const std::string body(64 << 20, 'x');
    begin({200, {}, body.size(), true});
    EXPECT_EQ(write(body), ResponseWriter::Progress::blocked) << "the client reads nothing";
    EXPECT_FALSE(writer.complete());
    const auto counted = writer.body_bytes();
    EXPECT_GT(counted, 0u);
    EXPECT_EQ(writer.sent_bytes(), counted + std::string("HTTP/1.1 200 OK\r\nX-Own: 1\r\n"
                                                         "Content-Length: 67108864\r\n\r\n")
                                                 .size());
}

TEST_F(Http1WriterTest, AShortBodyIsNotComplete) {
    begin({200, {}, 3, true});
    EXPECT_EQ(write("ab", true), kAll);
    EXPECT_FALSE(writer.complete());
    EXPECT_FALSE(writer.may_be_followed());
}

TEST_F(Http1WriterTest, SendsInterimResponsesToVersionsThatHaveThem) {
    const auto send = [this] {
        boost::asio::co_spawn(
            io,
            [this]() -> boost::asio::awaitable<void> {
                co_await writer.interim(103, "Link: <a>\r\n");
            },
            boost::asio::detached);
        io.restart();
        io.poll();
    };
    send();
    EXPECT_EQ(line.read_far(), "HTTP/1.1 103 \r\nLink: <a>\r\n\r\n");
    EXPECT_FALSE(writer.complete());
    begin({204, {}, {}, false}, "");
    EXPECT_EQ(write(""), kAll);
    EXPECT_THAT(line.read_far(), StartsWith("HTTP/1.1 204 No Content\r\n"));
    next(10);
    send();
    EXPECT_EQ(line.read_far(), "");
}

}  // namespace http1_writer_test
}  // namespace proxy
