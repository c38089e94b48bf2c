#include "protocol/links/dial_report.hpp"

#include <gtest/gtest.h>

#include <boost/asio/error.hpp>

#include "protocol/wire/error.hpp"
#include "protocol/wire/message.hpp"

namespace protocol::test {
namespace dial_report_test {

namespace error = boost::asio::error;

std::string reported(const boost::system::error_code& why) {
    return reason_in(dial_report(why));
}

TEST(DialReport, NamesTheReasonToTheOtherNode) {
    EXPECT_EQ(reported(error::make_error_code(error::connection_refused)), "connection_refused");
    EXPECT_EQ(reported(make_error_code(base::Error::connect_timeout)), "connect_timeout");
    EXPECT_EQ(reported(error::make_error_code(error::timed_out)), "connect_timeout");
    EXPECT_EQ(reported(error::make_error_code(error::network_unreachable)), "host_unreachable");
    EXPECT_EQ(reported(make_error_code(base::Error::resolve_failed)), "resolve_failed");
    EXPECT_EQ(reported(make_error_code(Error::malformed_frame)), "hello_timeout");
    EXPECT_EQ(reported(make_error_code(Error::peer_silent)), "failed");
    for (auto code = static_cast<int>(Error::first_refusal);
         code <= static_cast<int>(Error::last_refusal); ++code)
        EXPECT_EQ(reported(make_error_code(static_cast<Error>(code))),
                  name(static_cast<Error>(code)));
}

TEST(DialReport, IsNoneWithoutTrouble) {
    EXPECT_EQ(dial_report({}), 0U);
    EXPECT_EQ(dial_report(error::make_error_code(error::operation_aborted)), 0U) << "it stops";
}

TEST(DialReport, IsNeverWhatSaysThatANodeListensElsewhere) {
    EXPECT_LT(kListensElsewhere, kLeastDialReport);
    EXPECT_EQ(reason_in(0), "");
    EXPECT_EQ(reason_in(kListensElsewhere), "");
    EXPECT_EQ(reason_in(kHasLeftReport), "goodbye");
    EXPECT_EQ(reason_in(99), "failed") << "of a later version";
    EXPECT_EQ(reason_in(255), "failed");
    EXPECT_EQ(reason_in(256), "");
}

}  // namespace dial_report_test
}  // namespace protocol::test
