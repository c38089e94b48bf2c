#include "measure/run/status_faults.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "measure/run/node_sample.hpp"
#include "proxy/admin/status_json.hpp"

namespace measure {
namespace status_faults_test {

using testing::ElementsAre;
using testing::IsEmpty;

proxy::UpstreamStatus server(const char* group, const char* place, const char* state) {
    proxy::UpstreamStatus server;
    server.group = group;
    server.server = place;
    server.state = state;
    return server;
}

TEST(StatusFaults, AreThoseOfServersListsAndCertificates) {
    proxy::NodeStatus status;
    std::string why;
    EXPECT_THAT(parse_status(proxy::status_json(status), why)->faults, IsEmpty());
    status.upstreams = {
        server("a.test", "one:80", "down"),       server("a.test", "two:80", "up"),
        server("b.test", "one:80", "down"),       server("b.test", "two:80", "down"),
        server("c.test", "one:80", "slow_start"), server("forward.parent", "p:3128", "down")};
    status.blocklists.lists.resize(2);
    status.blocklists.lists[1].fault = "/l: line 1 is no rule";
    status.tls.certificates.resize(2);
    status.tls.certificates[0].file = "/c.pem";
    status.tls.certificates[0].expiry_seconds = -1;
    EXPECT_THAT(
        parse_status(proxy::status_json(status), why)->faults,
        ElementsAre(
            "no server of b.test is up: one:80, two:80",
            "the only server of forward.parent, p:3128, is down",
            "the server one:80 of a.test is down",
            "a blocklist was not renewed, so its former state counts: /l: line 1 is no rule",
            "the certificate /c.pem has expired"));
}

TEST(StatusFaults, AStrangePageHasNone) {
    for (const auto* text : {"7", "[]", R"({"upstreams": 7, "blocklists": [], "tls": "x"})",
                             R"({"upstreams": [7], "blocklists": {"lists": [[]]}})"}) {
        const auto page = nlohmann::json::parse(text);
        EXPECT_THAT(server_faults(page), IsEmpty()) << text;
        EXPECT_THAT(blocklist_faults(page), IsEmpty()) << text;
        EXPECT_THAT(certificate_faults(page), IsEmpty()) << text;
    }
}

}  // namespace status_faults_test
}  // namespace measure
