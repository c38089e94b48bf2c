#include "proxy/cache/origin_words.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/idle_cache.hpp"

namespace proxy {
namespace {

class OriginWordsTest : public ::testing::Test, protected test::IdleCache {
protected:
    OriginWords words(const std::optional<StaleCopy>& copy = {}, bool only_whole = false) const {
        return words_for(what_to_ask(case_of(*job, copy.has_value(), only_whole)), *job, copy);
    }
    void has_stored(const char* head) {
        auto response = std::make_shared<StoredResponse>();
        response->head = head;
        job->stale = std::move(response);
    }
};

TEST_F(OriginWordsTest, AreNoneForWhatIsNotThere) {
    EXPECT_EQ(words().what, OriginAsks::nothing);
    EXPECT_EQ(words().lines, "");
    EXPECT_FALSE(words().validators.any());
}

TEST_F(OriginWordsTest, NameTheValidatorsOfWhatIsStored) {  // RFC 9111 §4.3.1
    has_stored("HTTP/1.1 200 OK\r\nETag: \"1\"\r\n");
    EXPECT_EQ(words().what, OriginAsks::stored_is_good);
    EXPECT_EQ(words().lines, "If-None-Match: \"1\"\r\n");
    EXPECT_EQ(words().validators.etag, "\"1\"");
    EXPECT_EQ(words().stored_fields.size(), 1u);
    EXPECT_EQ(words({}, true).lines, "") << "once more as the client asked";
}

TEST_F(OriginWordsTest, NameTheValidatorsOfAPeersCopy) {
    const StaleCopy copy{"b", "\"2\"", ""};
    EXPECT_EQ(words(copy).what, OriginAsks::copy_is_good);
    EXPECT_EQ(words(copy).lines, "If-None-Match: \"2\"\r\n");
    EXPECT_TRUE(words(copy).stored_fields.empty());
}

TEST_F(OriginWordsTest, AskForABlockOfThatVersion) {  // RFC 9110 §13.1.5
    job->block = FetchJob::Block{{100, 199}, 250, "\"1\"", {}};
    EXPECT_EQ(words().what, OriginAsks::the_block);
    EXPECT_EQ(words().lines, "Range: bytes=100-199\r\nIf-Range: \"1\"\r\n");
    EXPECT_FALSE(words().validators.any());
}

TEST_F(OriginWordsTest, AskForTheBlockInWhichARangeBegins) {
    const auto block = settings->cache.block;
    job->part = parse_range("bytes=" + std::to_string(block + 5) + "-");
    EXPECT_EQ(words().what, OriginAsks::the_first_block);
    EXPECT_EQ(words().lines, "Range: bytes=" + std::to_string(block) + "-" +
                                 std::to_string(2 * block - 1) + "\r\n");
}

TEST_F(OriginWordsTest, AreNoneWhereTheOriginCannotBeAsked) {
    job->part = parse_range("bytes=-5");
    EXPECT_EQ(words().what, OriginAsks::cannot_be);
    job->part.reset();
    job->route = NoRoute::no_origin;
    EXPECT_EQ(words().what, OriginAsks::cannot_be);
}

}  // namespace
}  // namespace proxy
