#include "proxy/telemetry/error_sink.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>
#include <unistd.h>

#include <array>
#include <sstream>

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

}  // namespace error_sink_test
}  // namespace proxy
