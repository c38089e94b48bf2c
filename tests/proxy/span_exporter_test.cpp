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
