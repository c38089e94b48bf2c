#include "proxy/telemetry/space_saving.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace proxy {
namespace space_saving_test {

TEST(SpaceSaving, CountsExactlyWhileThereIsRoom) {
    SpaceSaving table(3);
    for (const auto* text : {"a", "b", "a", "c", "a", "b"}) table.note(text);
    const auto top = table.top(2);
    ASSERT_EQ(top.size(), 2u);
    EXPECT_EQ(top[0].text, "a");
    EXPECT_EQ(top[0].count, 3u);
    EXPECT_EQ(top[0].too_many, 0u);
    EXPECT_EQ(top[1].text, "b");
    EXPECT_EQ(top[1].count, 2u);
}

TEST(SpaceSaving, ANewTextTakesThePlaceOfTheRarestAndSaysByHowMuchItMayBeWrong) {
    SpaceSaving table(2);
    table.note("often", 10);
    table.note("rare", 3);
    table.note("new");
    const auto top = table.top(9);
    ASSERT_EQ(top.size(), 2u);
    EXPECT_EQ(top[0].text, "often");
    EXPECT_EQ(top[1].text, "new");
    EXPECT_EQ(top[1].count, 4u);
    EXPECT_EQ(top[1].too_many, 3u);
}

TEST(SpaceSaving, FindsEveryTextAboveItsShareInALongStream) {
    constexpr std::size_t kCapacity = 64;
    SpaceSaving table(kCapacity);
    std::map<std::string, std::uint64_t> truth;
    std::mt19937 random(7);
    constexpr std::uint64_t kNotes = 50'000;
    for (std::uint64_t i = 0; i < kNotes; ++i) {
        // A few frequent texts between many that come once.
        const auto draw = random();
        const auto text =
            draw % 4 != 0 ? "often" + std::to_string(draw % 20) : "once" + std::to_string(i);
        table.note(text);
        ++truth[text];
    }
    EXPECT_EQ(table.size(), kCapacity);
    std::uint64_t sum = 0;
    std::map<std::string, SpaceSaving::Entry> shown;
    for (const auto& entry : table.top(kCapacity)) {
        sum += entry.count;
        shown[entry.text] = entry;
        EXPECT_GE(entry.count, truth[entry.text]) << entry.text;
        EXPECT_LE(entry.count - entry.too_many, truth[entry.text]) << entry.text;
    }
    EXPECT_EQ(sum, kNotes) << "every note is counted somewhere";
    for (const auto& [text, count] : truth)
        if (count > kNotes / kCapacity) EXPECT_TRUE(shown.contains(text)) << text;
}

TEST(SpaceSaving, CutsLongTextsWithAMark) {
    SpaceSaving table(4);
    table.note(std::string(10'000, 'x') + "1");
    table.note(std::string(10'000, 'x') + "2");
    const auto top = table.top(4);
    ASSERT_EQ(top.size(), 1u);
    EXPECT_EQ(top[0].count, 2u);
    EXPECT_EQ(top[0].text.size(), SpaceSaving::kTextBytes);
    EXPECT_TRUE(top[0].text.ends_with("..."));
}

TEST(SpaceSaving, SumsTheTablesOfSeveralWorkers) {
    const auto sum = merged({{{"a", 5, 1}, {"b", 4, 0}}, {{"b", 3, 2}, {"c", 1, 0}}, {}}, 2);
    ASSERT_EQ(sum.size(), 2u);
    EXPECT_EQ(sum[0].text, "b");
    EXPECT_EQ(sum[0].count, 7u);
    EXPECT_EQ(sum[0].too_many, 2u);
    EXPECT_EQ(sum[1].text, "a");
}

}  // namespace space_saving_test
}  // namespace proxy
