#include "measure/run/http_get.hpp"

#include <gtest/gtest.h>

#include <boost/system/errc.hpp>
#include <future>
#include <stdexcept>

#include "tests/measure/scripted_server.hpp"

namespace measure {
namespace http_get_test {

using namespace std::chrono_literals;

TEST(HttpGet, GivesStatusAndBody) {
    const ScriptedServer server([](const Seen&) {
        return Reply{"HTTP/1.1 503 Not Now\r\nContent-Length: 5\r\n\r\nlater"};
    });
    const auto answer = http_get(server.address(), "/readyz", 5s);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 503u);
    EXPECT_EQ(answer->body, "later");
    EXPECT_EQ(server.seen().at(0).target(), "/readyz");
    EXPECT_EQ(server.seen().at(0).field("Host"), server.address().text());
}

TEST(HttpGet, GivesATokenOnlyWhereThereIsOne) {
    const ScriptedServer server([](const Seen& seen) {
        const auto given = seen.field("Authorization");
        return Reply{"HTTP/1.0 200 OK\r\n\r\n" + given, true};
    });
    EXPECT_EQ(http_get(server.address(), "/", 5s, "0123456789abcdef")->body,
              "Bearer 0123456789abcdef");
    EXPECT_EQ(http_get(server.address(), "/", 5s)->body, "");
}

TEST(HttpGet, FailsWhereNobodyListens) {
    EXPECT_EQ(http_get(nobody(), "/", 5s).error(), boost::system::errc::connection_refused);
}

TEST(HttpGet, FailsOnWhatIsNotHttp) {
    const ScriptedServer server([](const Seen&) { return Reply{"220 smtp ready\r\n", true}; });
    EXPECT_FALSE(http_get(server.address(), "/", 5s));
}

TEST(HttpGet, FailsOnAShortBody) {
    const ScriptedServer server([](const Seen&) {
        return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", true};
    });
    EXPECT_FALSE(http_get(server.address(), "/", 5s));
}

TEST(HttpGet, GivesUpAfterItsTimeout) {
    std::promise<void> done;
    const ScriptedServer server([wait = done.get_future().share()](const Seen&) {
        wait.wait();
        return Reply{"", true};
    });
    EXPECT_FALSE(http_get(server.address(), "/", 20ms));
    done.set_value();
}

}  // namespace http_get_test
}  // namespace measure
