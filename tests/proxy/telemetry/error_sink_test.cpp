#include "proxy/telemetry/error_sink.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <sstream>
#include <string_view>

namespace proxy {
namespace error_sink_test {

using testing::HasSubstr;
using testing::Not;

TEST(ErrorSink, LeavesOutUnreadLinesAndCountsThem) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_NONBLOCK), 0);
    std::ostringstream text;
    spdlog::logger log(
        "test", std::make_shared<ErrorSink>(std::make_shared<spdlog::sinks::ostream_sink_mt>(text),
                                            pipe[1]));
    log.info("before");
    const std::string page(4096, 'x');
    while (::write(pipe[1], page.data(), page.size()) > 0) {
    }
    for (int i = 0; i < 3; ++i) log.info("lost");
    EXPECT_THAT(text.str(), Not(HasSubstr("lost")));
    std::array<char, 65536> some{};
    while (::read(pipe[0], some.data(), some.size()) > 0) {
    }
    log.info("after");
    EXPECT_THAT(text.str(), HasSubstr("3 lines are missing here"));
    EXPECT_THAT(text.str(), HasSubstr("after"));
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(ErrorFormat, IsJsonInUtcOrAsBefore) {
    std::ostringstream text;
    const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
    ErrorSink to_text(sink, STDERR_FILENO);
    const auto write = [&](spdlog::level::level_enum level, std::string_view payload) {
        constexpr auto kSecond = std::chrono::seconds(1795726033);
        text.str({});
        to_text.log({spdlog::log_clock::time_point(kSecond + std::chrono::milliseconds(57)),
                     spdlog::source_loc(), "", level, payload});
        return text.str();
    };
    to_text.set_formatter(make_error_formatter(ErrorFormat::json));
    EXPECT_EQ(write(spdlog::level::warn, "a \"b\"\nc\xff"),
              "{\"ts\":\"2026-11-26T20:47:13.057Z\",\"level\":\"warning\","
              "\"text\":\"a \\\"b\\\"\\u000ac\\uefff\"}\n");
    EXPECT_THAT(write(spdlog::level::err, "x"), HasSubstr("\"level\":\"error\""));
    to_text.set_formatter(make_error_formatter(ErrorFormat::text));
    EXPECT_THAT(write(spdlog::level::warn, "x"), testing::EndsWith(".057] [warning] x\n"));
}

}  // namespace error_sink_test
}  // namespace proxy
