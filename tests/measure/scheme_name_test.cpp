#include "measure/study/scheme_name.hpp"

#include <gtest/gtest.h>

namespace measure {
namespace scheme_name_test {

TEST(SchemeName, LeadsBack) {
    for (const auto each : kSchemes) EXPECT_EQ(scheme_named(name(each)), each);
    for (const auto each : kReplacements) EXPECT_EQ(replacement_named(name(each)), each);
    for (const auto each : proxy::kCopyPolicies)
        EXPECT_EQ(copy_named(proxy::to_string(each)), each);
    EXPECT_FALSE(scheme_named("ICP"));
    EXPECT_FALSE(replacement_named(""));
    EXPECT_FALSE(copy_named("sometimes"));
}
TEST(SchemeName, TitlesTellApartWhatStandsInOneTable) {
    SimulationConfig config;
    config.scheme = Scheme::paper_bloom;
    config.load_factor = 8;
    config.announce_changed = 0.01;
    EXPECT_EQ(title_of(config), "Bloom 8, 1%");
    config.scheme = Scheme::summary;
    config.kind = summary::Kind::cuckoo;
    EXPECT_EQ(title_of(config), "cuckoo");
    config.announce_changed = 0.001;
    for (const auto each : kSchemes) {
        config.scheme = each;
        EXPECT_LE(title_of(config).size(), 22u) << title_of(config);
        EXPECT_FALSE(title_of(config).empty());
    }
}

}  // namespace scheme_name_test
}  // namespace measure
