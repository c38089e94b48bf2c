#include "proxy/config/prefix_list.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace prefix_list_test {

bool holds(const PrefixList& list, const char* address) {
    return list.contains(boost::asio::ip::make_address(address));
}

TEST(PrefixList, IsMadeOfAddressesAndPrefixes) {
    for (const auto* good :
         {"10.0.0.7", "10.0.0.0/8", "0.0.0.0/0", "::1", "fd00::/8", "::/0", "::ffff:10.0.0.0/104"})
        EXPECT_TRUE(PrefixList().add(good)) << good;
    for (const auto* bad : {"", "host", "10.0.0", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x",
                            "10.0.0.0/8 ", "::1/129", "/8", "10.0.0.0/-1", "fe80::1%lo"})
        EXPECT_FALSE(PrefixList().add(bad)) << bad;
}

TEST(PrefixList, HoldsTheAddressesThatShareAPrefix) {
    EXPECT_TRUE(holds({"10.0.0.0/8"}, "10.1.2.3"));
    EXPECT_TRUE(holds({"10.9.9.9/8"}, "10.1.2.3")) << "what is behind the prefix is not looked at";
    EXPECT_FALSE(holds({"10.0.0.0/8"}, "11.1.2.3"));
    EXPECT_TRUE(holds({"10.0.0.7"}, "10.0.0.7"));
    EXPECT_FALSE(holds({"10.0.0.7"}, "10.0.0.8"));
    EXPECT_TRUE(holds({"192.168.0.0/15"}, "192.169.255.255"));
    EXPECT_FALSE(holds({"192.168.0.0/15"}, "192.170.0.0"));
    EXPECT_TRUE(holds({"fd00::/8"}, "fd12::1"));
    EXPECT_FALSE(holds({"fd00::/8"}, "fe80::1"));
    EXPECT_TRUE(holds({"2001:db8::/65"}, "2001:db8::7fff:ffff:ffff:ffff"));
    EXPECT_FALSE(holds({"2001:db8::/65"}, "2001:db8::8000:0:0:0"));
    EXPECT_TRUE(holds({"::1"}, "::1"));
    EXPECT_FALSE(holds({"::1"}, "::2"));
    EXPECT_TRUE(holds({"11.0.0.0/8", "10.0.0.0/8"}, "10.1.2.3"));
    EXPECT_FALSE(holds({}, "10.1.2.3"));
}

TEST(PrefixList, TakesAnAddressAsTheFamilyItReallyIsOf) {
    EXPECT_TRUE(holds({"127.0.0.0/8"}, "::ffff:127.0.0.1")) << "as a v6 socket shows it";
    EXPECT_TRUE(holds({"::ffff:10.0.0.0/104"}, "10.1.2.3"));
    EXPECT_FALSE(holds({"::/0"}, "127.0.0.1"));
    EXPECT_FALSE(holds({"::/0"}, "::ffff:127.0.0.1"));
    EXPECT_FALSE(holds({"0.0.0.0/0"}, "::1"));
    EXPECT_TRUE(holds({"fe80::/10"}, "fe80::1%1")) << "a scope is where it was seen";
}

TEST(PrefixList, KeepsWhatItHasWhenATextIsBad) {
    PrefixList list{"10.0.0.0/8"};
    EXPECT_FALSE(list.add("nonsense"));
    EXPECT_EQ(list.texts(), std::vector<std::string>{"10.0.0.0/8"});
    list.clear();
    EXPECT_TRUE(list.empty());
    EXPECT_FALSE(holds(list, "10.0.0.1"));
}

}  // namespace prefix_list_test
}  // namespace proxy
