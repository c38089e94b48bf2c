#include "measure/trace/splitmix.hpp"

#include <gtest/gtest.h>

#include <array>

namespace measure {
namespace splitmix_test {

TEST(SplitMix, GivesThePublishedNumbers) {  // first outputs of the reference generator, seed 0
    EXPECT_EQ(splitmix64(0), 0xE220A8397B1DCDAFu);
    SplitMix random(0);
    EXPECT_EQ(random.next(), 0xE220A8397B1DCDAFu);
    EXPECT_EQ(random.next(), 0x6E789E6AA1B965F4u);
    EXPECT_EQ(random.next(), 0x06C45D188009454Fu);
}

TEST(ProxyOf, IsTheNumberModuloTheProxies) {  // the rule that published ideals use
    EXPECT_EQ(proxy_of(0, 8), 0xE220A8397B1DCDAFu % 8);
    EXPECT_EQ(proxy_of(0, 1000), 0xE220A8397B1DCDAFu % 1000);
    for (std::uint64_t client = 0; client < 100; ++client) EXPECT_EQ(proxy_of(client, 1), 0u);
}

TEST(ProxyOf, SpreadsClientsEvenly) {
    std::array<int, 7> clients{};
    for (std::uint64_t client = 1; client <= 70'000; ++client) ++clients[proxy_of(client, 7)];
    for (const int count : clients) EXPECT_NEAR(count, 10'000, 5 * 93);  // five sigma
}

TEST(SplitMix, StaysInItsBounds) {
    SplitMix random(1);
    double sum = 0;
    for (int i = 0; i < 10'000; ++i) {
        EXPECT_LT(random.below(3), 3u);
        const double unit = random.unit();
        EXPECT_TRUE(unit >= 0 && unit < 1);
        sum += unit;
    }
    EXPECT_NEAR(sum / 10'000, 0.5, 5 * 0.0029);  // five sigma
}

}  // namespace splitmix_test
}  // namespace measure
