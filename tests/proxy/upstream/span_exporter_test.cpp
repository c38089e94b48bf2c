#include "proxy/upstream/span_exporter.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace proxy {
namespace span_exporter_test {

using namespace std::chrono_literals;

TEST(SpanExport, IsOneRequestOfOtlp) {
    Config config;
    config.node = "a\"b";
    config.tracing.emplace().service_name = "edge";
    const auto body = nlohmann::json::parse(export_body(config, {"{\"n\":1}", "{\"n\":2}"}));
    const auto& resource = body.at("resourceSpans").at(0);
    const auto& attributes = resource.at("resource").at("attributes");
    EXPECT_EQ(attributes.at(0).at("key"), "service.name");
    EXPECT_EQ(attributes.at(0).at("value").at("stringValue"), "edge");
    EXPECT_EQ(attributes.at(1).at("value").at("stringValue"), "a\"b");
    const auto& spans = resource.at("scopeSpans").at(0).at("spans");
    EXPECT_EQ(spans, nlohmann::json::parse("[{\"n\":1},{\"n\":2}]"));
}

TEST(SpanExport, IsRepeatedAfterTroubleThatPasses) {
    EXPECT_EQ(export_result(FetchError::none, 200), ExportResult::taken);
    EXPECT_EQ(export_result(FetchError::none, 202), ExportResult::taken);
    for (const auto status : {429u, 502u, 503u, 504u})
        EXPECT_EQ(export_result(FetchError::none, status), ExportResult::try_again) << status;
    for (const auto status : {301u, 400u, 401u, 404u, 413u, 500u})
        EXPECT_EQ(export_result(FetchError::none, status), ExportResult::refused) << status;
    EXPECT_EQ(export_result(FetchError::connect_failed, 0), ExportResult::try_again);
    EXPECT_EQ(export_result(FetchError::head_timeout, 0), ExportResult::try_again);
}

TEST(SpanExport, WaitsLongerAfterEachFailure) {
    EXPECT_EQ(pause_after(1), 1s);
    EXPECT_EQ(pause_after(2), 2s);
    EXPECT_EQ(pause_after(5), 16s);
    EXPECT_EQ(pause_after(6), 30s);
    EXPECT_EQ(pause_after(1'000'000'000), 30s);
}

TEST(SpanExport, TellsOfEachTroubleOnce) {
    ExportTrouble trouble;
    const ExportTrouble::Time start{1h};
    EXPECT_FALSE(trouble.over("http://a"));
    EXPECT_TRUE(trouble.met("http://a", "404", start));
    EXPECT_FALSE(trouble.met("http://a", "404", start + 1h));
    EXPECT_TRUE(trouble.met("http://a", "connect_failed", start + 1h)) << "another reason";
    EXPECT_TRUE(trouble.met("http://b", "connect_failed", start + 2h)) << "another endpoint";
    EXPECT_TRUE(trouble.over("http://b"));
    EXPECT_FALSE(trouble.over("http://b"));
    EXPECT_TRUE(trouble.met("http://b", "connect_failed", start + 3h)) << "again";
    EXPECT_FALSE(trouble.over("http://c")) << "which has never been in trouble";
}

TEST(SpanExport, TellsOfTroubleNotMoreOftenThanEachPause) {
    ExportTrouble trouble;
    const ExportTrouble::Time start{1h};
    int lines = 0;
    for (auto at = start; at < start + 100s; at += 1s) {
        lines += trouble.met("http://a", "404", at) ? 1 : 0;
        lines += trouble.met("http://a", "503", at) ? 1 : 0;
        trouble.over("http://a");
    }
    EXPECT_EQ(lines, 10);
    EXPECT_TRUE(trouble.met("http://a", "503", start + 100s));
    EXPECT_FALSE(trouble.met("http://a", "400", start + 101s));
    EXPECT_TRUE(trouble.met("http://a", "400", start + 110s)) << "the pause only defers it";
}

TEST(SpanExport, CountsTheSpansThatTheCollectorRejects) {
    EXPECT_EQ(rejected_spans("{}", 5), 0u);
    EXPECT_EQ(rejected_spans("{\"partialSuccess\":{}}", 5), 0u);
    EXPECT_EQ(rejected_spans("{\"partialSuccess\":{\"rejectedSpans\":\"3\"}}", 5), 3u);
    EXPECT_EQ(rejected_spans("{\"partialSuccess\":{\"rejectedSpans\":3}}", 5), 3u);
    EXPECT_EQ(
        rejected_spans("{\"partialSuccess\":{\"rejectedSpans\":\"99999999999999999999\"}}", 5), 5u);
    for (const auto* odd : {"", "no json", "[]", "{\"partialSuccess\":[]}",
                            "{\"partialSuccess\":{\"rejectedSpans\":\"-3\"}}",
                            "{\"partialSuccess\":{\"rejectedSpans\":-3}}"})
        EXPECT_EQ(rejected_spans(odd, 5), 0u) << odd;
}

}  // namespace span_exporter_test
}  // namespace proxy
