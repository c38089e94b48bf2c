#include "proxy/telemetry/trace_context.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace trace_context_test {

using test::Head;

constexpr std::string_view kExample = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

std::string text_of(const TraceContext& context) {
    std::string out;
    append_traceparent(out, context);
    return out;
}

TEST(TraceContext, IsReadAndWrittenAlike) {  // Trace Context §3.2.2
    const auto context = parse_traceparent(kExample);
    ASSERT_TRUE(context);
    EXPECT_TRUE(context->sampled);
    EXPECT_EQ(context->trace[0], 0x0a);
    EXPECT_EQ(context->span[7], 0x31);
    EXPECT_EQ(text_of(*context), kExample);
}

TEST(TraceContext, TakesTheSampledFlagAloneFromTheFlags) {  // §3.2.2.5
    const std::string ids = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-";
    EXPECT_FALSE(parse_traceparent(ids + "00")->sampled);
    EXPECT_FALSE(parse_traceparent(ids + "fe")->sampled);
    EXPECT_TRUE(parse_traceparent(ids + "03")->sampled);
    EXPECT_EQ(text_of(*parse_traceparent(ids + "03")), ids + "01");
    EXPECT_EQ(text_of(*parse_traceparent(ids + "02")), ids + "00");
}

TEST(TraceContext, OfAMalformedTextIsNone) {
    for (const std::string_view bad : {
             "",
             "00",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 ",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
             "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-B7AD6B7169203331-01",
             "00-00000000000000000000000000000000-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
             "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
             "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331-01",
             "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331_01",
             "0g-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
             "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
             "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more",
             "0-af7651916cd43dd8448eb211c80319c0-b7ad6b7169203331-01-",
         })
        EXPECT_FALSE(parse_traceparent(bad)) << bad;
}

TEST(TraceContext, OfALaterVersionIsReadUpToTheFlags) {  // §4.3
    for (const std::string_view later :
         {"01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
          "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-brings"}) {
        const auto context = parse_traceparent(later);
        ASSERT_TRUE(context) << later;
        EXPECT_EQ(text_of(*context), kExample);
    }
}

TEST(TraceContext, IsThatOfTheOneFieldOfARequest) {
    const auto name_and_value = std::string("TraceParent: ") + std::string(kExample) + "\n";
    EXPECT_TRUE(received_trace(Head(name_and_value)));
    EXPECT_FALSE(received_trace(Head(name_and_value + name_and_value))) << "which one is right?";
    EXPECT_FALSE(received_trace(Head("tracestate: a=b\n")));
    EXPECT_FALSE(received_trace(Head("traceparent: " + std::string(kExample) + ", x\n")));
}

TEST(TraceContext, HasRandomIds) {
    std::set<TraceId> traces;
    std::set<SpanId> spans;
    for (int i = 0; i < 1000; ++i) {
        traces.insert(fresh_trace_id());
        spans.insert(fresh_span_id());
    }
    EXPECT_EQ(traces.size(), 1000u);
    EXPECT_EQ(spans.size(), 1000u);
    EXPECT_FALSE(traces.contains(TraceId{}));
}

TEST(Sampling, TakesTheShareOfTheTraces) {
    int sampled = 0, in_larger = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto id = fresh_trace_id();
        EXPECT_TRUE(in_sample(id, 1));
        EXPECT_FALSE(in_sample(id, 0));
        if (!in_sample(id, 0.25)) continue;
        ++sampled;
        in_larger += in_sample(id, 0.5) ? 1 : 0;
    }
    EXPECT_NEAR(sampled, 5000, 400);  // six standard deviations
    EXPECT_EQ(in_larger, sampled);
}

TEST(Sampling, LooksAtTheLastBytesOfTheId) {
    TraceId low{}, high{};
    low[0] = 0xff;
    for (auto& byte : high) byte = 0xff;
    EXPECT_FALSE(in_sample(low, 0.999));
    EXPECT_TRUE(in_sample(low, 1));
    EXPECT_TRUE(in_sample(high, 1e-9));
}

}  // namespace trace_context_test
}  // namespace proxy
