// What tables of fingerprints have in common, whatever they are made of.

#include <gtest/gtest.h>

#include "summary/cuckoo_table.hpp"
#include "summary/quotient_table.hpp"
#include "tests/summary/fingerprint_lanes.hpp"

namespace summary {
namespace fingerprint_tables_test {

struct Quotients {
    using Filled = test::FilledLanes<QuotientTable, QuotientShape>;
    static QuotientShape shape() { return quotient_shape(1'000 * 250, 1'000); }
};
/// 512 places for 400 keys, so that tags move.
struct Cuckoos {
    using Filled = test::FilledLanes<CuckooTable, CuckooShape>;
    static CuckooShape shape() { return {7, 11}; }
};

template <class Kind>
class TableOf : public testing::Test {
protected:
    using Filled = typename Kind::Filled;

    /// Below, at and above what a word has; and many.
    template <class Check>
    void for_lanes(Check check) {
        for (const std::size_t lanes : {1, 3, 16, 50, 64, 100, 513}) {
            SCOPED_TRACE(testing::Message() << lanes << " lanes");
            Filled filled(Kind::shape(), lanes);
            check(filled);
            if (this->HasFatalFailure()) return;
        }
    }
};
using Kinds = testing::Types<Quotients, Cuckoos>;
TYPED_TEST_SUITE(TableOf, Kinds);

TYPED_TEST(TableOf, AnswersAsEachFilterAndFollows) {
    this->for_lanes([](auto& filled) {
        EXPECT_TRUE(filled.find(5).empty()) << "nothing is there";
        filled.fill();
        filled.expect_alike();
        for (int round = 0; round < 4; ++round) {
            for (std::size_t lane = 0; lane < filled.filters.size(); ++lane) {
                filled.table.apply(lane, filled.change(lane));
            }
            filled.expect_alike();
        }
    });
}

TYPED_TEST(TableOf, IsFilledInSlicesWhileFiltersChange) {
    this->for_lanes([](auto& filled) {
        for (std::uint64_t block = 0; block < filled.table.blocks(); ++block) {
            filled.table.fill(filled.sources(), block, block + 1);
            const auto lane = filled.random.below(filled.filters.size());
            filled.table.apply(lane, filled.change(lane));
        }
        filled.expect_alike();
    });
}

TYPED_TEST(TableOf, ALaneIsLoadedInSlicesOverWhatWasThere) {
    this->for_lanes([](auto& filled) {
        filled.fill();
        const auto lane = filled.filters.size() / 2;
        for (int times = 0; times < 2; ++times) {
            filled.replace_some(lane);
            filled.table.start(lane);
            for (std::uint64_t block = 0; block < filled.table.blocks(); ++block) {
                filled.table.load(lane, filled.filters[lane], block, block + 1, false);
                filled.table.apply(lane, filled.change(lane, 3));
            }
            filled.expect_alike();
        }
    });
}

}  // namespace fingerprint_tables_test
}  // namespace summary
