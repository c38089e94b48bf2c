#include "proxy/storage/body_reader.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

namespace proxy {
namespace body_reader_test {

/// The same body, in memory and on its way, read by the same steps.
class BodyReaderTest : public ::testing::Test {
protected:
    BodyReaderTest() {
        append("0123");
        append("456789");
    }
    void append(std::string_view bytes) {
        response_->body->add_block(bytes.size(), {});
        response_->body->append(bytes);
    }
    std::shared_ptr<base::Wakeup> wakeup() {
        return std::make_shared<base::Wakeup>(io_.get_executor());
    }
    std::shared_ptr<Fill> fill() {
        auto made = std::make_shared<Fill>(wakeup(), 1000);
        Fill::Incoming incoming;
        incoming.response = response_;
        incoming.shared = true;
        made->begin(std::move(incoming));
        return made;
    }

    struct Read {
        std::string text;
        BodyPiece piece;
    };
    static Read read(const BodyReader& body, std::uint64_t max_bytes) {
        Read result;
        std::vector<boost::asio::const_buffer> buffers;
        result.piece = body.peek(max_bytes, 64, buffers);
        for (const auto& buffer : buffers)
            result.text.append(static_cast<const char*>(buffer.data()), buffer.size());
        return result;
    }
    static void expect_the_whole(BodyReader& body) {
        const auto first = read(body, 3);
        EXPECT_EQ(first.text, "012");
        EXPECT_EQ(first.piece.bytes, 3u);
        EXPECT_FALSE(first.piece.end);
        EXPECT_EQ(read(body, 3).text, "012") << "nothing was consumed";
        body.consume(5);  // what is left out counts as read
        const auto rest = read(body, 1000);
        EXPECT_EQ(rest.text, "56789");
        EXPECT_TRUE(rest.piece.end);
        EXPECT_FALSE(rest.piece.failed);
    }

    boost::asio::io_context io_;
    base::MemoryBudget windows_{0};
    std::shared_ptr<StoredResponse> response_ = std::make_shared<StoredResponse>();
};

TEST_F(BodyReaderTest, ReadsAStoredBody) {
    BodyReader body(*response_, wakeup(), windows_);
    expect_the_whole(body);
}

TEST_F(BodyReaderTest, ReadsAnArrivingBodyAlike) {
    const auto under_way = fill();
    under_way->complete(true);
    Fill::Reader reader(under_way, wakeup(), false);
    BodyReader body(reader);
    expect_the_whole(body);
}

TEST_F(BodyReaderTest, LetsItsCallerWaitForMissingBytes) {
    const auto under_way = fill();
    Fill::Reader reader(under_way, wakeup(), true);
    BodyReader body(reader);
    body.consume(10);
    const auto none = read(body, 1000).piece;
    EXPECT_EQ(none.bytes, 0u);
    EXPECT_FALSE(none.end);
    EXPECT_FALSE(none.failed);
    append("more");
    EXPECT_EQ(read(body, 1000).text, "more");
    under_way->fail(FetchError::reset);
    body.consume(4);
    EXPECT_TRUE(read(body, 1000).piece.failed);
}

TEST_F(BodyReaderTest, EndsWhenLessCameThanWasLeftOut) {
    const auto under_way = fill();
    Fill::Reader reader(under_way, wakeup(), true);
    BodyReader body(reader);
    body.consume(100);
    EXPECT_FALSE(read(body, 1000).piece.end) << "more may come";
    under_way->complete(true);
    EXPECT_TRUE(read(body, 1000).piece.end);
}

TEST_F(BodyReaderTest, FreesBytesThatItsOnlyReaderSkips) {
    base::MemoryBudget budget(1u << 30);
    const auto under_way = fill();
    Fill::Reader reader(under_way, wakeup(), true);
    under_way->stop_sharing();
    BodyReader(reader).consume(1u << 20);
    const std::string bytes(4096, 'x');
    for (int i = 0; i < 64; ++i) {
        ASSERT_TRUE(budget.take(bytes.size()));
        under_way->add_block(bytes.size(), base::Charge(budget, bytes.size()));
        under_way->append(bytes);
        ASSERT_LE(budget.used(), 2 * bytes.size()) << i;
    }
}

TEST_F(BodyReaderTest, EndsAtOnceWithABodyThatIsEmpty) {
    const StoredResponse nothing;
    BodyReader body(nothing, wakeup(), windows_);
    const auto piece = read(body, 1000).piece;
    EXPECT_EQ(piece.bytes, 0u);
    EXPECT_TRUE(piece.end);
}

TEST_F(BodyReaderTest, GivesAtMostAPieceOfAnArrivingBodyAtOnce) {
    append(std::string(2 * kBodyBlockBytes, 'x'));
    const auto under_way = fill();
    Fill::Reader reader(under_way, wakeup(), false);
    EXPECT_EQ(read(BodyReader(reader), 1u << 30).piece.bytes, kBodyBlockBytes);
    EXPECT_EQ(read(BodyReader(*response_, wakeup(), windows_), 1u << 30).piece.bytes,
              response_->body_bytes());
}

}  // namespace body_reader_test
}  // namespace proxy
