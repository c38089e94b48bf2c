// The common properties of tables of fingerprints of all kinds.

#include <gtest/gtest.h>

#include "summary/directory/cuckoo_table.hpp"
#include "summary/directory/quotient_table.hpp"
#include "tests/summary/fingerprint_lanes.hpp"

namespace summary {
namespace fingerprint_tables_test {

struct Quotients {
    using Loaded = test::LoadedLanes<QuotientTable, QuotientShape>;
    static QuotientShape shape() { return quotient_shape(1'000 * 250, 1'000); }
};
/// 512 places for 400 keys, so that tags move.
struct Cuckoos {
    using Loaded = test::LoadedLanes<CuckooTable, CuckooShape>;
    static CuckooShape shape() { return {7, 11}; }
};

template <class Kind>
class TableOf : public testing::Test {
protected:
    using Loaded = typename Kind::Loaded;

    /// Below, at and above the size of a word; and many.
    template <class Check>
    void for_lanes(Check check) {
        for (const std::size_t lanes : {1, 3, 16, 50, 64, 100, 513}) {
            SCOPED_TRACE(testing::Message() << lanes << " lanes");
            Loaded loaded(Kind::shape(), lanes);
            check(loaded);
            if (this->HasFatalFailure()) return;
        }
    }
};
using Kinds = testing::Types<Quotients, Cuckoos>;
TYPED_TEST_SUITE(TableOf, Kinds);

TYPED_TEST(TableOf, AnswersAsEachFilterAndFollows) {
    this->for_lanes([](auto& loaded) {
        EXPECT_TRUE(loaded.find(5).empty()) << "nothing is there";
        loaded.load_all();
        loaded.expect_alike();
        for (int round = 0; round < 4; ++round) {
            for (std::size_t lane = 0; lane < loaded.filters.size(); ++lane) {
                loaded.table.apply(lane, loaded.change(lane));
            }
            loaded.expect_alike();
        }
    });
}

TYPED_TEST(TableOf, IsFilledInSlicesWhileFiltersChange) {
    this->for_lanes([](auto& loaded) {
        for (std::uint64_t block = 0; block < loaded.table.blocks(); ++block) {
            loaded.table.load_all(loaded.sources(), block, block + 1);
            const auto lane = loaded.random.below(loaded.filters.size());
            loaded.table.apply(lane, loaded.change(lane));
        }
        loaded.expect_alike();
    });
}

TYPED_TEST(TableOf, ALaneIsLoadedInSlicesOverWhatWasThere) {
    this->for_lanes([](auto& loaded) {
        loaded.load_all();
        const auto lane = loaded.filters.size() / 2;
        for (int times = 0; times < 2; ++times) {
            loaded.replace_some(lane);
            loaded.table.start(lane);
            for (std::uint64_t block = 0; block < loaded.table.blocks(); ++block) {
                loaded.table.load(lane, loaded.filters[lane], block, block + 1, false);
                loaded.table.apply(lane, loaded.change(lane, 3));
            }
            loaded.expect_alike();
        }
    });
}

}  // namespace fingerprint_tables_test
}  // namespace summary
