#include "proxy/fetch/resume_plan.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace resume_plan_test {

using namespace std::chrono_literals;
using Text = test::Head;

TEST(Silence, OfAnOriginMayLastAsLongAsBodiesMayBeIdle) {
    LoadedConfig config;
    config.timeouts.body_idle = 30s;
    config.constants.peers.stall = 4s;
    EXPECT_EQ(silence_at_most(Fill::From::origin, config), 30s);
    EXPECT_EQ(silence_at_most(Fill::From::peer, config), 4s);
    config.timeouts.body_idle = 1s;
    EXPECT_EQ(silence_at_most(Fill::From::peer, config), 1s) << "whichever is less";
}

TEST(BodyEnd, GoesOnElsewhereOnlyAfterAFault) {
    const auto whole = end_of_body(FetchError::none, false, true);
    EXPECT_EQ(whole.error, FetchError::none);
    EXPECT_TRUE(whole.faultless);
    EXPECT_FALSE(whole.resume);
    const auto broken = end_of_body(FetchError::body_timeout, false, true);
    EXPECT_EQ(broken.error, FetchError::body_timeout);
    EXPECT_FALSE(broken.faultless);
    EXPECT_TRUE(broken.resume);
    EXPECT_FALSE(end_of_body(FetchError::reset, false, false).resume);
}

TEST(BodyEnd, IsNobodysFaultWhenNobodyWantsIt) {
    for (const auto& end : {end_of_body(FetchError::abandoned, false, true),
                            end_of_body(FetchError::reset, true, true)}) {
        EXPECT_EQ(end.error, FetchError::abandoned);
        EXPECT_TRUE(end.faultless);
        EXPECT_FALSE(end.resume);
    }
}

TEST(BodySize, IsWhatItShouldBeWhereThatIsKnown) {
    EXPECT_EQ(judge_size(100, 100), FetchError::none);
    EXPECT_EQ(judge_size(99, 100), FetchError::malformed);
    EXPECT_EQ(judge_size(101, 100), FetchError::malformed);
    EXPECT_EQ(judge_size(99, std::nullopt), FetchError::none);
}

/// RFC 9110 §13.1.5, §14.4.
class RestTest : public ::testing::Test {
protected:
    static std::optional<Continuation> continuation(const BodyRemainder& rest, const char* range,
                                                    const char* etag = "\"1\"",
                                                    unsigned status = 206) {
        const auto lines = std::string("Content-Range: ") + range + "\nETag: " + etag;
        const Text text(lines);
        const Fields fields = text;
        Head head;
        head.status = status;
        head.fields.assign(fields.begin(), fields.end());
        return goes_on_with(rest, head);
    }
    static std::optional<std::uint64_t> after(const BodyRemainder& rest, const char* range,
                                              const char* etag = "\"1\"", unsigned status = 206) {
        const auto given = continuation(rest, range, etag, status);
        return given ? std::optional(given->end) : std::nullopt;
    }
};

TEST_F(RestTest, BeginsBehindWhatHasCome) {
    const auto whole = rest_of("\"1\"", 400, std::nullopt, 1000);
    EXPECT_EQ(whole.first, 400u);
    EXPECT_EQ(whole.last, std::nullopt) << "to the end";
    const auto block = rest_of("\"1\"", 40, ByteRange{100, 199}, 1000);
    EXPECT_EQ(block.first, 140u);
    EXPECT_EQ(block.last, 199u);
}

TEST_F(RestTest, OfABlockMayComeWithTheBlocksBehindItThatWereAskedFor) {
    auto rest = rest_of("\"1\"", 40, ByteRange{100, 199}, 1000);
    rest.up_to = 499;
    const auto behind = [&](const char* range) {
        const auto given = continuation(rest, range);
        return given && given->end == 100u ? given->behind : std::nullopt;
    };
    EXPECT_EQ(behind("bytes 140-499/1000"), (ByteRange{200, 499}));
    EXPECT_EQ(behind("bytes 140-249/1000"), (ByteRange{200, 249})) << "it may give less";
    EXPECT_EQ(after(rest, "bytes 140-199/1000"), 100u);
    EXPECT_EQ(behind("bytes 140-199/1000"), std::nullopt);
    EXPECT_FALSE(after(rest, "bytes 140-500/1000"));
    EXPECT_FALSE(after(rest, "bytes 140-198/1000"));
    EXPECT_FALSE(after(rest, "bytes 100-499/1000"));
}

