#include "proxy/blocklists/punycode.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace punycode_test {

std::string ascii(std::string_view label) {
    std::string out;
    return append_ascii_label(out, label) ? out : "refused";
}

TEST(Punycode, GivesALabelItsAsciiForm) {
    EXPECT_EQ(ascii("example"), "example");
    EXPECT_EQ(ascii("bücher"), "xn--bcher-kva");
    EXPECT_EQ(ascii("münchen-ost"), "xn--mnchen-ost-9db");
    EXPECT_EQ(ascii("ü"), "xn--tda");
    EXPECT_EQ(ascii("日本語"), "xn--wgv71a119e");
}

TEST(Punycode, EncodesTheSamplesOfItsStandard) {  // RFC 3492 §7.1
    EXPECT_EQ(ascii("他们为什么不说中文"), "xn--ihqwcrb4cv8a8dqg056pqjye");
    EXPECT_EQ(ascii("почемужеонинеговорятпорусски"), "xn--b1abfaaepdrnnbgefbadotcwatmq2g4l");
    EXPECT_EQ(ascii("porquénopuedensimplementehablarenespañol"),
              "xn--porqunopuedensimplementehablarenespaol-fmd56a");
}

TEST(Punycode, MakesLettersSmallFirst) {
    EXPECT_EQ(ascii("BÜCHER"), ascii("bücher"));
    EXPECT_EQ(ascii("ПОЧЕМУ"), ascii("почему"));
    EXPECT_EQ(ascii("ΑΒΓ"), ascii("αβγ"));
}

TEST(Punycode, RefusesWhatIsNoLabel) {
    EXPECT_EQ(ascii("\xff"), "refused");
    EXPECT_EQ(ascii("a\xc3"), "refused");
    EXPECT_EQ(ascii("\xc0\x80"), "refused") << "overlong";
    EXPECT_EQ(ascii(std::string(63, 'a')), std::string(63, 'a'));
    EXPECT_EQ(ascii(std::string(64, 'a')), "refused");
    EXPECT_EQ(ascii(std::string(1 << 20, 'a')), "refused") << "at once";
}

}  // namespace punycode_test
}  // namespace proxy
