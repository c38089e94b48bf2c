#include "proxy/telemetry/span.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proxy/telemetry/span_queue.hpp"

namespace proxy {
namespace span_test {

using namespace std::chrono_literals;
using nlohmann::json;
using Clock = OpenSpan::Clock;

class Spans : public ::testing::Test {
protected:
    Spans() { queue.limit(100, 10); }
    RequestTrace sampled() {
        return begin_trace(
            parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), 0, queue);
    }
    json only_span() {
        const auto all = queue.take();
        EXPECT_EQ(all.size(), 1u);
        return all.empty() ? json() : json::parse(all[0]);
    }
    static json value_of(const json& span, std::string_view key) {
        for (const auto& each : span.at("attributes"))
            if (each.at("key") == key) return each.at("value");
        return nullptr;
    }
    SpanQueue queue;
};

TEST_F(Spans, GoOnWithTheTraceOfTheirParent) {
    const auto trace = sampled();
    EXPECT_TRUE(trace);
    EXPECT_NE(trace.context.span, trace.parent);
    OpenSpan::of_request(trace, "client request", Clock::now() - 5ms).end();
    const auto span = only_span();
    EXPECT_EQ(span.at("traceId"), "0af7651916cd43dd8448eb211c80319c");
    EXPECT_EQ(span.at("parentSpanId"), "b7ad6b7169203331");
    EXPECT_EQ(span.at("name"), "client request");
    EXPECT_EQ(span.at("kind"), 2);
    const auto start = std::stoull(span.at("startTimeUnixNano").get<std::string>());
    const auto end = std::stoull(span.at("endTimeUnixNano").get<std::string>());
    EXPECT_GE(end - start, 5'000'000u);
    EXPECT_FALSE(span.contains("status"));
}

TEST_F(Spans, BeginATraceWithoutAParent) {
    const auto trace = begin_trace(std::nullopt, 1, queue);
    EXPECT_TRUE(trace.context.sampled);
    OpenSpan::of_request(trace, "client request", Clock::now()).end();
    EXPECT_FALSE(only_span().contains("parentSpanId"));
}

TEST_F(Spans, OfAnUnsampledTraceAreNone) {
    const auto parent =
        parse_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
    const auto trace = begin_trace(parent, 1, queue);
    EXPECT_TRUE(trace) << "its id goes on";
    EXPECT_FALSE(trace.context.sampled) << "the parent decides";
    {
        OpenSpan span(trace, SpanKind::client, "origin fetch");
        EXPECT_FALSE(span);
        span.add("a", "b");
        span.fail("c");
        EXPECT_EQ(sent_context(trace, span), trace.context);
    }
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_FALSE(begin_trace(std::nullopt, 0, queue).context.sampled);
}

TEST_F(Spans, HaveAttributesOfAllTypes) {
    const auto trace = sampled();
    {
        OpenSpan span(trace, SpanKind::internal, "disk read");
        span.add("text", "a \"b\"\n\xff");
        span.add("empty", "");
        span.add_number("number", 18446744073709551615u);
        span.add_flag("flag", true);
        span.link(trace.context);
    }
    const auto span = only_span();
    EXPECT_EQ(value_of(span, "text").at("stringValue"), "a \"b\"\n\xee\xbf\xbf");
    EXPECT_EQ(value_of(span, "number").at("intValue"), "18446744073709551615");
    EXPECT_EQ(value_of(span, "flag").at("boolValue"), true);
    EXPECT_EQ(value_of(span, "empty"), nullptr);
    EXPECT_EQ(span.at("links").size(), 1u);
    EXPECT_EQ(span.at("links")[0].at("traceId"), "0af7651916cd43dd8448eb211c80319c");
    EXPECT_EQ(span.at("kind"), 1);
}

TEST_F(Spans, EndOnceAndSayWhyTheyFailed) {
    OpenSpan span(sampled(), SpanKind::client, "origin fetch");
    const auto context = span.context();
    EXPECT_TRUE(context.valid());
    span.fail("connect_failed");
    span.fail("later");
    span.end();
    span.end();
    const auto seen = only_span();
    EXPECT_EQ(seen.at("status").at("code"), 2);
    EXPECT_EQ(seen.at("status").at("message"), "connect_failed");
    EXPECT_EQ(value_of(seen, "error.type").at("stringValue"), "connect_failed");
    EXPECT_FALSE(span);
}

TEST_F(Spans, GiveTheirPlaceToTheNextOne) {
    const auto trace = sampled();
    OpenSpan span(trace, SpanKind::client, "first");
    span = OpenSpan(trace, SpanKind::client, "second");
    EXPECT_EQ(only_span().at("name"), "first");
    const auto moved = std::move(span);
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_TRUE(moved);
}

TEST_F(Spans, AreBoundedWhateverTheyAreGiven) {
    {
        OpenSpan span(sampled(), SpanKind::client, "origin fetch");
        for (int i = 0; i < 100; ++i) span.add("url.full", std::string(100'000, '\x01'));
        span.fail(std::string(1'000'000, 'x'));
    }
    const auto all = queue.take();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_LE(all[0].size(), SpanQueue::kMaxSpanBytes);
    EXPECT_TRUE(json::accept(all[0]));
}

TEST(SpanQueueTest, DropsNewSpansWhenItIsFull) {
    SpanQueue queue;
    int news = 0;
    queue.on_news([&] { ++news; });
    queue.push("none is wanted");
    EXPECT_EQ(queue.counters().dropped, 1u);
    queue.limit(3, 2);
    for (const auto* text : {"a", "b", "c", "d"}) queue.push(text);
    EXPECT_EQ(news, 2) << "the first span, and a batch";
    EXPECT_EQ(queue.counters().dropped, 2u);
    EXPECT_EQ(queue.counters().waiting, 3u);
    EXPECT_EQ(queue.counters().waiting_bytes, 3u);
    EXPECT_TRUE(queue.has_batch());
    EXPECT_THAT(queue.take(), testing::ElementsAre("a", "b"));
    EXPECT_FALSE(queue.has_batch());
    EXPECT_THAT(queue.take(), testing::ElementsAre("c"));
    EXPECT_THAT(queue.take(), testing::IsEmpty());
    EXPECT_EQ(queue.oldest(), SpanQueue::Clock::time_point::max());
}

TEST(SpanQueueTest, HasABoundInBytes) {
    SpanQueue queue;
    queue.limit(1'000'000, 100'000);
    const std::string large(SpanQueue::kMaxSpanBytes, 'x');
    const auto most = SpanQueue::kMaxBytes / large.size();
    for (std::size_t i = 0; i < most + 7; ++i) queue.push(large);
    EXPECT_EQ(queue.counters().waiting, most);
    EXPECT_EQ(queue.counters().dropped, 7u);
    EXPECT_EQ(queue.take().size(), SpanQueue::kMaxBatchBytes / large.size());
    queue.push(large + "x");
    EXPECT_EQ(queue.counters().dropped, 8u) << "too large by itself";
}

TEST(SpanQueueTest, ForgetsAllWithoutTracing) {
    SpanQueue queue;
    queue.limit(10, 10);
    queue.push("a");
    queue.limit(0, 1);
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_EQ(queue.counters().dropped, 1u);
    EXPECT_EQ(queue.counters().waiting_bytes, 0u);
}

}  // namespace span_test
}  // namespace proxy
