#include "measure/report/reading_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace measure {
namespace reading_text_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LinesAbout, SayWhatWasLeftOutAndWhyWithThreeExamples) {
    Reading reading;
    reading.lines = 1'000;
    for (std::uint64_t line = 1; line <= 5; ++line)
        if (reading.leave_out("no line")) reading.add_example("no line", line, "xxx");
    if (reading.leave_out("CONNECT")) reading.add_example("CONNECT", 9, "CONNECT x:443");
    reading.out_of_order = 2;
    EXPECT_THAT(lines_about(reading),
                ElementsAre("read: 1,000 lines, of which 994 were taken",
                            "skipped: 1 of 1,000 lines: CONNECT", "  line 9: CONNECT x:443",
                            "skipped: 5 of 1,000 lines: no line", "  line 1: xxx", "  line 2: xxx",
                            "  line 3: xxx",
                            "out of order: 2 requests, taken in the order of their times"));
}

TEST(LinesAbout, AreNoneWhereAllWasTaken) {
    Reading reading;
    reading.lines = 5;
    EXPECT_THAT(lines_about(reading), IsEmpty());
}

}  // namespace reading_text_test
}  // namespace measure
