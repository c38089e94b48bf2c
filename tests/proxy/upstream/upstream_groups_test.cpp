#include "proxy/upstream/upstream_groups.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace proxy {
namespace upstream_groups_test {

using namespace std::chrono_literals;
using Turn = UpstreamGroups::Turn;

const UpstreamGroups::Time kNow{1000s};

UpstreamGroups::Config group(const std::string& name, unsigned servers) {
    UpstreamGroupConfig made;
    made.name = name;
    for (unsigned i = 0; i < servers; ++i) {
        auto& server = made.servers.emplace_back();
        server.place = {"s" + std::to_string(i), 80};
        server.mark = i + 1;
    }
    return std::make_shared<const UpstreamGroupConfig>(std::move(made));
}

TEST(UpstreamGroups, CountARequestAtItsPresentServer) {
    UpstreamGroups groups;
    const auto config = group("g", 2);
    {
        Turn turn(groups, config, 0, true, 0, kNow);
        EXPECT_EQ(turn.server()->place.host, "s0");
        EXPECT_EQ(groups.report(config, kNow)[0].counts.in_flight, 1u);
        ASSERT_TRUE(turn.has_next());
        turn.next(kNow);
        EXPECT_EQ(turn.server()->place.host, "s1");
        EXPECT_FALSE(turn.has_next());
        const auto shown = groups.report(config, kNow);
        EXPECT_EQ(shown[0].counts.in_flight, 0u);
        EXPECT_EQ(shown[1].counts.in_flight, 1u);
    }
    EXPECT_EQ(groups.report(config, kNow)[1].counts.in_flight, 0u);
}

TEST(UpstreamGroups, HaveNoServerForAPinThatIsGoneOrDown) {
    UpstreamGroups groups;
    const auto config = group("g", 2);
    EXPECT_EQ(Turn(groups, config, 0, true, 9, kNow).server(), nullptr);
    {
        Turn pinned(groups, config, 0, true, 2, kNow);
        EXPECT_EQ(pinned.server()->mark, 2u);
        EXPECT_FALSE(pinned.has_next());
        for (unsigned i = 0; i < kServerFailures; ++i)
            pinned.ended(UpstreamGroup::End::unreachable, kNow);
    }
    EXPECT_EQ(Turn(groups, config, 0, true, 2, kNow).server(), nullptr);
    {
        Turn other(groups, config, 0, true, 1, kNow);
        for (unsigned i = 0; i < kServerFailures; ++i)
            other.ended(UpstreamGroup::End::unreachable, kNow);
    }
    EXPECT_NE(Turn(groups, config, 0, true, 2, kNow).server(), nullptr) << "all are down: a try";
}

TEST(UpstreamGroups, NameTheCandidatesWithoutTakingATurn) {
    UpstreamGroups groups;
    const auto config = group("g", 2);
    const std::vector<std::string> order{"s0:80", "s1:80"};
    EXPECT_EQ(groups.candidates(config, 0, kNow), order);
    EXPECT_EQ(groups.candidates(config, 0, kNow), order);
}

TEST(UpstreamGroups, EndWithTheirConfigurations) {
    UpstreamGroups groups;
    const auto kept = group("kept", 1);
    const Turn open(groups, kept, 0, true, 0, kNow);
    std::vector<std::weak_ptr<const UpstreamGroupConfig>> former;
    for (unsigned i = 0; i < 1000; ++i) {
        const auto config = group("g" + std::to_string(i), 1);
        former.push_back(config);
        groups.report(config, kNow);
    }
    EXPECT_LT(std::ranges::count_if(former, [](const auto& one) { return !one.expired(); }), 200);
    EXPECT_EQ(groups.report(kept, kNow)[0].counts.requests, 1u);
}

TEST(UpstreamGroups, AreSharedByThreads) {
    UpstreamGroups groups;
    const auto config = group("g", 3);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (std::uint64_t n = 0; n < 500; ++n) {
                Turn turn(groups, config, n, true, 0, kNow);
                turn.ended(UpstreamGroup::End::answered, kNow);
                if (turn.has_next()) turn.next(kNow);
                groups.report(config, kNow);
            }
        });
    for (auto& thread : threads) thread.join();
    std::uint64_t requests = 0;
    for (const auto& server : groups.report(config, kNow)) {
        EXPECT_EQ(server.counts.in_flight, 0u);
        requests += server.counts.requests;
    }
    EXPECT_EQ(requests, 4 * 500 * 2u);
}

}  // namespace upstream_groups_test
}  // namespace proxy
