#include "base/net/plain_address.hpp"

#include <gtest/gtest.h>

namespace base {
namespace plain_address_test {

namespace ip = boost::asio::ip;

TEST(PlainAddress, HasTheTextOfTheLibrary) {
    for (const auto* text : {"0.0.0.0", "10.0.0.7", "127.100.9.255", "255.255.255.255", "::1",
                             "2001:db8::7", "::ffff:10.0.0.7"}) {
        const auto address = ip::make_address(text);
        EXPECT_EQ(text_of(address), address.to_string());
    }
}

}  // namespace plain_address_test
}  // namespace base
