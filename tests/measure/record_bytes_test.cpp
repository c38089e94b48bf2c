#include "measure/tiers/record_bytes.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "measure/trace/trace.hpp"
#include "proxy/disk/record.hpp"

namespace measure {
namespace record_bytes_test {

/// The record of one object of so many bytes.
std::uint64_t taken_by(std::uint64_t bytes) {
    Trace trace;
    trace.add_url("http://a.example/1", bytes);
    return record_bytes(Objects(trace, {}), false).at(0);
}

TEST(RecordBytes, AreThoseOfAsManyRecordsAsABodyNeeds) {
    const auto one = taken_by(proxy::kMaxRecordBody);
    EXPECT_GT(one, proxy::kMaxRecordBody);
    EXPECT_EQ(taken_by(2 * proxy::kMaxRecordBody), 2 * one);
    EXPECT_EQ(taken_by(2 * proxy::kMaxRecordBody + 7), 2 * one + taken_by(7));
}

TEST(RecordBytes, AreToldOfWhateverSizeALogMayHold) {
    const auto one = taken_by(proxy::kMaxRecordBody);
    EXPECT_EQ(taken_by(1ull << 50), (1ull << 50) / proxy::kMaxRecordBody * one);
    EXPECT_EQ(taken_by(std::numeric_limits<std::uint64_t>::max()), taken_by(kMaxObjectBytes));
}

}  // namespace record_bytes_test
}  // namespace measure
