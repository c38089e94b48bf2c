#include "app/peer_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>

#include "protocol/wire/error.hpp"

namespace app {
namespace peer_check_test {

using protocol::Error;
using testing::HasSubstr;
using testing::Not;

TEST(PeerCheck, SaysThatANodeHangsWhoseTwoPortsAreSilent) {
    const auto hello = protocol::make_error_code(Error::hello_timeout);
    EXPECT_THAT(likely_cause(hello, true), HasSubstr("hangs or is overloaded"));
    EXPECT_THAT(likely_cause(hello), HasSubstr("probably another port"));
    const boost::system::error_code timeout = boost::beast::error::timeout;
    EXPECT_THAT(http_fault(timeout, "b"), HasSubstr("hangs or is overloaded"));
    const boost::system::error_code closed = boost::beast::http::error::end_of_stream;
    EXPECT_THAT(http_fault(closed, "b"), Not(HasSubstr("hangs")));
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
