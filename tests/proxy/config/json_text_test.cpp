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

std::string why(std::string_view text) {
    try {
        twice(text);
    } catch (const nlohmann::json::exception& error) {
        return syntax_message(error, text);
    }
    return "it is JSON";
}

TEST(JsonText, ATextThatIsNoJsonThrowsWithItsPlace) {
    EXPECT_EQ(why("{\n  \"a\": ,\n}").find("line 2, column 8: "), 0U);
    EXPECT_EQ(why(R"({"a": nul})").find("line 1, column 10: "), 0U) << why(R"({"a": nul})");
}

TEST(JsonText, TextThatIsNestedTooDeepThrowsBeforeItIsParsed) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + "\"[[\\\"[[\"" + std::string(depth, ']');
    };
    const Environment nothing = [](const std::string&) { return std::nullopt; };
    ConfigContext context{nothing, {}};
    EXPECT_NO_THROW(parse_json(nested(kMaxJsonDepth), context));
    try {
        parse_json(nested(kMaxJsonDepth + 1), context);
        FAIL();
    } catch (const nlohmann::json::exception& error) {
        EXPECT_EQ(syntax_message(error, nested(kMaxJsonDepth + 1)),
                  "line 1, column 33: objects and arrays are nested more than 32 deep");
    }
}

TEST(JsonText, NamesTheCauseOfWhatPeopleGetWrong) {
    EXPECT_EQ(why("{\n  // the node\n  \"a\": 1}"), "line 2, column 3: JSON has no comments");
    EXPECT_EQ(why("{\"a\": 1 /* one */}"), "line 1, column 9: JSON has no comments");
    EXPECT_EQ(why("# a\n{}"), "line 1, column 1: JSON has no comments");
    EXPECT_EQ(why("{\"a\": 1,\n}"),
              "line 1, column 8: a comma stands behind the last element, before }");
    EXPECT_EQ(why("[1, 2 , ]"),
              "line 1, column 7: a comma stands behind the last element, before ]");
    EXPECT_EQ(why("{\"a\": 1\n \"b\": 2}"), "line 2, column 2: a comma is missing before this");
    EXPECT_EQ(why("{\"a\": {\"b\": [1, 2], \"c\": 1}"),
              "line 1, column 28: the file ends inside an object that begins in line 1, column 1");
    EXPECT_EQ(why("[{\"a\": 1}"),
              "line 1, column 10: the file ends inside an array that begins in line 1, column 1");
    EXPECT_EQ(why("{\"a\": \"b}"), "line 1, column 7: the file ends inside this string");
    EXPECT_EQ(why("{\"a: 1,\n\"b\": 2}"), "line 1, column 2: this string has no end in its line");
    EXPECT_EQ(why("{'a': 1}"), "line 1, column 2: JSON puts strings between double quotes");
    EXPECT_EQ(why("{}\nx"), "line 2, column 1: this stands behind the end");
    EXPECT_EQ(why(""), "line 1, column 1: there is nothing in it");
}

TEST(JsonText, SaysNothingOfMarksInsideStrings) {
    EXPECT_EQ(why(R"({"a": "// # ,} \" '", "b/c": "x,]"})"), "it is JSON");
    EXPECT_EQ(why(R"({"a": "# \", }", "b": tru})").find("line 1, column 26: "), 0U)
        << why(R"({"a": "# \", }", "b": tru})");
}

}  // namespace json_text_test
}  // namespace proxy
