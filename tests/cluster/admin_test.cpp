#include <nlohmann/json.hpp>

#include "proxy/admin/routes.hpp"
#include "proxy/admin/server.hpp"
#include "tests/cluster/fixture.hpp"

namespace proxy::test {
namespace admin_test {

constexpr const char* kToken = "0123456789abcdef";

class AdminPort : public NodesTest {
protected:
    Answer ask(std::string_view method, std::string_view target, std::string_view host,
               const std::string& fields = {}) const {
        Client client(address("a"), kAdminPort);
        client.host = host;
        return client.ask(method, target, fields);
    }
};

TEST_F(AdminPort, AnswersToNamesThatItKnows) {
    auto settings = config("a");
    settings.admin->names = {"node-a.test"};
    start(settings);
    EXPECT_EQ(ask("GET", "/healthz", address("a") + ":9128").status, 200u);
    EXPECT_EQ(ask("GET", "/healthz", "node-a.test").status, 200u);
    for (const auto* target : {"/healthz", "/api/v1/status", "/api/v1/config", "/nothing"})
        EXPECT_EQ(ask("GET", target, "rebound.evil.test:9128").status, 403u) << target;
    EXPECT_EQ(ask("POST", "/api/v1/drain", "rebound.evil.test").status, 403u);
    EXPECT_FALSE(status("a").draining);
}

TEST_F(AdminPort, RefusesRequestsThroughAProxy) {
    start(config("a"));
    for (const auto* line :
         {"Via: 1.1 b\r\n", "X-Forwarded-For: 127.0.0.1\r\n", "Forwarded: for=127.0.0.1\r\n"}) {
        EXPECT_EQ(ask("POST", "/api/v1/drain", "localhost", line).status, 403u) << line;
        EXPECT_EQ(ask("GET", "/api/v1/status", "localhost", line).status, 403u) << line;
    }
    EXPECT_FALSE(status("a").draining);
}

TEST_F(AdminPort, AsksForTheTokenBeforeItChangesAnything) {
    auto settings = config("a");
    settings.admin->token = kToken;
    auto& node = start(settings);
    std::string right("Authorization: Bearer ");  // GCC 12 under TSan misreads a chain of +
    right.append(kToken).append("\r\n");
    for (const auto* fields : {"", "Authorization: Bearer 0123456789abcdeF\r\n"}) {
        for (const auto* target : {"/api/v1/drain", "/api/v1/reload", "/api/v1/purge"}) {
            const auto answer = ask("POST", target, "localhost", fields);
            EXPECT_EQ(answer.status, 401u) << target;
            EXPECT_TRUE(answer.field("WWW-Authenticate").starts_with("Bearer")) << answer.head;
        }
        EXPECT_EQ(ask("GET", "/api/v1/config", "localhost", fields).status, 401u);
        EXPECT_EQ(ask("GET", "/metrics", "localhost", fields).status, 200u);
        EXPECT_EQ(ask("GET", "/api/v1/status", "localhost", fields).status, 200u);
    }
    EXPECT_FALSE(status("a").draining);
    const auto shown = ask("GET", "/api/v1/config", "localhost", right);
    EXPECT_EQ(shown.status, 200u);
    EXPECT_FALSE(contains(shown.body, kToken));
    EXPECT_EQ(ask("POST", "/api/v1/drain", "localhost", right).status, 202u);
    node.join();  // it has ended
}

TEST_F(AdminPort, SaysWhichMethodsEachPathTakes) {
    start(config("a"));
    for (const auto& route : admin_routes()) {
        const auto put = ask("PUT", route.path, "localhost");
        EXPECT_EQ(put.status, 405u) << route.path;
        const auto allow = put.field("Allow");
        const auto looks = route.method == AdminMethod::get;
        EXPECT_TRUE(contains(allow, looks ? "GET, HEAD" : "POST")) << route.path << ": " << allow;
        const auto other = contains(allow, ", POST") || !looks ? "GET" : "POST";
        if (contains(allow, other)) continue;
        const auto refused = ask(other, route.path, "localhost");
        EXPECT_EQ(refused.status, 405u) << other << ' ' << route.path;
        EXPECT_EQ(refused.field("Allow"), allow) << route.path;
    }
    EXPECT_FALSE(status("a").draining);
    const auto nothing = ask("GET", "/nothing", "localhost");
    EXPECT_EQ(nothing.status, 404u);
    EXPECT_TRUE(contains(nothing.body, "POST /api/v1/drain drains this node.\n")) << nothing.body;
}

TEST_F(AdminPort, ShowsPartsOfTheStatusAsTheStatusHasThem) {
    start(config("a"));
    const auto whole = nlohmann::json::parse(ask("GET", "/api/v1/status", "localhost").body);
    const auto peers = nlohmann::json::parse(ask("GET", "/api/v1/peers", "localhost").body);
    const auto summary = nlohmann::json::parse(ask("GET", "/api/v1/summary", "localhost").body);
    EXPECT_EQ(peers, whole.at("cluster"));
    EXPECT_EQ(summary, whole.at("summary"));
}

TEST_F(AdminPort, SaysThatABodyIsTooLarge) {
    start(config("a"));
    auto client = admin_client();
    const std::string body(AdminServer::kMaxBodyBytes + 300'000, ' ');
    const auto answer =
        client.ask("POST", "/api/v1/purge", "Content-Type: application/json\r\n", body);
    EXPECT_EQ(answer.status, 413u);
    EXPECT_TRUE(answer.complete);
    EXPECT_TRUE(contains(answer.body, "1048576 bytes")) << answer.body;
}

TEST_F(AdminPort, RefusesMalformedRequestsWithAReason) {
    start(config("a"));
    auto client = admin_client();
    client.socket.send("GARBAGE\r\n\r\n");
    EXPECT_EQ(client.read().status, 400u);
    auto other = admin_client();
    EXPECT_EQ(other.get("/healthz", "X: " + std::string(20'000, 'x') + "\r\n").status, 431u);
}

TEST_F(AdminPort, IdleConnectionsMakeRoomForNewOnes) {
    start(config("a"));
    std::vector<Client> idle;
    for (std::size_t i = 0; i < 2 * AdminServer::kMaxConnections; ++i) {
        idle.push_back(admin_client());
        ASSERT_EQ(idle.back().get("/healthz").status, 200u) << i;
    }
    EXPECT_EQ(idle.back().get("/healthz").status, 200u);  // the newest are still there
    EXPECT_TRUE(idle.front().at_end());
}

}  // namespace admin_test
}  // namespace proxy::test
