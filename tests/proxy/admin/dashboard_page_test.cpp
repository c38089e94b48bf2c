#include "proxy/admin/dashboard_page.hpp"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <set>

#include "proxy/admin/dashboard_files.hpp"
#include "tests/proxy/admin/silent_node.hpp"

namespace proxy {
namespace dashboard_page_test {

namespace http = boost::beast::http;
using testing::HasSubstr;
using testing::Not;

AdminResponse get(const std::string& target, const std::string& if_none_match = {}) {
    test::SilentNode node;
    AdminRequest request(http::verb::get, target, 11);
    if (!if_none_match.empty()) request.set(http::field::if_none_match, if_none_match);
    boost::asio::io_context io;
    auto answer = boost::asio::co_spawn(io, show_dashboard(request, node), boost::asio::use_future);
    io.run();
    return answer.get();
}

std::string field(const AdminResponse& response, std::string_view name) {
    const auto value = response[boost::beast::string_view(name.data(), name.size())];
    return {value.data(), value.size()};
}

std::string target_of(const DashboardFile& file) {
    return file.name == "index.html" ? "/" : "/dashboard/" + std::string(file.name);
}

TEST(DashboardPage, EveryFileHasItsTypeAndAStrictPolicy) {
    ASSERT_FALSE(dashboard_files().empty());
    for (const auto& file : dashboard_files()) {
        const auto answer = get(target_of(file));
        EXPECT_EQ(answer.result(), http::status::ok) << file.name;
        EXPECT_EQ(answer.body(), file.content) << file.name;
        const auto type = field(answer, "Content-Type");
        EXPECT_EQ(type.starts_with("text/html;"), file.name.ends_with(".html")) << type;
        EXPECT_EQ(type.starts_with("text/css;"), file.name.ends_with(".css")) << type;
        EXPECT_EQ(type.starts_with("text/javascript;"), file.name.ends_with(".js")) << type;
        const auto policy = field(answer, "Content-Security-Policy");
        EXPECT_THAT(policy, HasSubstr("default-src 'none'; script-src 'self'; style-src 'self'"));
        EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
        EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
        EXPECT_EQ(field(answer, "X-Content-Type-Options"), "nosniff");
        EXPECT_EQ(field(answer, "Referrer-Policy"), "no-referrer");
        EXPECT_EQ(field(answer, "Cache-Control"), "no-cache");
    }
}

TEST(DashboardPage, ATagSparesTheBody) {
    for (const auto& file : dashboard_files()) {
        const auto tag = field(get(target_of(file)), "ETag");
        EXPECT_EQ(tag.size(), 18u) << file.name;
        for (const auto& known : {tag, "\"other\", " + tag, "W/" + tag, std::string("*")}) {
            const auto answer = get(target_of(file), known);
            EXPECT_EQ(answer.result(), http::status::not_modified) << known;
            EXPECT_TRUE(answer.body().empty());
            EXPECT_EQ(field(answer, "ETag"), tag);
        }
        EXPECT_EQ(get(target_of(file), "\"other\"").result(), http::status::ok);
    }
}

TEST(DashboardPage, HasNoOtherFiles) {
    for (const auto* target : {"/dashboard/", "/dashboard/none.js", "/dashboard/../routes.cpp",
                               "/dashboard//etc/passwd", "/dashboard/index.htm"})
        EXPECT_EQ(get(target).result(), http::status::not_found) << target;
}

TEST(DashboardPage, TheFilesAreSmallAndAskNoOtherHost) {
    std::size_t bytes = 0;
    std::set<std::string_view> names;
    for (const auto& file : dashboard_files()) {
        bytes += file.content.size();
        EXPECT_TRUE(names.insert(file.name).second) << file.name;
        for (const auto* other :
             {"src=\"http", "href=\"http", "url(http", "import(\"http", "from \"http", "//cdn"})
            EXPECT_EQ(file.content.find(other), std::string_view::npos) << file.name << other;
    }
    EXPECT_LE(bytes, 204'800u);
}

}  // namespace dashboard_page_test
}  // namespace proxy
