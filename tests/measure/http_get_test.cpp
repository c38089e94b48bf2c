#include "measure/run/http_get.hpp"

#include <gtest/gtest.h>

#include <boost/system/errc.hpp>
#include <future>
#include <stdexcept>

#include "tests/measure/scripted_server.hpp"

namespace measure {
namespace {

using namespace std::chrono_literals;

TEST(Address, IsTakenApart) {
    const auto parts = [](const std::string& text) {
        const Address address = parse_address(text);
        return address.host + ' ' + address.port;
    };
    EXPECT_EQ(parts("127.0.0.1:3128"), "127.0.0.1 3128");
    EXPECT_EQ(parts("http://proxy:3128"), "proxy 3128");
    EXPECT_EQ(parts("http://proxy:3128/"), "proxy 3128");
    EXPECT_EQ(parts("http://proxy"), "proxy 80");
    EXPECT_EQ(parts("[::1]:3128"), "::1 3128");
    EXPECT_EQ(parts("http://[::1]/"), "::1 80");
}

TEST(Address, IsNamedWhenItIsNone) {
    for (const auto* text : {"", ":80", "https://a:1", "http://", "a:", "a:x", "a:70000",
                             "a:123456", "a:-1", "http://a/b", "a b:1", "u@a:1", "a:1?x"}) {
        try {
            parse_address(text);
            ADD_FAILURE() << text;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string(error.what()).find('\'' + std::string(text) + '\''),
                      std::string::npos)
                << error.what();
        }
    }
}

TEST(Address, IsWrittenAsItIsRead) {
    for (const auto* text : {"127.0.0.1:3128", "[::1]:80", "proxy:1"}) {
        EXPECT_EQ(parse_address(text).text(), text);
    }
}

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

}  // namespace
}  // namespace measure
