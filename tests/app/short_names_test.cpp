#include "app/short_names.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace app {
namespace short_names_test {

using testing::ElementsAre;

/// The short forms in the order of the names.
std::vector<std::string> shortened(const std::set<std::string>& names, std::size_t most) {
    std::vector<std::string> out;
    for (const auto& [name, text] : short_names(names, most)) out.push_back(text);
    return out;
}

TEST(ShortNames, StayAsLongAsTheyFit) {
    EXPECT_THAT(shortened({"cache-a", "cache-b"}, 7), ElementsAre("cache-a", "cache-b"));
}

TEST(ShortNames, LoseThePartsThatAllHave) {
    EXPECT_THAT(shortened({"cache-eu-west-1a.example.org", "cache-eu-west-1b.example.org"}, 7),
                ElementsAre("1a", "1b"));
    EXPECT_THAT(shortened({"edge1.example.org", "edge12.example.org"}, 7),
                ElementsAre("edge1", "edge12"));
    EXPECT_THAT(shortened({"cache-a", "cache-a-2"}, 6), ElementsAre("a", "a-2"));
}

TEST(ShortNames, AreNeverEqual) {
    EXPECT_THAT(shortened({"alpha-long-name-1", "alpha-long-name-2", "beta"}, 7),
                ElementsAre("#1", "#2", "#3"));
    EXPECT_THAT(shortened({"hearsaynode101", "hearsaynode102"}, 7), ElementsAre("#1", "#2"));
    EXPECT_THAT(shortened({"alphabet", "betamax-recorder"}, 7), ElementsAre("alpha..", "betam.."));
}

TEST(ShortNames, AreAsGivenWhenTheyAreOneOrNone) {
    EXPECT_THAT(shortened({}, 7), ElementsAre());
    EXPECT_THAT(shortened({"cache-1.example.org"}, 7), ElementsAre("cache.."));
}

TEST(CutText, NeverCutsANumber) {
    EXPECT_EQ(cut_text("errors 12345", 12), "errors 12345");
    EXPECT_EQ(cut_text("errors 12345 more", 12), "errors ..");
    EXPECT_EQ(cut_text("errors 1,234.5k more", 14), "errors ..");
    EXPECT_EQ(cut_text("12 MiB of 300", 12), "12 MiB of ..");
    EXPECT_EQ(cut_text("http://h/pkg/1234/x", 17), "http://h/pkg/..");
    EXPECT_EQ(cut_text("hit rate 90.0 %", 12), "hit rate ..");
    EXPECT_EQ(cut_text("errors 10 and more", 11), "errors ..") << "not 10..";
    EXPECT_EQ(cut_text("abcdef", 2), "ab");
    EXPECT_EQ(cut_text("123456", 3), "..");
    EXPECT_EQ(cut_text("x", 0), "");
}

}  // namespace short_names_test
}  // namespace app
