#include "proxy/storage/variant_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace proxy {
namespace variant_choice_test {

/// The variants of one URI, known by numbers, of which there is room for so many.
class Places {
public:
    explicit Places(std::size_t room) : room_(room) {}

    /// A request for this one; true if it was there.
    bool ask(int variant) {
        const auto at = std::ranges::find(variants_, variant, &One::number);
        if (at != variants_.end()) {
            count_use(at->uses);
            return true;
        }
        if (variants_.size() == room_) {
            const auto goes = variant_to_go(uses(), 7, displaced_++);
            variants_.erase(variants_.begin() + static_cast<std::ptrdiff_t>(goes.value()));
        }
        variants_.push_back({variant});
        return false;
    }
    /// How many of the requests for these, one after the other and so often, were answered.
    int ask_all(int from, int to, int rounds) {
        int there = 0;
        for (int round = 0; round < rounds; ++round)
            for (int variant = from; variant < to; ++variant) there += ask(variant) ? 1 : 0;
        return there;
    }

private:
    struct One {
        int number;
        std::uint8_t uses = 0;
    };
    std::vector<VariantUse> uses() {
        std::vector<VariantUse> all;
        for (auto& one : variants_) all.push_back({&one.uses});
        return all;
    }

    const std::size_t room_;
    std::uint32_t displaced_ = 0;
    std::vector<One> variants_;
};

TEST(VariantChoice, KeepsMostOfAFewTooManyThatAreRequestedInTurn) {
    Places places(16);
    places.ask_all(0, 17, 1);
    EXPECT_GT(places.ask_all(0, 17, 100), 17 * 100 * 3 / 4);
}

TEST(VariantChoice, KeepsRequestedVariantsWhileOthersPassThrough) {
    Places places(16);
    int there = 0;
    for (int i = 0; i < 1000; ++i) {
        there += places.ask(-1) ? 1 : 0;
        for (int once = 0; once < 4; ++once) places.ask(4 * i + once);
    }
    EXPECT_GT(there, 990);
}

TEST(VariantChoice, MakesRoomWhenFormerlyPopularVariantsAreRequestedNoMore) {
    Places places(16);
    places.ask_all(0, 16, 100);
    places.ask_all(100, 116, 50);
    EXPECT_EQ(places.ask_all(100, 116, 1), 16);
}

TEST(VariantChoice, TakesTheLeastUsedThatMayLeave) {
    std::vector<std::uint8_t> uses{3, 0, 1, 2};
    std::vector<VariantUse> variants;
    for (auto& one : uses) variants.push_back({&one});
    EXPECT_EQ(variant_to_go(variants, 1, 0), 1u);
    variants[1].stays = true;
    EXPECT_EQ(variant_to_go(variants, 1, 0), 2u);
    for (auto& variant : variants) variant.stays = true;
    EXPECT_EQ(variant_to_go(variants, 1, 0), std::nullopt);
    EXPECT_EQ(variant_to_go({}, 1, 0), std::nullopt);
}

TEST(VariantChoice, IsEvenAmongEquals) {
    std::vector<std::uint8_t> uses(4, kMostVariantUses);
    std::set<std::size_t> taken;
    for (std::uint32_t displaced = 0; displaced < 40; ++displaced) {
        std::vector<VariantUse> variants;
        for (auto& one : uses) variants.push_back({&one});
        taken.insert(variant_to_go(variants, 5, displaced).value());
    }
    EXPECT_EQ(taken.size(), 4u);
}

}  // namespace variant_choice_test
}  // namespace proxy
