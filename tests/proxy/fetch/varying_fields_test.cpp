#include "proxy/fetch/varying_fields.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace varying_fields_test {

TEST(VaryingFields, AreThoseOfTheSite) {
    VaryingFields fields;
    EXPECT_EQ(fields.of("a.test"), "");
    fields.note("a.test", "cookie,origin");
    fields.note("a.test", "cookie,x-kind");
    fields.note("b.test:8080", "user-agent");
    EXPECT_EQ(fields.of("a.test"), "cookie,origin,x-kind");
    EXPECT_EQ(fields.of("b.test:8080"), "user-agent");
    EXPECT_EQ(fields.of("b.test"), "");
}

TEST(VaryingFields, TakeBoundedSpace) {
    VaryingFields fields;
    const std::string long_name(300, 'x'), other(300, 'y');
    fields.note("a.test", long_name + "," + other + ",cookie");
    EXPECT_EQ(fields.of("a.test"), long_name + ",cookie");
    for (std::size_t i = 1; i < VaryingFields::kMostSites; ++i)
        fields.note(std::to_string(i), "cookie");
    EXPECT_NE(fields.of("a.test"), "");  // its last use
    fields.note("one more", "cookie");
    EXPECT_NE(fields.of("a.test"), "");
    EXPECT_EQ(fields.of("1"), "");
}

}  // namespace varying_fields_test
}  // namespace proxy
