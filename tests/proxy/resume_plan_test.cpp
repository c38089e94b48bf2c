#include "proxy/cache/resume_plan.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/head.hpp"

namespace proxy {
namespace {

using Text = test::Head;

/// RFC 9110 §13.1.5, §14.4.
class RestTest : public ::testing::Test {
protected:
    static std::optional<std::uint64_t> after(const Rest& rest, const char* range,
                                              const char* etag = "\"1\"", unsigned status = 206) {
        const auto lines = std::string("Content-Range: ") + range + "\nETag: " + etag;
        const Text text(lines);
        const Fields fields = text;
        Head head;
        head.status = status;
        head.fields.assign(fields.begin(), fields.end());
        return goes_on_with(rest, head);
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

}  // namespace
}  // namespace proxy
