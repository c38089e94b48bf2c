#include "proxy/upstream/response_reader.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace proxy {
namespace {

using Step = ResponseReader::Step;

class ResponseReaderTest : public ::testing::Test {
protected:
    void receive(std::string_view bytes) {
        const auto room = buffer.prepare(bytes.size());
        std::memcpy(room.data(), bytes.data(), bytes.size());
        buffer.commit(bytes.size());
    }
    Step take_head(bool to_head = false) {
        std::size_t scanned = 0;
        return reader.take_head(buffer, scanned, to_head, true);
    }
    std::string body() {
        std::string out;
        for (const auto piece : reader.pieces()) out.append(piece);
        return out;
    }

    base::ReadBuffer buffer;
    ResponseReader reader{HeadLimits{.head_bytes = 80}};
};

TEST_F(ResponseReaderTest, TakesAHeadAndThenTheBodyThatCameWithIt) {
    receive("HTTP/1.1 200 OK\r\nContent-Le");
    EXPECT_EQ(take_head(), Step::more);
    receive("ngth: 4\r\n\r\nbo");
    ASSERT_EQ(take_head(), Step::head);
    EXPECT_EQ(reader.content_length(), 4u);
    std::uint64_t received = 0;
    ASSERT_TRUE(reader.decode(buffer, &received));
    EXPECT_EQ(body(), "bo");
    EXPECT_TRUE(reader.is_partial());
    reader.drop_pieces(buffer);
    receive("dy");
    ASSERT_TRUE(reader.decode(buffer, &received));
    EXPECT_EQ(body(), "dy");
    EXPECT_EQ(received, 4u);
    EXPECT_TRUE(reader.is_done());
}

TEST_F(ResponseReaderTest, HasOneLimitForAllHeadsOfAResponse) {
    for (int i = 0; i < 2; ++i) {
        receive("HTTP/1.1 103 Early Hints\r\n\r\n");
        ASSERT_EQ(take_head(), Step::head);
    }
    receive("HTTP/1.1 200 OK\r\nA: 123456789\r\n\r\n");
    EXPECT_EQ(take_head(), Step::malformed);
    EXPECT_EQ(reader.malformed(), ParseError::head_too_large);
}

TEST_F(ResponseReaderTest, KnowsWhetherTheHeadForHeadAnnouncesABody) {
    receive("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
    ASSERT_EQ(take_head(true), Step::head);
    EXPECT_TRUE(reader.is_done());
    EXPECT_TRUE(reader.announces_a_body());
    receive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ASSERT_EQ(take_head(true), Step::head);
    EXPECT_FALSE(reader.announces_a_body());
}

TEST_F(ResponseReaderTest, RefusesWhatIsNotHttpWithoutWaitingForItsEnd) {
    receive("SSH-2.0");
    EXPECT_EQ(take_head(), Step::malformed);
    EXPECT_EQ(reader.malformed(), ParseError::not_http);
}

}  // namespace
}  // namespace proxy
