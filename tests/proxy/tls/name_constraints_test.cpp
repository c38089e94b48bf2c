#include "proxy/tls/name_constraints.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace name_constraints_test {

DnsConstraints permit(std::vector<std::string> bases, std::vector<std::string> excluded = {}) {
    return {std::move(bases), std::move(excluded)};
}

TEST(NameConstraints, CoverAHostAndAllBelowIt) {  // RFC 5280 §4.2.1.10
    const auto crates = permit({"crates.io"});
    for (const auto* covered : {"crates.io", "CRATES.io.", "static.crates.io", "*.crates.io",
                                "a*.crates.io", "*.static.crates.io", "*-x.crates.io"})
        EXPECT_TRUE(covers(crates, covered)) << covered;
    for (const auto* beyond : {"*", "io", "*.io", "evilcrates.io", "*crates.io", "crates.*",
                               "crates.io.example", "pypi.org", "*.org"})
        EXPECT_FALSE(covers(crates, beyond)) << beyond;
}

TEST(NameConstraints, WithALeadingDotCoverOnlyNamesBelow) {
    const auto below = permit({".crates.io"});
    EXPECT_TRUE(covers(below, "static.crates.io"));
    EXPECT_TRUE(covers(below, "*.crates.io"));
    EXPECT_FALSE(covers(below, "crates.io"));
    EXPECT_FALSE(covers(below, "*crates.io"));
}

TEST(NameConstraints, CoverEverythingWhereNoneSpeakOfDnsNames) {
    for (const auto* any : {"*", "pypi.org", "*.io"}) EXPECT_TRUE(covers(DnsConstraints{}, any));
    EXPECT_TRUE(covers(permit({""}), "*"));
}

TEST(NameConstraints, CoverNoPatternThatMeetsAnExcludedTree) {
    const auto most = permit({"example"}, {"bank.example"});
    EXPECT_TRUE(covers(most, "shop.example"));
    EXPECT_FALSE(covers(most, "bank.example"));
    EXPECT_FALSE(covers(most, "www.bank.example"));
    EXPECT_FALSE(covers(most, "*.example"));
    EXPECT_TRUE(covers(most, "*.shop.example"));
    EXPECT_FALSE(covers({std::nullopt, {""}}, "pypi.org"));
}

}  // namespace name_constraints_test
}  // namespace proxy
