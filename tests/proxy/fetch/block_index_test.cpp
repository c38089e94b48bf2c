#include "proxy/fetch/block_index.hpp"

#include "proxy/fetch/block_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/proxy/fetch/idle_cache.hpp"
#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace block_index_test {

using boost::beast::http::field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

Head head(unsigned status, std::string_view length) {
    Head result;
    result.status = status;
    if (!length.empty()) result.fields.push_back({field::content_length, "Content-Length", length});
    return result;
}

TEST(HeadAlone, IsA304WithTheLengthOfTheWhole) {
    EXPECT_EQ(length_of_head_alone(head(304, "20000")), 20'000u);
    EXPECT_FALSE(length_of_head_alone(head(304, "")));
    EXPECT_FALSE(length_of_head_alone(head(200, "20000")));
    EXPECT_FALSE(length_of_head_alone(head(204, "20000")));
}

TEST(HeadAlone, HasALengthThatCanBeRead) {
    for (const auto* bad : {"-1", "1 2", "1,1", "0x10", "99999999999999999999", "ten"})
        EXPECT_FALSE(length_of_head_alone(head(304, bad))) << bad;
}

TEST(Part, IsWantedAsFarAsTheBodyReaches) {
    const auto bounded = parse_range("bytes=100-199");
    EXPECT_TRUE(is_wanted(bounded, *parse_content_range("bytes 100-199/1000")));
    EXPECT_TRUE(is_wanted(bounded, *parse_content_range("bytes 100-149/150")));
    EXPECT_FALSE(is_wanted(bounded, *parse_content_range("bytes 100-149/1000")));
    EXPECT_FALSE(is_wanted(bounded, *parse_content_range("bytes 101-199/1000")));
    EXPECT_FALSE(is_wanted(bounded, *parse_content_range("bytes */1000")));
    const auto open = parse_range("bytes=100-");
    EXPECT_TRUE(is_wanted(open, *parse_content_range("bytes 100-999/1000")));
    EXPECT_FALSE(is_wanted(open, *parse_content_range("bytes 100-998/1000")));
}

/// The second of blocks of 100 bytes of a body of 250, version "1".
class BlockAnswerTest : public ::testing::Test {
protected:
    FetchError judged(unsigned status, const char* range, const char* etag = "\"1\"") const {
        return judge_block(wanted, answer(status, range, etag), false);
    }
    /// Its fields are views into `text_`.
    Head answer(unsigned status, const char* range, const char* etag = "\"1\"") const {
        const auto lines = std::string("Content-Range: ") + range + "\nETag: " + etag;
        text_ = std::make_unique<test::Head>(lines);
        const Fields fields = *text_;
        Head head;
        head.status = status;
        head.fields.assign(fields.begin(), fields.end());
        return head;
    }

    const WantedBlock wanted{{100, 199}, 250, {"\"1\"", "0f"}, {}};

private:
    mutable std::unique_ptr<test::Head> text_;
};

TEST_F(BlockAnswerTest, IsTheBlockOfThatVersionAndNothingElse) {  // RFC 9110 §14.4
    EXPECT_EQ(judged(206, "bytes 100-199/250"), FetchError::none);
    EXPECT_EQ(judged(206, "bytes 100-198/250"), FetchError::changed);
    EXPECT_EQ(judged(206, "bytes 100-199/251"), FetchError::changed);
    EXPECT_EQ(judged(206, "bytes 100-199/250", "\"2\""), FetchError::changed);
    EXPECT_EQ(judged(200, "bytes 100-199/250"), FetchError::changed);
    EXPECT_EQ(judged(416, "bytes */250"), FetchError::changed);
    EXPECT_EQ(judged(503, "bytes 100-199/250"), FetchError::origin_error);
}

TEST_F(BlockAnswerTest, OfAPeerSaysHowLongItIs) {
    const auto block = answer(206, "bytes 100-199/250");
    EXPECT_TRUE(is_given(wanted, block, 100));
    EXPECT_FALSE(is_given(wanted, block, 99));
    EXPECT_FALSE(is_given(wanted, block, std::nullopt));
    EXPECT_FALSE(is_given(wanted, answer(206, "bytes 0-99/250"), 100));
}

TEST_F(BlockAnswerTest, OfTheOriginMayBringWhatFollows) {
    const auto run = [&](unsigned status, const char* range, const char* etag = "\"1\"") {
        return run_of(wanted, answer(status, range, etag), 250);
    };
    EXPECT_EQ(run(206, "bytes 100-199/250"), (ByteRange{100, 199}));
    EXPECT_EQ(run(206, "bytes 100-249/250"), (ByteRange{100, 249}));
    EXPECT_EQ(run(206, "bytes 0-249/250"), std::nullopt);
    EXPECT_EQ(run(206, "bytes 100-198/250"), std::nullopt);
    EXPECT_EQ(run(206, "bytes 100-249/251"), std::nullopt);
    EXPECT_EQ(run(206, "bytes 100-249/250", "\"2\""), std::nullopt);
    EXPECT_EQ(run(200, "-"), (ByteRange{0, 249})) << "it ignores ranges";
    EXPECT_EQ(run(200, "-", "\"2\""), std::nullopt);
    EXPECT_EQ(run_of(wanted, answer(200, "-"), 251), std::nullopt);
    EXPECT_EQ(run_of(wanted, answer(200, "-"), std::nullopt), std::nullopt);
}

TEST(Blocks, AroundARangeAreWhole) {
    const Blocks body{250, 100};
    EXPECT_EQ(blocks_around(parse_range("bytes=150-160"), body), (ByteRange{100, 199}));
    EXPECT_EQ(blocks_around(parse_range("bytes=99-100"), body), (ByteRange{0, 199}));
    EXPECT_EQ(blocks_around(parse_range("bytes=150-240"), body), (ByteRange{100, 249}));
    EXPECT_EQ(blocks_around(parse_range("bytes=150-"), body), (ByteRange{100, 249}));
    EXPECT_EQ(blocks_around(parse_range("bytes=150-99999999999999999999999"), body),
              (ByteRange{100, 249}));
    EXPECT_EQ(blocks_around(parse_range("bytes=150-"), 100).last, std::nullopt);
}

TEST(Whole, GoesOnWhereBlocksOfTheSameVersionStop) {  // RFC 9111 §3.4
    StoredMetadata response;
    response.status = 200;
    response.head_fields = "ETag: \"1\"\r\n";
    EXPECT_TRUE(is_whole_of(response, BodyVersion{"\"1\"", {}, {}}));
    EXPECT_FALSE(is_whole_of(response, BodyVersion{"\"2\"", {}, {}}));
    response.blocks = Blocks{250, 100};
    EXPECT_FALSE(is_whole_of(response, BodyVersion{"\"1\"", {}, {}})) << "in blocks again";
    response.blocks.reset();
    response.status = 503;
    EXPECT_FALSE(is_whole_of(response, BodyVersion{"\"1\"", {}, {}}));
}

TEST(FirstBlock, BringsIndexAndBlock) {
    const auto part = parse_range("bytes=150-160");
    const auto given = parse_content_range("bytes 100-199/250");
    EXPECT_EQ(first_block(part, false, given, Blocks{250, 100}), FirstBlock::index_and_block);
    EXPECT_EQ(first_block(part, true, given, Blocks{250, 100}), FirstBlock::index_and_block);
    const auto end = parse_content_range("bytes 200-249/250");
    EXPECT_EQ(first_block(parse_range("bytes=240-"), false, end, Blocks{250, 100}),
              FirstBlock::index_and_block)
        << "which ends where the body does";
}

TEST(FirstBlock, IsPassedOnIfItIsTheVeryRangeAndCannotBeStored) {
    const auto part = parse_range("bytes=100-199");
    const auto given = parse_content_range("bytes 100-199/250");
    EXPECT_EQ(first_block(part, false, given, std::nullopt), FirstBlock::as_it_is);
    EXPECT_EQ(first_block(part, true, given, std::nullopt), FirstBlock::not_in_parts)
        << "it may be of another version (RFC 9110 §13.1.5)";
    EXPECT_EQ(first_block(parse_range("bytes=100-198"), false, given, std::nullopt),
              FirstBlock::not_in_parts);
}

TEST(FirstBlock, IsOfNoUseIfTheOriginGaveAnotherRange) {
    const auto part = parse_range("bytes=150-160");
    EXPECT_EQ(first_block(part, false, parse_content_range("bytes 0-99/250"), Blocks{250, 100}),
              FirstBlock::not_in_parts);
    EXPECT_EQ(first_block(part, false, std::nullopt, Blocks{250, 100}), FirstBlock::not_in_parts);
}

/// The index of a body of 250 bytes, from its origin's statement about it or about a part of it.
class IndexTest : public ::testing::Test, protected test::IdleCache {
protected:
    IndexTest() { job->result.lease.take({}); }

    std::optional<BlockIndex> index_of(const char* lines, std::uint64_t length = 250) {
        const test::Head text(lines);
        const Fields fields = text;
        proxy::Head head;
        head.status = 206;
        head.fields.assign(fields.begin(), fields.end());
        return make_index(delivery, {head, {}, {}}, length);
    }
    void limit(std::uint64_t object_max) {
        auto config = std::make_shared<LoadedConfig>(*settings);
        config->cache.object_max = object_max;
        job->wanted.request = request(std::move(config));
    }

    Delivery delivery{cache, *job};
    static constexpr const char* kGood =
        "ETag: \"1\"\nCache-Control: max-age=60\nContent-Range: bytes 100-199/250";
};

TEST_F(IndexTest, StandsForTheWholeBody) {
    const auto index = index_of(kGood);
    ASSERT_TRUE(index);
    const auto& response = *index->candidate.response;
    EXPECT_THAT(response.head_fields, Not(HasSubstr("HTTP/1.1")));
    EXPECT_THAT(response.head_fields, Not(HasSubstr("Content-Range")));
    ASSERT_TRUE(response.blocks);
    EXPECT_EQ(response.blocks->length, 250u);
    EXPECT_EQ(response.blocks->block_bytes, settings->cache.block);
    EXPECT_EQ(response.body_bytes(), 250u);
    EXPECT_GT(shared.store.stats().memory_bytes, 0u) << "its head is paid for";
}

TEST_F(IndexTest, IsNoneWithoutAStrongTagToNameBlocksBy) {  // RFC 9110 §13.1.5
    EXPECT_FALSE(index_of("Cache-Control: max-age=60"));
    EXPECT_FALSE(index_of("ETag: W/\"1\"\nCache-Control: max-age=60"));
}

TEST_F(IndexTest, IsNoneOfWhatMayNotBeStored) {
    EXPECT_FALSE(index_of("ETag: \"1\"\nCache-Control: no-store"));
    EXPECT_EQ(shared.store.stats().memory_bytes, 0u);
}

TEST_F(IndexTest, IsNoneOfWhatIsEmptyOrTooLargeOrToComeInOnePiece) {
    EXPECT_FALSE(index_of(kGood, 0));
    limit(250);
    EXPECT_TRUE(index_of(kGood));
    limit(249);
    EXPECT_FALSE(index_of(kGood));
    limit(250);
    job->wanted.may_use_blocks = false;
    EXPECT_FALSE(index_of(kGood));
}

TEST_F(IndexTest, IsNoneWhereThereIsNoRoom) {
    const auto all = shared.store.reserve(settings->cache.memory, Store::Clock::now());
    ASSERT_TRUE(all);
    EXPECT_FALSE(index_of(kGood));
}

TEST_F(IndexTest, IsGivenToThoseWhoWaitAndToTheStore) {
    const Fill::Reader leader(job->result.fill, std::make_shared<base::Wakeup>(io.get_executor()),
                              true);
    publish(delivery, *index_of(kGood), {Fill::From::origin, {}, 206});
    EXPECT_EQ(leader.state().phase, Fill::Phase::complete);
    EXPECT_EQ(leader.state().incoming.length, 250u);
    const auto found = find(key.uri(), Store::Clock::now()).response;
    ASSERT_NE(found, nullptr);
    EXPECT_TRUE(found->blocks);
}

}  // namespace block_index_test
}  // namespace proxy
