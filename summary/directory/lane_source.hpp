#pragma once

#include <cstddef>

#include "summary/coding/filter.hpp"

namespace summary {

class QuotientTable;

/// The source from which a lane is loaded: a filter, or a lane of another table that keeps the
/// filter.
struct LaneSource {
    const Filter* filter = nullptr;
    const QuotientTable* table = nullptr;
    std::size_t lane = 0;  // of that table

    bool empty() const { return filter == nullptr && table == nullptr; }
};

}  // namespace summary
