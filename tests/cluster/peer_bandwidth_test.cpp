// What a node gives to its peers at `cluster.bandwidth`, of bodies in one piece.
#include "tests/cluster/file.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace peer_bandwidth_test {

/// Node a gives what node b asks it for.
class PeerBandwidth : public NodesTest {
protected:
    File file;
};

TEST_F(PeerBandwidth, IsSharedByManyBodiesWithoutAStall) {
    constexpr std::size_t kBodies = 30;
    file.content = bytes(400'000);
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    auto holder = config("a", 2);
    holder.cluster->bandwidth = 2 << 20;
    start(holder);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    for (std::size_t i = 0; i < kBodies; ++i) get("a", "/" + std::to_string(i));
    ASSERT_TRUE(eventually([&] { return announced("a", kBodies); }));
    std::vector<Client> clients;
    for (std::size_t i = 0; i < kBodies; ++i) {
        clients.push_back(client("b"));
        clients.back().begin("GET", "/" + std::to_string(i));
    }
    for (auto& each : clients) EXPECT_TRUE(each.read().body == file.content);
    EXPECT_GT(status("a").work.bandwidth_waits, 0u);
    EXPECT_EQ(seen("b", "a").failures, 0u);
    EXPECT_EQ(seen("b", "a").hits, kBodies);
    EXPECT_EQ(origin.requests(), kBodies);
}

TEST_F(PeerBandwidth, RefusesBodiesThatWouldGetTheirTurnTooSeldom) {
    file.content = bytes(3 * kBlock);
    const auto scripted = origin.set([&](Exchange& e) { file.answer(e); });
    auto holder = config("a", 2);
    holder.cluster->bandwidth = 1024;  // pieces of 128 bytes: eight turns in a second
    start(holder);
    start(config("b", 2));
    ASSERT_TRUE(eventually([&] { return in_sync("a") && in_sync("b"); }));
    for (int i = 0; i < 12; ++i) get("a", "/" + std::to_string(i));
    ASSERT_TRUE(eventually([&] { return announced("a", 12); }));
    std::vector<Client> clients;
    for (int i = 0; i < 12; ++i) {
        clients.push_back(client("b"));
        clients.back().begin("GET", "/" + std::to_string(i));
    }
    EXPECT_TRUE(eventually([&] { return seen("b", "a").refused >= 4; }));
    EXPECT_TRUE(eventually([&] { return origin.requests() >= 16; })) << "the origin has them, too";
    for (const auto* node : {"b", "a"}) kill(node);
}

}  // namespace peer_bandwidth_test
}  // namespace proxy::test
