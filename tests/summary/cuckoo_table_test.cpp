#include "summary/directory/cuckoo_table.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/summary/fingerprint_lanes.hpp"

namespace summary {
namespace cuckoo_table_test {

/// A reader never misses a tag that stays, though the tags that come make it move.
TEST(CuckooTable, IsReadByAnotherThreadWhileTagsMove) {
    constexpr CuckooShape kTight{6, 14};
    CuckooFilter filter(kTight);
    const auto number = [&](std::uint64_t i) { return cuckoo_fingerprint(test::key(i), kTight); };
    constexpr std::uint64_t kStay = 120;
    for (std::uint64_t i = 0; i < kStay; ++i) ASSERT_TRUE(filter.insert(number(i)));
    CuckooTable table(kTight, 3);
    Lanes lanes(table.lanes());
    lanes.take(7);
    const Filter held(filter);
    table.load(0, held, 0, table.blocks(), true);

    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> looked{0};
    std::uint64_t missed = 0;
    std::thread reader([&] {
        test::Random random(8);
        while (!done) {
            PeerSet found;
            table.find(test::asked(test::key(random.below(kStay))), lanes, found);
            if (!found.contains(7)) ++missed;
            ++looked;
        }
    });
    for (std::uint64_t round = 0; round < 100 || looked < 20'000; ++round) {
        CuckooWrites writes;
        std::vector<std::uint64_t> come;
        for (auto i = (round + 1) * 1'000; come.size() < 120; ++i) {
            if (filter.insert(number(i), &writes)) come.push_back(number(i));
        }
        for (const auto gone : come) ASSERT_TRUE(filter.erase(gone, &writes));
        table.apply(0, writes);
    }
    done = true;
    reader.join();
    EXPECT_EQ(missed, 0U);
}

}  // namespace cuckoo_table_test
}  // namespace summary
