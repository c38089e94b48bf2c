#include "proxy/upstream/origin_permit.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "proxy/config/upstreams.hpp"
#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace origin_permit_test {

class OriginPermitTest : public ::testing::Test, protected test::IdleCache {
protected:
    /// An origin of two servers.
    static UpstreamTarget target() {
        UpstreamGroupConfig group;
        group.name = "*";
        for (const auto* host : {"one", "two"}) {
            auto& server = group.servers.emplace_back();
            server.place = {host, 80};
            server.mark = mark_of_server(server.place.text());
        }
        UpstreamTarget made;
        made.site = "a.test";
        made.key = "a.test:80";
        made.group = std::make_shared<const UpstreamGroupConfig>(std::move(group));
        return made;
    }
    SiteAnswers seen() const {
        const auto all = upstream.origin_answers.by_site(std::chrono::steady_clock::now());
        const auto at = all.find("a.test");
        return at == all.end() ? SiteAnswers{} : at->second;
    }
};

TEST_F(OriginPermitTest, ARequestThatTwoServersLeaveUnansweredIsOneOfTheOutage) {
    OriginPermit asked(upstream, target(), {false, true});
    ASSERT_TRUE(asked.allowed());
    ASSERT_TRUE(asked.goes_on_after(FetchError::connect_failed));
    EXPECT_EQ(seen().outage.requests, 0u) << "the other server may answer";
    ASSERT_FALSE(asked.goes_on_after(FetchError::connect_failed));
    asked.ended(FetchError::connect_failed);
    EXPECT_EQ(seen().outage.requests, 1u);
}

TEST_F(OriginPermitTest, AnErrorOfTheFirstServerCountsAsAnAnswerAlone) {
    OriginPermit asked(upstream, target(), {false, true});
    ASSERT_TRUE(asked.goes_on_after(FetchError::none, 503));
    EXPECT_EQ(seen().total.server_errors, 1u);
    EXPECT_EQ(seen().outage.requests, 0u);
    asked.ended(FetchError::none, ParseError::ok, 503);
    EXPECT_EQ(seen().total.server_errors, 2u);
    EXPECT_EQ(seen().outage.requests, 1u);
}

}  // namespace origin_permit_test
}  // namespace proxy
