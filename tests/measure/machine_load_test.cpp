#include "measure/run/machine_load.hpp"

#include <gmock/gmock.h>

namespace measure {
namespace machine_load_test {

using testing::AllOf;
using testing::HasSubstr;

TEST(MachineLoad, ReadsTheTimesOfAllProcessors) {
    const auto times = processor_times("cpu  100 20 30 400 50 6 7 8 90 1\ncpu0 1 2 3 4 5 6 7 8\n");
    EXPECT_EQ(times.all, 621u) << "the times of guests are a part of the first";
    EXPECT_EQ(times.idle, 450u);
    EXPECT_EQ(times.stolen, 8u);
    for (const auto* other : {"", "cpu", "cpu 1 2 3 4 5 6 7", "cpu a", "intr 1 2 3 4 5 6 7 8"})
        EXPECT_EQ(processor_times(other).all, 0u) << other;
}

TEST(MachineLoad, IsNamedWhenTheProcessorsWereBusyOrTaken) {
    const ProcessorTimes from{1000, 500, 40};
    EXPECT_EQ(loaded_words(from, {2000, 530, 160}, 14.24, 2),
              "the machine was loaded: 2 processors idle for 3 % of the time, other virtual "
              "machines took 12 %, load average 14.2 (repeat it on an idle machine, or with a "
              "lower --rate)");
    EXPECT_THAT(loaded_words(from, {2000, 900, 100}, 0.5, 1),
                AllOf(HasSubstr("1 processor idle for 40 %"), HasSubstr("took 6 %")));
    EXPECT_EQ(loaded_words(from, {2000, 600, 90}, 9, 2), "") << "10 % idle, 5 % taken";
    EXPECT_EQ(loaded_words(from, from, 9, 2), "") << "no time has passed";
    EXPECT_EQ(loaded_words({}, {}, 9, 2), "") << "no /proc";
}

}  // namespace machine_load_test
}  // namespace measure
