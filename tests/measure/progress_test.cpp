#include "measure/report/progress.hpp"

#include <gtest/gtest.h>

#include "tests/measure/captured.hpp"

namespace measure {
namespace progress_test {

template <typename Action>
std::string written_by(Action&& action) {
    const auto run = [&] {
        action();
        return 0;
    };
    return captured(run).error;
}

TEST(Progress, WritesOnlyNowAndThenWithoutATerminal) {
    EXPECT_EQ(written_by([] {
                  Progress progress;
                  for (int i = 0; i < 100; ++i) progress.update("state");
              }),
              "");
}

TEST(Progress, WritesALineForEachPauseWithoutATerminal) {
    EXPECT_EQ(written_by([] {
                  Progress progress(false, std::chrono::seconds(0));
                  progress.update("one");
                  progress.update("two");
              }),
              "one\ntwo\n");
}

TEST(Progress, WritesWhatStays) {
    EXPECT_EQ(written_by([] { Progress().say("line"); }), "line\n");
}

TEST(Progress, IsSilentWhenQuiet) {
    EXPECT_EQ(written_by([] {
                  Progress progress(true);
                  progress.say("line");
                  progress.update("state");
              }),
              "");
}

TEST(Colour, IsNotForFiles) {
    EXPECT_EQ(captured([] { return output_may_be_coloured() ? 1 : 0; }).code, 0);
}

}  // namespace progress_test
}  // namespace measure
