#include "base/net/embedded_v4.hpp"

#include <gmock/gmock.h>

#include <string>

namespace base {
namespace embedded_v4_test {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> inside(const char* address) {
    std::vector<std::string> texts;
    for (const auto& each : embedded_v4(boost::asio::ip::make_address(address)))
        texts.push_back(each.to_string());
    return texts;
}

TEST(EmbeddedV4, IsFoundInEveryForm) {
    for (const auto* address :
         {"::ffff:10.1.2.3", "::10.1.2.3", "::ffff:0:10.1.2.3", "64:ff9b::10.1.2.3",
          "64:ff9b:1::10.1.2.3", "64:ff9b:1:a01:2:300::", "64:ff9b:1:a:1:203::",
          "64:ff9b:1:0:a:102:300::", "64:ff9b:1:7:8::10.1.2.3", "2002:a01:203::1",
          "2001:0:808:808:0:1234:f5fe:fdfc", "2001:0:a01:203::1", "fe80::5efe:10.1.2.3",
          "2a00::200:5efe:10.1.2.3"})
        EXPECT_THAT(inside(address), Contains("10.1.2.3")) << address;
    EXPECT_THAT(inside("2001:0:808:808:0:1234:f5fe:fdfc"), ElementsAre("8.8.8.8", "10.1.2.3"));
}

TEST(EmbeddedV4, IsNowhereElse) {
    for (const auto* address : {"10.1.2.3", "::", "::1", "2606:4700::a01:203", "2001:db8::a01:203",
                                "fd00::a01:203", "64:ff9b:2::a01:203", "2003:a01:203::1"})
        EXPECT_THAT(inside(address), IsEmpty()) << address;
}

}  // namespace embedded_v4_test
}  // namespace base
