#include "proxy/disk/disk_index.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>

namespace proxy {
namespace disk_index_test {

summary::KeyHash key(std::uint64_t number) {
    std::mt19937_64 random(number);
    const auto low = random();
    return {low, random()};
}

DiskEntry entry(std::uint32_t segment, std::uint32_t sector) {
    DiskEntry made;
    made.place = {segment, sector};
    made.sectors = 3;
    return made;
}

std::vector<DiskEntry> entries_of(const DiskIndex& index, summary::KeyHash key) {
    std::vector<DiskEntry> found;
    index.for_each(key, [&](const DiskEntry& one) { found.push_back(one); });
    return found;
}

TEST(DiskIndex, KeepsAllFieldsAtTheirLimits) {
    DiskIndex index;
    DiskEntry all;
    all.place = {(1u << kSegmentBits) - 1, (1u << kSectorBits) - 1};
    all.sectors = 131'072;
    all.uses = 3;
    all.announced = all.doubtful = true;
    index.insert(key(1), all);
    auto other = all;
    other.announced = false;
    index.insert(key(4), other);
    other = all;
    other.doubtful = false;
    index.insert(key(5), other);
    index.insert(key(2), entry(0, 1));
    EXPECT_EQ(entries_of(index, key(1)), std::vector{all});
    EXPECT_EQ(entries_of(index, key(5)), std::vector{other});
    EXPECT_TRUE(entries_of(index, key(4)).front().doubtful);
    EXPECT_FALSE(entries_of(index, key(4)).front().announced);
    EXPECT_EQ(entries_of(index, key(2)), std::vector{entry(0, 1)});
    EXPECT_TRUE(entries_of(index, key(3)).empty());
}

TEST(DiskIndex, KeepsSizesUpwardsByAThirtySecond) {
    EXPECT_LT(size_class(131'072), 1u << 11);
    for (std::uint32_t sectors = 1; sectors <= 131'072; ++sectors) {
        const auto kept = sectors_of_class(size_class(sectors));
        ASSERT_GE(kept, sectors);
        ASSERT_LE(kept, sectors < 64 ? sectors : sectors + sectors / 32) << sectors;
    }
}

TEST(DiskIndex, KeepsSeveralEntriesOfOneKey) {
    DiskIndex index;
    for (std::uint32_t i = 1; i <= 16; ++i) index.insert(key(1), entry(i, i));
    index.insert(key(2), entry(5, 5));
    EXPECT_EQ(entries_of(index, key(1)).size(), 16u);
    EXPECT_TRUE(index.replace(key(1), {7, 7}, entry(70, 70)));
    EXPECT_FALSE(index.replace(key(1), {7, 7}, entry(71, 71)));
    EXPECT_FALSE(index.erase(key(1), {7, 7}));
    EXPECT_TRUE(index.erase(key(1), {70, 70}));
    EXPECT_EQ(index.erase_all(key(1)), 15u);
    EXPECT_EQ(index.size(), 1u);
    EXPECT_FALSE(index.contains(key(1)));
    EXPECT_TRUE(index.contains(key(2)));
}

TEST(DiskIndex, FindsAnEntryByItsPlace) {
    DiskIndex index;
    for (std::uint32_t i = 1; i <= 16; ++i) index.insert(key(1), entry(i, i + 1));
    index.insert(key(2), entry(20, 20));
    EXPECT_EQ(index.find(key(1), {7, 8}), entry(7, 8));
    EXPECT_FALSE(index.find(key(1), {7, 7}));
    EXPECT_FALSE(index.find(key(1), {20, 20})) << "another key's";
    EXPECT_FALSE(index.find(key(3), {7, 8}));
}

TEST(DiskIndex, MarksAllEntriesOfAKeyAsAnnounced) {
    DiskIndex index;
    EXPECT_FALSE(index.set_announced(key(1), true)) << "has none";
    EXPECT_FALSE(index.announced(key(1)));
    for (std::uint32_t i = 1; i <= 3; ++i) index.insert(key(1), entry(i, i));
    index.insert(key(2), entry(4, 4));
    auto marked = entry(5, 5);
    marked.announced = true;
    index.insert(key(1), marked);
    EXPECT_TRUE(index.announced(key(1))) << "one is enough";
    EXPECT_TRUE(index.erase(key(1), {5, 5}));
    EXPECT_FALSE(index.announced(key(1)));

    EXPECT_TRUE(index.set_announced(key(1), true));
    for (const auto& each : entries_of(index, key(1))) EXPECT_TRUE(each.announced);
    EXPECT_FALSE(index.announced(key(2)));
    EXPECT_TRUE(index.set_announced(key(1), false));
    EXPECT_FALSE(index.announced(key(1)));
    EXPECT_EQ(index.size(), 4u);
}

// As when a directory is lost: the remaining records must be found, wherever they had been pushed
// to.
TEST(DiskIndex, ErasesByAPredicateAndFindsTheRest) {
    DiskIndex index;
    index.erase_if([](const DiskEntry&) { return true; });
    constexpr std::uint32_t kMany = 20'000;
    for (std::uint32_t i = 0; i < kMany; ++i) index.insert(key(i / 2), entry(i % 3, i + 1));
    index.erase_if([](const DiskEntry& one) { return one.place.segment == 1; });
    std::uint64_t left = 0;
    for (std::uint32_t i = 0; i < kMany; ++i) {
        EXPECT_EQ(index.find(key(i / 2), {i % 3, i + 1}).has_value(), i % 3 != 1) << i;
        left += i % 3 != 1 ? 1 : 0;
    }
    EXPECT_EQ(index.size(), left);
    index.insert(key(0), entry(1, 1));
    EXPECT_TRUE(index.find(key(0), {1, 1}));
    index.erase_if([](const DiskEntry&) { return true; });
    EXPECT_EQ(index.size(), 0u);
    EXPECT_FALSE(index.contains(key(0)));
}

// Against the obvious, with keys that share tables, homes and tags.
TEST(DiskIndex, DoesAsAnUnorderedMultimap) {
    DiskIndex index;
    std::unordered_multimap<std::uint64_t, RecordLocation> model;
    std::mt19937_64 random(20);
    std::uint32_t next = 1;
    const auto places_of = [](const std::vector<DiskEntry>& found) {
        std::vector<std::uint32_t> places;
        for (const auto& one : found) places.push_back(one.place.sector);
        std::ranges::sort(places);
        return places;
    };
    for (int step = 0; step < 30'000; ++step) {
        // Few tables, close homes: robin hood has to work.
        const auto number = random() % 1'000;
        const summary::KeyHash near{0, (number % 2) << 52 | (number / 2) << 40};
        const auto all = model.equal_range(number);
        const auto dice = random() % (step % 12'000 < 6'000 ? 3 : 8);
        if (dice < 2) {
            index.insert(near, entry(1, next));
            model.emplace(number, RecordLocation{1, next});
            next = next % ((1u << kSectorBits) - 1) + 1;
        } else if (all.first == all.second) {
            EXPECT_FALSE(index.contains(near));
            EXPECT_EQ(index.erase_all(near), 0u);
        } else if (dice < 6) {
            ASSERT_TRUE(index.erase(near, all.first->second));
            model.erase(all.first);
        } else {
            ASSERT_EQ(index.erase_all(near), model.erase(number));
        }
        ASSERT_EQ(index.size(), model.size());
        if (step % 64 != 0) continue;
        std::vector<std::uint32_t> wanted;
        const auto left = model.equal_range(number);
        for (auto at = left.first; at != left.second; ++at) wanted.push_back(at->second.sector);
        std::ranges::sort(wanted);
        ASSERT_EQ(places_of(entries_of(index, near)), wanted) << step;
    }
    EXPECT_GT(model.size(), 300u);
    for (const auto& [number, place] : model) {
        const summary::KeyHash near{0, (number % 2) << 52 | (number / 2) << 40};
        const auto found = entries_of(index, near);
        ASSERT_TRUE(std::ranges::any_of(found, [&](const auto& e) { return e.place == place; }));
    }
}

TEST(DiskIndex, TakesNineteenBytesForEachOnTheAverage) {
    DiskIndex index;
    double sum = 0;
    int samples = 0;
    std::uint64_t number = 0;
    // Sizes evenly on a logarithmic scale, over four growths of each table.
    for (double size = 50'000; size < 80'000; size *= 1.01, ++samples) {
        for (; number < static_cast<std::uint64_t>(size); ++number)
            index.insert(key(number), entry(1, static_cast<std::uint32_t>(number) % 500'000 + 1));
        sum += static_cast<double>(index.memory_bytes()) / static_cast<double>(index.size());
    }
    EXPECT_LE(sum / samples, 19.0);
    EXPECT_GE(sum / samples, 17.4);  // 16 / 0.92
}

}  // namespace disk_index_test
}  // namespace proxy
