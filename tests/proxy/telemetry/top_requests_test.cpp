#include "proxy/telemetry/top_requests.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace top_requests_test {

/// So many requests for a URL; those whose turn it is are noted.
void ask(TopRequests& top, const AdminConfig* settings, std::string_view url, int times) {
    for (int i = 0; i < times; ++i)
        if (top.is_turn()) top.note(settings, url, "192.0.2.1");
}

TEST(TopRequests, EstimatesCountsFromASampleWithoutQueries) {
    TopRequests top;
    const AdminConfig settings;
    for (int i = 0; i < 4000; ++i) {
        ask(top, &settings, "http://a.test/often?secret=1", 4);
        ask(top, &settings, "http://a.test/seldom?x=2", 1);
    }
    const auto urls = top.urls();
    ASSERT_EQ(urls.size(), 2u);
    EXPECT_EQ(urls[0].text, "http://a.test/often");
    EXPECT_NEAR(static_cast<double>(urls[0].count), 16'000, 2'000);
    EXPECT_EQ(urls[1].text, "http://a.test/seldom");
    EXPECT_NEAR(static_cast<double>(urls[1].count), 4'000, 1'000);
    EXPECT_TRUE(top.clients().empty()) << "clients are off by default";
}

TEST(TopRequests, ARhythmHidesNoRequest) {
    TopRequests top;
    const AdminConfig settings;
    for (int i = 0; i < 32'000; ++i)
        ask(top, &settings, "http://a.test/" + std::to_string(i % 16), 1);
    const auto urls = top.urls();
    ASSERT_EQ(urls.size(), 16u);
    for (const auto& url : urls) EXPECT_NEAR(static_cast<double>(url.count), 2'000, 800);
}

TEST(TopRequests, FollowTheSettings) {
    TopRequests top;
    AdminConfig settings;
    settings.top_urls = TopUrls::whole;
    settings.top_clients = true;
    ask(top, &settings, "http://a.test/?q=1", 100);
    ASSERT_EQ(top.urls().size(), 1u);
    EXPECT_EQ(top.urls()[0].text, "http://a.test/?q=1");
    ASSERT_EQ(top.clients().size(), 1u);
    EXPECT_EQ(top.clients()[0].text, "192.0.2.1");
    settings.top_urls = TopUrls::off;
    settings.top_clients = false;
    ask(top, &settings, "http://a.test/?q=1", 100);
    EXPECT_TRUE(top.urls().empty()) << "the list is forgotten";
    EXPECT_TRUE(top.clients().empty());
    ask(top, nullptr, "http://a.test/", 100);
    EXPECT_TRUE(top.urls().empty()) << "nobody could read it";
}

}  // namespace top_requests_test
}  // namespace proxy
