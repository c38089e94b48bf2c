#include "protocol/links/link_security.hpp"

#include <gtest/gtest.h>

#include "protocol/wire/error.hpp"

namespace protocol::test {
namespace link_security_test {

ClusterSecurity settings(bool encrypt, bool allow_clear = false, std::size_t keys = 1) {
    ClusterSecurity config;
    config.encrypt = encrypt;
    config.allow_clear = allow_clear;
    config.keys.resize(keys);
    return config;
}

TEST(LinkSecurity, NodesWithDifferentSettingsRefuseEachOther) {
    EXPECT_FALSE(judge_encryption(settings(true), true));
    EXPECT_FALSE(judge_encryption(settings(false), false));
    EXPECT_EQ(judge_encryption(settings(true), false), Error::not_encrypted);
    EXPECT_EQ(judge_encryption(settings(false), true), Error::encrypted);
}

TEST(LinkSecurity, DuringAnUpgradeBothKindsAreTaken) {
    EXPECT_FALSE(judge_encryption(settings(true, true), true));
    EXPECT_FALSE(judge_encryption(settings(true, true), false));
}

TEST(LinkSecurity, ANodeDialsAsItsSettingSays) {
    const auto clear = settings(false);
    EXPECT_EQ(DialSecurity(clear).key(), std::nullopt);
    const auto encrypted = settings(true);
    DialSecurity dial(encrypted);
    EXPECT_EQ(dial.key(), 0U);
    for (const auto why : {Error::tls_failed, Error::encrypted, Error::wrong_key}) {
        dial.ended(make_error_code(why), false, true);
        EXPECT_EQ(dial.key(), 0U) << "nothing makes it dial in the clear";
    }
}

TEST(LinkSecurity, ANodeWithTwoKeysOffersTheLastAndAfterARefusalTheOther) {
    const auto config = settings(true, false, 2);
    DialSecurity dial(config);
    EXPECT_EQ(dial.key(), 1U);
    dial.ended(make_error_code(Error::hello_timeout), false, false);
    EXPECT_EQ(dial.key(), 1U);
    dial.ended(make_error_code(Error::wrong_key), false, false);
    EXPECT_EQ(dial.key(), 0U);
    dial.ended(make_error_code(Error::wrong_key), false, false);
    EXPECT_EQ(dial.key(), 1U);
}

TEST(LinkSecurity, DuringAnUpgradeItDialsInTheClearOnceThatIsProvedToBeNeeded) {
    const auto config = settings(true, true);
    DialSecurity dial(config);
    EXPECT_EQ(dial.key(), 0U);
    for (const boost::system::error_code why :
         {make_error_code(Error::tls_failed), make_error_code(Error::connection_closed),
          make_error_code(Error::hello_timeout), make_error_code(base::Error::connect_timeout),
          make_error_code(Error::wrong_key)}) {
        dial.ended(why, false, false);
        EXPECT_EQ(dial.key(), 0U) << "anybody on the way can bring it about: " << reason_of(why);
    }
    dial.ended(make_error_code(Error::encrypted), false, false);
    EXPECT_EQ(dial.key(), std::nullopt) << "only a node with the key refuses so";
    dial.ended(make_error_code(Error::not_encrypted), false, false);
    EXPECT_EQ(dial.key(), 0U);
    dial.ended(make_error_code(Error::connection_closed), false, true);
    EXPECT_EQ(dial.key(), std::nullopt) << "the node has proved itself in the clear";
    dial.ended(make_error_code(Error::connection_closed), true, true);
    EXPECT_EQ(dial.key(), 0U) << "each new link tries encryption first";
    dial.ended(make_error_code(base::Error::connect_timeout), false, true);
    EXPECT_EQ(dial.key(), 0U) << "that says nothing about encryption";
}

}  // namespace link_security_test
}  // namespace protocol::test
