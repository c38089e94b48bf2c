#include "proxy/storage/memory_tier.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tests/proxy/hash.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

namespace proxy {
namespace memory_tier_test {

using namespace std::chrono_literals;
using test::hash;

constexpr std::uint64_t kCap = 100'000;
const auto kNow = MemoryTier::Clock::time_point(1000h);

/// The memory of a store, without its other parts.
class MemoryTierTest : public ::testing::Test {
protected:
    /// False if memory is full.
    bool put(const std::string& uri, std::size_t bytes, SentBy sender = SentBy::origin) {
        auto charge = tier.reserve(bytes, kNow);
        if (!charge) return false;
        auto response = std::make_shared<StoredResponse>();
        response->from_peer = sender == SentBy::peer;
        response->body->add_block(bytes, std::move(*charge));
        auto& in = shards.of(hash(uri));
        auto& entry = *in.memory.entry_for(hash(uri), uri);
        entry.variants.emplace_back(std::move(response));
        ledger.announce(entry.hash, entry.announced);
        in.memory.weigh(entry);
        return true;
    }
    std::shared_ptr<const StoredResponse> get(const std::string& uri) {
        const auto* const entry = shards.of(hash(uri)).memory.find(hash(uri));
        return entry ? entry->variants.back().response : nullptr;
    }
    std::uint64_t objects() const {
        std::uint64_t sum = 0;
        for (const auto& in : shards) sum += in.memory.objects();
        return sum;
    }

    test::RecordedEvents events;
    AnnouncementLedger ledger{events};
    base::MemoryBudget budget{kCap};
    StoreShards shards;
    MemoryTier tier{budget, shards, ledger};
};

TEST_F(MemoryTierTest, EvictsEntriesAndWithdrawsTheirKeys) {
    for (int i = 0; i < 500; ++i) {
        ASSERT_TRUE(put("u" + std::to_string(i), 1000));
        ASSERT_LE(tier.used(), kCap);
    }
    EXPECT_GT(objects(), 50u);
    EXPECT_EQ(events.all_announced(), objects());
}

TEST_F(MemoryTierTest, RefusesMoreThanTheCapAtOnce) {
    EXPECT_FALSE(tier.reserve(kCap + 1, kNow));
    EXPECT_TRUE(tier.reserve(kCap, kNow));
}

TEST_F(MemoryTierTest, EvictsNoEntryWithReaders) {
    ASSERT_TRUE(put("read", 60'000));
    auto reader = get("read");
    tier.pin(hash("read"));
    EXPECT_FALSE(put("large", 60'000));
    EXPECT_NE(get("read"), nullptr);
    reader.reset();
    EXPECT_TRUE(put("large", 60'000));
    EXPECT_EQ(get("read"), nullptr);
}

TEST_F(MemoryTierTest, EvictsTheLeastValueOfAllShardsWhereRequestsAreFavoured) {
    tier.favour(Favour::requests);
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(put("small" + std::to_string(i), 1000));
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(put("copy" + std::to_string(i), 1000, SentBy::peer));
    ASSERT_TRUE(put("large", 40'000));
    ASSERT_TRUE(put("next", 40'000));
    EXPECT_EQ(get("large"), nullptr);
    EXPECT_EQ(objects(), 61u) << "the large one made room alone";
    ASSERT_TRUE(put("last", 50'000));
    EXPECT_EQ(get("next"), nullptr);
    for (int i = 0; i < 40; ++i) EXPECT_NE(get("small" + std::to_string(i)), nullptr) << i;
    std::size_t copies = 0;
    for (int i = 0; i < 20; ++i) copies += get("copy" + std::to_string(i)) != nullptr;
    EXPECT_EQ(copies, 10u);
}

TEST_F(MemoryTierTest, EvictsNoEntryWithReadersWhereRequestsAreFavoured) {
    tier.favour(Favour::requests);
    ASSERT_TRUE(put("read", 60'000));
    auto reader = get("read");
    tier.pin(hash("read"));
    EXPECT_FALSE(put("large", 60'000));
    reader.reset();
    EXPECT_TRUE(put("large", 60'000));
    EXPECT_EQ(get("read"), nullptr);
}

TEST_F(MemoryTierTest, ChargesADroppedResponseUntilItsReaderIsDone) {
    ASSERT_TRUE(put("u", 60'000));
    auto reader = get("u");
    {
        DroppedResponses dropped;
        auto& in = shards.of(hash("u"));
        in.drop(ledger, *in.memory.find(hash("u")), dropped);
    }
    EXPECT_EQ(events.all_announced(), 0u);
    EXPECT_EQ(tier.used(), 60'000u);
    reader.reset();
    EXPECT_EQ(tier.used(), 0u);
}

TEST_F(MemoryTierTest, StepsToALowerCap) {
    for (int i = 0; i < 90; ++i) ASSERT_TRUE(put("u" + std::to_string(i), 1000));
    while (!tier.step_cap_to(20'000)) {
    }
    EXPECT_LE(tier.used(), 20'000u);
    EXPECT_FALSE(tier.reserve(30'000, kNow));
    EXPECT_TRUE(tier.step_cap_to(kCap));
    EXPECT_TRUE(tier.reserve(30'000, kNow));
}

TEST_F(MemoryTierTest, IsFullBelowASixteenthOfFreeBytes) {
    const auto most = tier.reserve(kCap - kCap / base::kRoomShare - 1, kNow);
    EXPECT_TRUE(tier.has_room());
    const auto more = tier.reserve(1, kNow);
    EXPECT_FALSE(tier.has_room());
}

}  // namespace memory_tier_test
}  // namespace proxy
