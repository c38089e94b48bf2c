#include "protocol/wire/error.hpp"

#include <gtest/gtest.h>

#include <boost/asio/error.hpp>
#include <cerrno>
#include <set>
#include <string>

namespace protocol::test {
namespace error_test {

std::set<int> all_codes() {
    std::set<int> codes;
    for (int code = static_cast<int>(Error::first_of_this_node);
         code <= static_cast<int>(Error::too_many_peers); ++code) {
        codes.insert(code);
    }
    for (int code = static_cast<int>(Error::first_refusal);
         code <= static_cast<int>(Error::last_refusal); ++code) {
        codes.insert(code);
    }
    return codes;
}

TEST(Errors, EachHasANameAndAMessageOfItsOwn) {
    std::set<std::string> names, messages;
    for (const int code : all_codes()) {
        const auto error = static_cast<Error>(code);
        names.insert(std::string(name(error)));
        messages.insert(make_error_code(error).message());
        EXPECT_TRUE(make_error_code(error)) << code;  // none of them means success
    }
    EXPECT_EQ(names.size(), all_codes().size());
    EXPECT_EQ(messages.size(), all_codes().size());
    EXPECT_FALSE(names.contains("unknown"));
}

TEST(Errors, ErrorsOnTheWireKeepTheirNumbers) {  // FORMAT.md
    EXPECT_EQ(static_cast<int>(Error::wrong_version), 100);
    EXPECT_EQ(static_cast<int>(Error::wrong_key), 101);
    EXPECT_EQ(static_cast<int>(Error::bad_proof), 102);
    EXPECT_EQ(static_cast<int>(Error::unknown_node), 103);
    EXPECT_EQ(static_cast<int>(Error::wrong_node), 104);
    EXPECT_EQ(static_cast<int>(Error::own_id), 105);
    EXPECT_EQ(static_cast<int>(Error::duplicate_id), 106);
    EXPECT_EQ(static_cast<int>(Error::other_hash_key), 107);
    EXPECT_EQ(static_cast<int>(Error::unknown_kind), 108);
    EXPECT_EQ(static_cast<int>(Error::shape_refused), 109);
    EXPECT_EQ(static_cast<int>(Error::refused), 110);
}

TEST(Errors, AReasonThatOneEndSendsToTheOtherIsARefusal) {
    EXPECT_TRUE(is_refusal(make_error_code(Error::wrong_version)));
    EXPECT_TRUE(is_refusal(make_error_code(Error::peers_full)));
    EXPECT_FALSE(is_refusal(make_error_code(Error::too_many_peers)));
    EXPECT_FALSE(is_refusal({111, boost::system::system_category()})) << "as peers_full";
}

TEST(Errors, UnknownOnesAreSaidToBe) {
    EXPECT_EQ(name(static_cast<Error>(99)), "unknown");
    EXPECT_STREQ(error_category().name(), "hearsay.protocol");
}

TEST(Errors, ErrorsOfConnectingHaveNames) {
    namespace errc = boost::system::errc;
    EXPECT_EQ(reason_of(make_error_code(Error::wrong_key)), "wrong_key");
    EXPECT_EQ(reason_of(errc::make_error_code(errc::connection_refused)), "connection_refused");
    EXPECT_EQ(reason_of(boost::system::error_code(ECONNREFUSED, boost::system::system_category())),
              "connection_refused");
    EXPECT_EQ(reason_of(boost::asio::error::make_error_code(boost::asio::error::connection_reset)),
              "connection_reset");
    EXPECT_EQ(reason_of(boost::system::error_code(EHOSTUNREACH, boost::system::system_category())),
              "host_unreachable");
    EXPECT_EQ(reason_of(boost::system::error_code(EXDEV, boost::system::system_category())),
              "system:" + std::to_string(EXDEV));
}

}  // namespace error_test
}  // namespace protocol::test