TEST_F(RestTest, IsToldByWhatHasComeWhenItEnds) {
    EXPECT_EQ(after(rest_of("\"1\"", 400, std::nullopt, 1000), "bytes 400-999/1000"), 1000u);
    EXPECT_EQ(after(rest_of("\"1\"", 400, std::nullopt, std::nullopt), "bytes 400-999/1000"),
              1000u);
    EXPECT_EQ(after(rest_of("\"1\"", 40, ByteRange{100, 199}, 1000), "bytes 140-199/1000"), 100u);
}

TEST_F(RestTest, IsNothingThatIsNotProvablyTheSame) {
    const auto rest = rest_of("\"1\"", 400, std::nullopt, 1000);
    EXPECT_FALSE(after(rest, "bytes 400-999/1000", "\"2\""));
    EXPECT_FALSE(after(rest, "bytes 400-999/1000", "W/\"1\""));
    EXPECT_FALSE(after(rest, "bytes 400-999/1000", "\"1\"", 200));
    EXPECT_FALSE(after(rest, "bytes 400-899/900")) << "of another length";
    EXPECT_FALSE(after(rest, "bytes 400-998/1000")) << "not to the end";
    EXPECT_FALSE(after(rest, "bytes 401-999/1000"));
    EXPECT_FALSE(after(rest, "bytes 400-999/*"));
    EXPECT_FALSE(after(rest, "items 400-999/1000"));
    EXPECT_FALSE(after(rest_of("\"1\"", 40, ByteRange{100, 199}, 1000), "bytes 140-299/1000"));
}

TEST_F(RestTest, MayComeBehindTheBytesThatHaveComeAlready) {  // RFC 9110 §14.2
    const auto whole = [](const BodyRemainder& rest, std::string_view length,
                          std::string_view etag) {
        const auto lines = std::string("ETag: ").append(etag).append("\nContent-Length: ");
        const Text text(std::string(lines).append(length));
        const Fields fields = text;
        Head head;
        head.status = 200;
        head.fields.assign(fields.begin(), fields.end());
        return goes_on_with(rest, head);
    };
    const auto rest = rest_of("\"1\"", 400, std::nullopt, 1000);
    const auto given = whole(rest, "1000", "\"1\"");
    ASSERT_TRUE(given);
    EXPECT_EQ(given->first, 0u);
    EXPECT_EQ(given->end, 1000u);
    EXPECT_FALSE(whole(rest, "1000", "\"2\""));
    EXPECT_FALSE(whole(rest, "999", "\"1\""));
    EXPECT_FALSE(whole(rest_of("\"1\"", 400, std::nullopt, std::nullopt), "1000", "\"1\""));
    EXPECT_FALSE(given->goes_on);
    auto block = rest_of("\"1\"", 40, ByteRange{100, 199}, 1000);
    const auto around = whole(block, "1000", "\"1\"");
    ASSERT_TRUE(around);
    EXPECT_EQ(around->first, 0u);
    EXPECT_EQ(around->end, 100u);
    EXPECT_TRUE(around->goes_on);
    EXPECT_FALSE(around->behind);
    block.up_to = 499;
    EXPECT_EQ(whole(block, "1000", "\"1\"")->behind, (ByteRange{200, 999}));
    EXPECT_FALSE(whole(rest_of("\"1\"", 40, ByteRange{900, 999}, 1000), "1000", "\"1\"")->goes_on);
}

TEST_F(RestTest, ThatIsRefusedMayComeLater) {  // RFC 9110 §15.5.9, §15.6, RFC 6585 §4
    Head head;
    for (const auto status : {500u, 503u, 408u, 429u}) {
        head.status = status;
        EXPECT_EQ(why_not_that(head, false), FetchError::origin_error) << status;
        EXPECT_EQ(why_not_that(head, true), FetchError::origin_error) << status;
    }
    for (const auto status : {200u, 206u, 404u, 410u, 412u, 416u}) {
        head.status = status;
        EXPECT_EQ(why_not_that(head, false), FetchError::changed) << status;
    }
}

TEST_F(RestTest, ThatIsRefusedToOneClientSaysNothingOfTheBody) {
    Head head;
    for (const auto status : {401u, 403u, 407u}) {
        head.status = status;
        EXPECT_EQ(why_not_that(head, false), FetchError::part_refused) << status;
        EXPECT_EQ(why_not_that(head, true), FetchError::part_refused) << status;
    }
    for (const auto status : {404u, 410u}) {  // as some answer who may not have it
        head.status = status;
        EXPECT_EQ(why_not_that(head, true), FetchError::part_refused) << status;
    }
    head.status = 206;
    EXPECT_EQ(why_not_that(head, true), FetchError::changed);
}

}  // namespace resume_plan_test
}  // namespace proxy
