#include "measure/trace/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "measure/report/ideal.hpp"

namespace measure {
namespace workload_test {

WorkloadOptions small() {
    WorkloadOptions options;
    options.requests = 5000;
    options.objects = 1000;
    return options;
}

std::vector<std::pair<std::uint64_t, std::string>> requests_of(const Trace& trace) {
    std::vector<std::pair<std::uint64_t, std::string>> out;
    for (const auto& r : trace.requests) {
        out.emplace_back(trace.clients[r.client], trace.urls[r.url].text);
    }
    return out;
}

TEST(Workload, IsTheSameForTheSameSeed) {
    EXPECT_EQ(requests_of(make_workload(small())), requests_of(make_workload(small())));
    auto other = small();
    other.seed = 43;
    EXPECT_NE(requests_of(make_workload(small())), requests_of(make_workload(other)));
}

TEST(Workload, HasEachUrlOnce) {
    const Trace trace = make_workload(small());
    std::set<std::string_view> texts;
    std::set<std::uint32_t> objects;
    for (const auto& url : trace.urls) {
        EXPECT_TRUE(texts.insert(url.text).second) << url.text;
        EXPECT_TRUE(objects.insert(url.object).second) << url.text;
    }
    EXPECT_EQ(trace.object_bytes.size(), trace.urls.size());
    for (const auto bytes : trace.object_bytes) EXPECT_GE(bytes, 300u);
}

TEST(Workload, SaysThatItIsSynthetic) {
    const Trace trace = make_workload(small());
    EXPECT_TRUE(trace.synthetic);
    EXPECT_THAT(trace.source, testing::HasSubstr("SYNTHETIC"));
    EXPECT_THAT(trace.source, testing::HasSubstr("seed 42"));
}

TEST(Workload, LeavesSomethingForSharingToGain) {
    const Ideal ideal = ideal_of(make_workload(WorkloadOptions{}), 3, 1024);
    EXPECT_GT(ideal.total.local_ratio(), 0.3);
    EXPECT_GT(ideal.total.shared_ratio(), ideal.total.local_ratio() + 0.1);
    EXPECT_LT(ideal.total.shared_ratio(), 0.9);
}

TEST(Workload, GivesEveryUrlASize) {
    for (const auto bytes : make_workload(small()).object_bytes) {
        EXPECT_GE(bytes, 300u);
        EXPECT_LE(bytes, 300'000u);
    }
}

TEST(Workload, RefusesPartsThatAreTooMuch) {
    auto options = small();
    options.again = 0.7;
    options.once = 0.4;
    EXPECT_THROW(make_workload(options), std::invalid_argument);
    options = small();
    options.clients = 0;
    EXPECT_THROW(make_workload(options), std::invalid_argument);
    options = small();
    options.requests_per_second = 1e-300;
    EXPECT_THROW(make_workload(options), std::invalid_argument);
}

}  // namespace workload_test
}  // namespace measure
