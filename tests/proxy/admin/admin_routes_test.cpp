#include "proxy/admin/routes.hpp"

#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <set>

#include "tests/proxy/admin/silent_node.hpp"

namespace proxy {
namespace admin_routes_test {

namespace http = boost::beast::http;
using testing::HasSubstr;

std::string_view name(AdminMethod method) {
    return method == AdminMethod::get ? "GET" : "POST";
}

std::string field(const AdminResponse& response, http::field name) {
    const auto value = response[name];
    return {value.data(), value.size()};
}

class NodeInState final : public test::SilentNode {
public:
    explicit NodeInState(const NodeStatus& status) : status_(status) {}
    boost::asio::awaitable<NodeStatus> status() override { co_return status_; }

private:
    const NodeStatus& status_;
};

AdminResponse answer_of(NodeControl& node, http::verb verb, const char* path) {
    const AdminRequest request(verb, path, 11);
    boost::asio::io_context io;
    auto answer = boost::asio::co_spawn(io, find_route(verb, path)->handler(request, node),
                                        boost::asio::use_future);
    io.run();
    return answer.get();
}

/// The answer of a node in this state at a path.
AdminResponse answer_of(const NodeStatus& status, const char* path) {
    NodeInState node(status);
    return answer_of(node, http::verb::get, path);
}

TEST(Readyz, NamesFaultyDirectoriesAndIsReadyAllTheSame) {
    NodeStatus status;
    status.ready = true;
    DiskStatus good, loading, off;
    good.path = "/a";
    good.state = DiskStatus::State::ready;
    loading.path = "/b";
    off.path = "/c";
    off.state = DiskStatus::State::off;
    off.last_error = "Input/output error";
    status.disk = {good};
    EXPECT_EQ(answer_of(status, "/readyz").body(), "ready\n");
    status.disk = {good, loading, off};
    const auto answer = answer_of(status, "/readyz");
    EXPECT_EQ(answer.result(), http::status::ok);
    EXPECT_EQ(answer.body(), "ready\ndisk /b is loading\ndisk /c is off: Input/output error\n");
    status.ready = false;
    status.disk.clear();
    status.cluster.peers.resize(2);
    status.cluster.peers[0].node = "b";
    status.cluster.peers[0].state = protocol::PeerState::in_sync;
    status.cluster.peers[1].node = "c";
    const auto not_yet = answer_of(status, "/readyz");
    EXPECT_EQ(not_yet.result(), http::status::service_unavailable);
    EXPECT_EQ(not_yet.body(),
              "not ready: it waits to be in step with c, for 2 s after its start at most\n");
}

class NodeWithLog final : public test::SilentNode {
public:
    explicit NodeWithLog(const char* access) : access_(access) {}
    std::shared_ptr<const LoadedConfig> config() override {
        LoadedConfig config;
        config.log.access = access_;
        return std::make_shared<const LoadedConfig>(std::move(config));
    }

private:
    const char* access_;
};

TEST(ReopenLogs, SaysWhetherThereIsAFile) {
    const auto said = [](const char* access) {
        NodeWithLog node(access);
        return answer_of(node, http::verb::post, "/api/v1/reopen-logs").body();
    };
    EXPECT_EQ(said("/var/log/a"), "the access log is open anew\n");
    EXPECT_EQ(said("off"), "log.access is off: there is no file to reopen\n");
    EXPECT_EQ(said("stdout"), "log.access is stdout: there is no file to reopen\n");
}

TEST(AdminRoutes, StandOnceEachAndThoseOfAPathTogether) {
    std::set<std::pair<AdminMethod, std::string_view>> seen;
    std::set<std::string_view> paths;
    std::string_view last;
    for (const auto& route : admin_routes()) {
        EXPECT_TRUE(seen.emplace(route.method, route.path).second) << route.path;
        if (route.path != last) {
            EXPECT_TRUE(paths.insert(route.path).second) << route.path;
        }
        last = route.path;
        EXPECT_FALSE(route.does.empty()) << route.path;
    }
}

TEST(AdminRoutes, AreFoundByMethodAndPathWithoutTheQuery) {
    for (const auto& route : admin_routes()) {
        const auto method = route.method == AdminMethod::get ? http::verb::get : http::verb::post;
        EXPECT_EQ(find_route(method, route.path), &route);
        EXPECT_EQ(find_route(method, std::string(route.path) + "?x=/y"), &route);
        EXPECT_EQ(find_route(http::verb::put, route.path), nullptr);
        if (route.method == AdminMethod::get) {
            EXPECT_EQ(find_route(http::verb::head, route.path), &route);
        }
    }
    EXPECT_EQ(find_route(http::verb::get, "/api/v1/drain"), nullptr);
    EXPECT_EQ(find_route(http::verb::get, "/healthz/"), nullptr);
    EXPECT_EQ(find_route(http::verb::get, "//"), nullptr);
    const auto* files = find_route(http::verb::get, "/dashboard/charts.js?v=1");
    ASSERT_NE(files, nullptr);
    EXPECT_EQ(files->path, "/dashboard/");
    EXPECT_EQ(find_route(http::verb::post, "/dashboard/charts.js"), nullptr);
}

TEST(AdminRoutes, AreGuardedUnlessTheyOnlyLook) {
    using http::verb;
    for (const auto* open : {"/healthz", "/readyz", "/metrics", "/api/v1/status", "/api/v1/peers",
                             "/api/v1/summary", "/api/v1/status?x", "/", "/dashboard/charts.js",
                             "/api/v1/nodes", "/api/v1/history?span=6h", "/api/v1/sites"}) {
        EXPECT_FALSE(is_guarded(verb::get, open)) << open;
        EXPECT_FALSE(is_guarded(verb::head, open)) << open;
        EXPECT_TRUE(is_guarded(verb::post, open)) << open;
        EXPECT_TRUE(is_guarded(verb::options, open)) << open;
    }
    for (const auto* guarded : {"/api/v1/explain", "/api/v1/config", "/api/v1/config?x",
                                "/api/v1/drain", "/api/v1/reload", "/api/v1/purge", "/api/v1/top",
                                "/api/v1/errors", "/api/v1/settings", "/api/v1/what-comes-later"})
        EXPECT_TRUE(is_guarded(verb::get, guarded)) << guarded;
}

TEST(AdminRoutes, OnlyPagesAreOpenWhateverTheSettingsSay) {
    for (const auto& route : admin_routes())
        EXPECT_EQ(is_page(http::verb::get, route.path),
                  route.path == "/" || route.path == "/dashboard/")
            << route.path;
}

TEST(AdminRoutes, TheHistoryHasThreeSpans) {
    for (const auto* query : {"", "?span=15m", "?span=6h", "?span=7d"})
        EXPECT_EQ(answer_of({}, (std::string("/api/v1/history") + query).c_str()).result(),
                  http::status::ok)
            << query;
    for (const auto* query : {"?", "?span=", "?span=8d", "?span=15m&x", "?x",
                              "?node=", "?span=6h&span=6h", "?node=a&node=a", "?node=a&"})
        EXPECT_EQ(answer_of({}, (std::string("/api/v1/history") + query).c_str()).result(),
                  http::status::bad_request)
            << query;
}

TEST(AdminRoutes, TheHistoryOfOtherNodesHasOneSpan) {
    EXPECT_EQ(answer_of({}, "/api/v1/history?node=b&span=15m").result(), http::status::not_found);
    for (const auto* query : {"?span=6h&node=b", "?node=*&span=7d"}) {
        const auto answer = answer_of({}, (std::string("/api/v1/history") + query).c_str());
        EXPECT_EQ(answer.result(), http::status::bad_request) << query;
        EXPECT_NE(answer.body().find("span=15m alone"), std::string::npos) << answer.body();
    }
}

TEST(AdminRoutes, ListTheMethodsOfAPathInA405) {  // RFC 9110 §15.5.6
    for (const auto& route : admin_routes()) {
        std::string methods;
        for (const auto& other : admin_routes()) {
            if (other.path != route.path) continue;
            methods += (methods.empty() ? "" : ", ") + std::string(name(other.method));
            if (other.method == AdminMethod::get) methods += ", HEAD";
        }
        const auto refusal = no_route({http::verb::put, std::string(route.path) + "?x", 11});
        EXPECT_EQ(refusal.result(), http::status::method_not_allowed) << route.path;
        EXPECT_EQ(field(refusal, http::field::allow), methods) << route.path;
        EXPECT_THAT(refusal.body(), HasSubstr(std::string(route.does))) << route.path;
    }
    const auto peers = no_route({http::verb::put, "/api/v1/peers", 11});
    EXPECT_EQ(field(peers, http::field::allow), "GET, HEAD, POST");
    EXPECT_EQ(peers.body(), "GET shows the peers, POST changes them.\n");
}

TEST(AdminRoutes, ListAllRoutesInA404) {
    const auto refusal = no_route({http::verb::get, "/nothing", 11});
    EXPECT_EQ(refusal.result(), http::status::not_found);
    EXPECT_EQ(refusal.count(http::field::allow), 0u);
    for (const auto& route : admin_routes())
        EXPECT_THAT(refusal.body(),
                    HasSubstr(std::string(name(route.method)) + ' ' + std::string(route.path) +
                              ' ' + std::string(route.does) + ".\n"));
}

}  // namespace admin_routes_test
}  // namespace proxy
