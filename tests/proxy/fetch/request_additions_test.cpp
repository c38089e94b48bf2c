#include "proxy/fetch/request_additions.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace request_additions_test {

class RequestAdditionsTest : public ::testing::Test, protected test::IdleCache {
protected:
    RequestAdditions request(const std::optional<StaleCopy>& copy = {},
                             bool only_whole = false) const {
        return additions_for(what_to_ask(facts_of(*job, copy.has_value(), only_whole)), *job, copy);
    }
    void has_stored(const char* head) {
        auto response = std::make_shared<StoredResponse>();
        response->head_fields = head;
        job->from.stale = std::move(response);
    }
};

TEST_F(RequestAdditionsTest, IsTheClientsForWhatIsNotThere) {
    EXPECT_EQ(request().kind, OriginRequestKind::as_client);
    EXPECT_EQ(request().lines, "");
    EXPECT_FALSE(request().validators.any());
}

TEST_F(RequestAdditionsTest, NamesTheValidatorsOfWhatIsStored) {  // RFC 9111 §4.3.1
    has_stored("ETag: \"1\"\r\n");
    EXPECT_EQ(request().kind, OriginRequestKind::validate_stored);
    EXPECT_EQ(request().lines, "If-None-Match: \"1\"\r\n");
    EXPECT_EQ(request().validators.etag, "\"1\"");
    EXPECT_EQ(request().stored_fields.size(), 1u);
    EXPECT_EQ(request({}, true).lines, "") << "once more as the client asked";
}

TEST_F(RequestAdditionsTest, NamesTheValidatorsOfAPeersCopy) {
    const StaleCopy copy{"b", "\"2\"", ""};
    EXPECT_EQ(request(copy).kind, OriginRequestKind::validate_copy);
    EXPECT_EQ(request(copy).lines, "If-None-Match: \"2\"\r\n");
    EXPECT_TRUE(request(copy).stored_fields.empty());
}

TEST_F(RequestAdditionsTest, AsksForABlockOfThatVersion) {  // RFC 9110 §13.1.5
    job->wanted.block = WantedBlock{{100, 199}, 250, {"\"1\"", "0f"}, {}};
    EXPECT_EQ(request().kind, OriginRequestKind::block);
    EXPECT_EQ(request().lines, "Range: bytes=100-199\r\nIf-Range: \"1\"\r\n");
    EXPECT_FALSE(request().validators.any());
    job->wanted.block->up_to = 249;
    EXPECT_EQ(request().lines, "Range: bytes=100-249\r\nIf-Range: \"1\"\r\n");
}

TEST_F(RequestAdditionsTest, AsksForTheBlocksInWhichARangeLies) {
    const auto block = settings->cache.block;
    job->wanted.part = WantedPart{parse_range("bytes=" + std::to_string(block + 5) + "-")};
    EXPECT_EQ(request().kind, OriginRequestKind::first_block);
    const auto begin = "Range: bytes=" + std::to_string(block) + "-";
    EXPECT_EQ(request().lines, begin + "\r\n");
    job->wanted.part->range.form = RangeRequest::Form::bounded;
    job->wanted.part->range.last = 2 * block;
    EXPECT_EQ(request().lines, begin + std::to_string(3 * block - 1) + "\r\n");
    job->wanted.part->range.last = std::numeric_limits<std::uint64_t>::max();
    EXPECT_EQ(request().lines, begin + "\r\n") << "which lies behind any body";
}

TEST_F(RequestAdditionsTest, IsNoneWhereTheOriginCannotBeAsked) {
    job->wanted.part = WantedPart{parse_range("bytes=-5")};
    EXPECT_EQ(request().kind, OriginRequestKind::impossible);
    job->wanted.part.reset();
    job->wanted.request = request_without_site();
    EXPECT_EQ(request().kind, OriginRequestKind::impossible);
}

}  // namespace request_additions_test
}  // namespace proxy
