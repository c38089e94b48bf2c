#include "proxy/admin/purge.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace proxy {
namespace purge_test {

using nlohmann::json;

std::string wrong(const std::string& body) {
    const auto parsed = parse_purge(body);
    const auto* why = std::get_if<std::string>(&parsed);
    return why ? *why : "taken";
}

TEST(PurgeOrder, NamesUrlsAndTags) {
    const auto parsed = parse_purge(
        R"({"url": "HTTP://H.test:80", "urls": ["https://h.test/a?b=%20"], "tags": ["news", "ü"]})");
    const auto* order = std::get_if<PurgeOrder>(&parsed);
    ASSERT_TRUE(order);
    EXPECT_EQ(order->uris, (std::vector<std::string>{"http://h.test/", "https://h.test/a?b=%20"}))
        << "spelled as cache keys are";
    EXPECT_EQ(order->tags, (std::vector<std::string>{"news", "ü"}));
}

TEST(PurgeOrder, ReportsTheFaultOfABadOrder) {
    EXPECT_EQ(wrong("{"), "The body is not JSON.");
    EXPECT_EQ(wrong(""), "The body is not JSON.");
    EXPECT_EQ(wrong(std::string(900'000, '[')), "The body is nested more than 32 deep.");
    EXPECT_EQ(wrong("[]"), "The body must be a JSON object.");
    EXPECT_EQ(wrong("{}"), "Nothing to purge: give url, urls, tags, rules or prefixes.");
    EXPECT_EQ(wrong(R"({"urls": []})"),
              "Nothing to purge: give url, urls, tags, rules or prefixes.");
    EXPECT_EQ(wrong(R"({"url": "http://h/", "all": true})"),
              "all is not known: give url, urls, tags, rules or prefixes.");
    EXPECT_EQ(wrong(R"({"url": 1})"), "url must be a string.");
    EXPECT_EQ(wrong(R"({"url": "http://h/a", "url": "http://h/b"})"),
              "$.url stands twice in one object.");
    EXPECT_EQ(wrong(R"({"urls": "http://h/"})"), "urls must be an array.");
    EXPECT_EQ(wrong(R"({"urls": ["http://h/", 2]})"), "urls[1] must be a string.");
    EXPECT_TRUE(wrong(R"({"url": "/path"})").starts_with("url must be a whole URL"));
    EXPECT_TRUE(wrong(R"({"url": "ftp://h/"})").starts_with("url must be a whole URL"));
    EXPECT_EQ(wrong(R"({"url": "http://h/a#top"})"),
              "url must be a whole URL, http://host/path: has a fragment.");
    EXPECT_TRUE(wrong(R"({"tags": ["a b"]})").starts_with("tags[0] must be a tag"));
    EXPECT_TRUE(wrong(R"({"tags": [""]})").starts_with("tags[0] must be a tag"));
    EXPECT_EQ(wrong(R"({"rules": [1]})"), "rules[0] must be a string.");
    EXPECT_EQ(wrong(R"({"rules": ["r"]})"), "taken");
    EXPECT_EQ(wrong(R"({"prefixes": ["http://h", "https://h/a/b/"]})"), "taken");
    for (const auto* bad : {"http://h/a", "http://h/a?/", "http://h/?a/"})
        EXPECT_TRUE(wrong(json{{"prefixes", {bad}}}.dump()).starts_with("prefixes[0] must end"))
            << bad;
    EXPECT_TRUE(wrong(R"({"prefixes": ["/a/"]})").starts_with("prefixes[0] must be the beginning"));
    EXPECT_TRUE(wrong(json{{"prefixes", {"http://h" + std::string(65, '/')}}}.dump())
                    .starts_with("prefixes[0] must end"));
    EXPECT_TRUE(wrong(R"({"prefixes": ["http://h/a*/"]})")
                    .starts_with("prefixes[0] must be without a star: a prefix is no pattern"));
}

TEST(PurgeOrder, NamesARuleThatIsThere) {
    std::vector<Rule> rules(2);
    rules[0].name = "docs";
    rules[1].name = "blobs";
    PurgeOrder order;
    EXPECT_EQ(unknown_rule(order, rules), "");
    order.rules = {"blobs", "docs"};
    EXPECT_EQ(unknown_rule(order, rules), "");
    order.rules = {"blobs", "doc"};
    EXPECT_EQ(unknown_rule(order, rules), "No rule has the name doc. The rules are: docs, blobs.");
    EXPECT_EQ(unknown_rule(order, {}), "No rule has the name blobs. The node has no rules.");
}

TEST(PurgeOrder, IsBounded) {
    json body;
    for (std::size_t i = 0; i < kMaxPurged; ++i) body["tags"].push_back(std::to_string(i));
    EXPECT_EQ(wrong(body.dump()), "taken");
    body["url"] = "http://h/";
    EXPECT_EQ(wrong(body.dump()), "At most 1024 URLs, tags, rules and prefixes at once.");
    body["tags"].push_back("more");
    EXPECT_EQ(wrong(body.dump()), "tags must have at most 1024 elements.");
    EXPECT_TRUE(wrong(json{{"tags", {std::string(kMaxPurgeTagBytes + 1, 'x')}}}.dump())
                    .starts_with("tags[0] must be a tag"));
}

TEST(PurgeResult, IsWrittenForAnyBytesInAName) {
    const auto page = json::parse(answer_to_purge({"a", 1, {"b\xff", "c\nd"}, {}, {}}).json);
    EXPECT_EQ(page["confirmed"][0], "b\xef\xbf\xbd");
    EXPECT_EQ(page["confirmed"][1], "c\nd");
}

TEST(PurgeResult, NamesConfirmedAndPendingPeers) {
    PurgeResult report{"a", 2, {"b"}, {}, {}};
    EXPECT_EQ(answer_to_purge(report).status, 200u);
    report.away = {"c"};
    EXPECT_EQ(answer_to_purge(report).status, 202u);
    EXPECT_EQ(json::parse(answer_to_purge(report).json),
              json::parse(R"({"node": "a", "objects": 2, "confirmed": ["b"], "pending": [],
                              "away": ["c"]})"));
    report.away.clear();
    report.pending = {"c"};
    EXPECT_EQ(answer_to_purge(report).status, 202u);
}

}  // namespace purge_test
}  // namespace proxy
