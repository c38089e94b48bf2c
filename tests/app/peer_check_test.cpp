#include "app/peer_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <boost/asio/error.hpp>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>

#include "protocol/wire/error.hpp"

namespace app {
namespace peer_check_test {

using protocol::Error;
using testing::HasSubstr;
using testing::Not;

namespace errc = boost::asio::error;

TEST(PeerCheck, SaysThatANodeHangsWhoseTwoPortsAreSilent) {
    const auto hello = protocol::make_error_code(Error::hello_timeout);
    EXPECT_THAT(likely_cause(hello, true), HasSubstr("hangs or is overloaded"));
    EXPECT_THAT(likely_cause(hello), HasSubstr("probably another port"));
    const boost::system::error_code timeout = boost::beast::error::timeout;
    EXPECT_THAT(http_fault(timeout, "b"), HasSubstr("hangs or is overloaded"));
    const boost::system::error_code closed = boost::beast::http::error::end_of_stream;
    EXPECT_THAT(http_fault(closed, "b"), Not(HasSubstr("hangs")));
}

TEST(PeerCheck, NamesOnlyCausesThatLeadToTheError) {
    const struct {
        boost::system::error_code error;
        std::string_view says, does_not_say;
    } cases[] = {
        {errc::connection_refused, "the node is down, or it listens at another port", "firewall"},
        {errc::host_unreachable, "no way leads there", "PROXY"},
        {errc::network_unreachable, "no way leads there", "PROXY"},
        {boost::beast::error::timeout, "or a firewall drops", "PROXY"},
        {boost::beast::http::error::end_of_stream, "one that wants a PROXY header", "firewall"},
        {errc::connection_reset, "one that wants a PROXY header", "firewall"},
    };
    for (const auto& each : cases) {
        EXPECT_THAT(http_fault(each.error, "b"), HasSubstr(each.says));
        EXPECT_THAT(http_fault(each.error, "b"), Not(HasSubstr(each.does_not_say)));
    }
}

TEST(PeerCheck, ComparesTheClockOfAPeerWithinTheTimeOfTheWay) {
    measure::HttpAnswer answer;
    EXPECT_EQ(clock_ahead(answer, 1000, 1000), std::nullopt) << "it has no Date";
    answer.date = "Thu, 01 Jan 1970 01:16:40 GMT";  // 4600
    EXPECT_EQ(clock_ahead(answer, 1000, 1000.5), 3600.25);
    EXPECT_EQ(clock_ahead(answer, 5600, 5600), -999.5);
    EXPECT_NEAR(clock_ahead(answer, 4603.1, 4603.2).value_or(0), -2.65, 1e-6);
    EXPECT_EQ(clock_ahead(answer, 4602.9, 4603), std::nullopt) << "it may have said 4600.99";
    EXPECT_EQ(clock_ahead(answer, 4590, 4598), std::nullopt) << "a long way";
}

TEST(PeerCheck, KnowsThePlacesWhereThisNodeItselfListens) {
    EXPECT_TRUE(is_own_place({"127.0.0.7", 3129}, {"127.0.0.7", 3129}));
    EXPECT_FALSE(is_own_place({"127.0.0.7", 3129}, {"127.0.0.7", 3128}));
    EXPECT_FALSE(is_own_place({"127.0.0.7", 3129}, {"127.0.0.8", 3129}));
    EXPECT_TRUE(is_own_place({"0.0.0.0", 3129}, {"127.0.0.8", 3129}));
    EXPECT_FALSE(is_own_place({"0.0.0.0", 3129}, {"192.0.2.1", 3129})) << "an address of nobody";
    EXPECT_FALSE(is_own_place({"0.0.0.0", 3129}, {"nobody.invalid", 3129}));
}

}  // namespace peer_check_test
}  // namespace app
