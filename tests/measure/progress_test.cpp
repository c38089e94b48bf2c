#include "measure/report/progress.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace {

template <typename Action>
std::string written_by(Action&& action) {
    testing::internal::CaptureStderr();
    action();
    return testing::internal::GetCapturedStderr();
}

TEST(Progress, WritesOnlyNowAndThenWithoutATerminal) {
    EXPECT_EQ(written_by([] {
                  Progress progress;
                  for (int i = 0; i < 100; ++i) progress.update("state");
              }),
              "");
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
    testing::internal::CaptureStdout();
    EXPECT_FALSE(output_may_be_coloured());
    testing::internal::GetCapturedStdout();
}

}  // namespace
}  // namespace measure
