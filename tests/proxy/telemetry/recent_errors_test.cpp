#include "proxy/telemetry/recent_errors.hpp"

#include <gtest/gtest.h>
#include <spdlog/logger.h>

namespace proxy {
namespace recent_errors_test {

using Clock = std::chrono::system_clock;

TEST(RecentErrors, HaveWarningsAndErrorsOfTheLogNewestFirst) {
    const auto lines = std::make_shared<RecentErrors>();
    spdlog::logger log("test", std::make_shared<RecentErrorsSink>(lines));
    log.set_level(spdlog::level::trace);
    log.info("all is well");
    log.warn("disk {} is slow", 1);
    log.error("disk {} is gone", 2);
    const auto shown = lines->lines();
    ASSERT_EQ(shown.size(), 2u);
    EXPECT_EQ(shown[0].text, "disk 2 is gone");
    EXPECT_TRUE(shown[0].is_error);
    EXPECT_EQ(shown[1].text, "disk 1 is slow");
    EXPECT_FALSE(shown[1].is_error);
    EXPECT_LE(shown[1].at, shown[0].at);
}

TEST(RecentErrors, KeepTheLastLinesAndCutLongOnes) {
    RecentErrors lines;
    for (std::size_t i = 0; i < RecentErrors::kLines + 5; ++i)
        lines.note(Clock::now(), false, std::to_string(i));
    lines.note(Clock::now(), true, std::string(10'000, 'x'));
    const auto shown = lines.lines();
    ASSERT_EQ(shown.size(), RecentErrors::kLines);
    EXPECT_EQ(shown[0].text.size(), RecentErrors::kLineBytes);
    EXPECT_TRUE(shown[0].text.ends_with("xxx..."));
    EXPECT_EQ(shown[1].text, "204");
    EXPECT_EQ(shown.back().text, "6");
    lines.note(Clock::now(), true, std::string(RecentErrors::kLineBytes, 'y'));
    EXPECT_EQ(lines.lines()[0].text, std::string(RecentErrors::kLineBytes, 'y'));
}

}  // namespace recent_errors_test
}  // namespace proxy
