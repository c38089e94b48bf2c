#include "app/clock_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace app {
namespace clock_words_test {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ClockWords, NameTheClockThatIsWrong) {
    EXPECT_THAT(clock_words("a", {}), IsEmpty());
    EXPECT_THAT(clock_words("a", {{"b", 1.9}, {"c", -2.0}}), IsEmpty());
    EXPECT_THAT(clock_words("a", {{"b", 3600.2}}),
                ElementsAre("the clock of b is 60 m ahead of that of a"));
    EXPECT_THAT(clock_words("a", {{"b", 0.1}, {"c", -30}}),
                ElementsAre("the clock of c is 30 s behind that of a"));
    EXPECT_THAT(clock_words("a", {{"b", 7300}, {"c", -5}}),
                ElementsAre("the clock of b is 2 h ahead of that of a",
                            "the clock of c is 5 s behind that of a"));
}

TEST(ClockWords, NameTheOwnClockWhereAllPeersAgree) {
    EXPECT_THAT(clock_words("a", {{"b", -3600.4}, {"c", -3599.1}}),
                ElementsAre("the clock of a is 60 m ahead of those of all its peers"));
    EXPECT_THAT(clock_words("a", {{"b", 90.5}, {"c", 90}}),
                ElementsAre("the clock of a is 90 s behind those of all its peers"));
}

}  // namespace clock_words_test
}  // namespace app
