#include "proxy/config/json_text.hpp"

#include <gmock/gmock.h>

namespace proxy {
namespace json_text_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> twice(std::string_view text) {
    const Environment nothing = [](const std::string&) { return std::nullopt; };
    ConfigContext context{nothing, {}};
    parse_json(text, context);
    std::vector<std::string> paths;
    for (const auto& error : context.errors) paths.push_back(error.path);
    return paths;
}

TEST(JsonText, NamesTheKeyThatStandsTwiceByItsPath) {
    EXPECT_THAT(twice(R"({"a": 1, "a": 2})"), ElementsAre("$.a"));
    EXPECT_THAT(twice(R"({"a": {"b": 1, "c": [], "b": {}}})"), ElementsAre("$.a.b"));
    EXPECT_THAT(twice(R"({"a": [1, {"b": 1}, [], {"b": 1, "b": 1}]})"), ElementsAre("$.a[3].b"));
    EXPECT_THAT(twice(R"([[{}, {"b": 1, "b": 1}]])"), ElementsAre("$[0][1].b"));
    EXPECT_THAT(twice(R"({"odd name": 1, "odd name": 1})"), ElementsAre("$[\"odd name\"]"));
    EXPECT_THAT(twice(R"({"a": 1, "a": 1, "a": 1})"), ElementsAre("$.a", "$.a"));
}

TEST(JsonText, KeysOfDifferentObjectsMayBeTheSame) {
    EXPECT_THAT(twice(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 1}]})"), IsEmpty());
    EXPECT_THAT(twice("[]"), IsEmpty());
}

TEST(JsonText, WhatIsNoJsonThrowsWithItsPlace) {
    try {
        twice("{\n  \"a\": ,\n}");
        FAIL();
    } catch (const nlohmann::json::exception& error) {
        EXPECT_EQ(syntax_message(error).find("line 2, column 8: "), 0U) << syntax_message(error);
    }
}

}  // namespace json_text_test
}  // namespace proxy
