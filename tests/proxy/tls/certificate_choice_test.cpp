#include "proxy/tls/certificate_choice.hpp"

#include <gmock/gmock.h>

namespace proxy {
namespace certificate_choice_test {

using testing::ElementsAre;
using testing::IsEmpty;
using Group = CertificateChoice::Group;

/// The certificates for a name, by their index; those of the default for an unknown name.
Group chosen(const CertificateChoice& choice, std::string_view name) {
    return choice.groups().at(choice.find(name).value_or(0));
}

TEST(CertificateChoice, FollowsTheName) {
    const std::vector<CertificateIdentity> all{
        {{"a.test", "b.test"}, "EC"}, {{"c.test"}, "EC"}, {{"d.test"}, "RSA"}};
    const CertificateChoice choice(all);
    EXPECT_THAT(chosen(choice, "a.test"), ElementsAre(0));
    EXPECT_THAT(chosen(choice, "b.test"), ElementsAre(0));
    EXPECT_THAT(chosen(choice, "c.test"), ElementsAre(1));
    EXPECT_THAT(chosen(choice, "d.test"), ElementsAre(2));
    EXPECT_THAT(choice.unused(), IsEmpty());
}

TEST(CertificateChoice, IsTheFirstForNoNameAndAnUnknownOne) {
    const std::vector<CertificateIdentity> all{{{"a.test"}, "EC"}, {{"b.test"}, "EC"}};
    const CertificateChoice choice(all);
    EXPECT_FALSE(choice.find(""));
    EXPECT_FALSE(choice.find("x.test"));
    EXPECT_FALSE(choice.find("test"));
    EXPECT_FALSE(choice.find(".test"));
    EXPECT_THAT(chosen(choice, "x.test"), ElementsAre(0));
    EXPECT_TRUE(choice.find("a.test")) << "is known, though the group is the same";
}

TEST(CertificateChoice, PrefersTheNameToAWildcard) {  // RFC 9525 §6.3
    const std::vector<CertificateIdentity> all{
        {{"first.test"}, "EC"}, {{"*.a.test"}, "EC"}, {{"x.a.test"}, "EC"}};
    const CertificateChoice choice(all);
    EXPECT_THAT(chosen(choice, "y.a.test"), ElementsAre(1));
    EXPECT_THAT(chosen(choice, "x.a.test"), ElementsAre(2));
    EXPECT_FALSE(choice.find("a.test")) << "a wildcard is a label";
    EXPECT_FALSE(choice.find("z.y.a.test")) << "and no more than one";
    EXPECT_FALSE(choice.find(".a.test"));
    EXPECT_FALSE(choice.find("*.a.test")) << "no host has this name";
}

TEST(CertificateChoice, OffersOneOfEachTypeOfKey) {
    const std::vector<CertificateIdentity> all{
        {{"a.test"}, "RSA"}, {{"b.test", "a.test"}, "EC"}, {{"a.test"}, "EC"}, {{"b.test"}, "RSA"}};
    const CertificateChoice choice(all);
    EXPECT_THAT(chosen(choice, "a.test"), ElementsAre(0, 1));
    EXPECT_THAT(chosen(choice, "b.test"), ElementsAre(1, 3));
    EXPECT_THAT(chosen(choice, ""), ElementsAre(0, 1)) << "the first, and what stands in for it";
    EXPECT_THAT(choice.unused(), ElementsAre(2));
}

TEST(CertificateChoice, OffersNoOtherTypeByDefaultUnlessItHasAllNames) {
    const std::vector<CertificateIdentity> all{{{"a.test", "b.test"}, "RSA"}, {{"a.test"}, "EC"}};
    const CertificateChoice choice(all);
    EXPECT_THAT(chosen(choice, ""), ElementsAre(0));
    EXPECT_THAT(chosen(choice, "a.test"), ElementsAre(0, 1));
    EXPECT_THAT(chosen(choice, "b.test"), ElementsAre(0));
}

TEST(CertificateChoice, MakesOneGroupOfEqualSets) {
    const std::vector<CertificateIdentity> all{
        {{"a.test"}, "EC"}, {{"b.test", "c.test", "*.b.test"}, "EC"}, {{"d.test"}, "EC"}};
    const CertificateChoice choice(all);
    EXPECT_THAT(choice.groups(), ElementsAre(Group{0}, Group{1}, Group{2}));
}

TEST(CertificateChoice, LeavesOutCertificatesWithoutANameButTheFirst) {
    const std::vector<CertificateIdentity> all{{{}, "EC"}, {{}, "RSA"}, {{"a.test"}, "EC"}};
    const CertificateChoice choice(all);
    EXPECT_THAT(chosen(choice, ""), ElementsAre(0));
    EXPECT_THAT(choice.unused(), ElementsAre(1));
}

}  // namespace certificate_choice_test
}  // namespace proxy
