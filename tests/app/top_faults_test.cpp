#include "app/top_faults.hpp"

#include <gtest/gtest.h>

#include "app/top_view.hpp"

namespace app {
namespace top_faults_test {

TopData three_nodes() {
    TopData data;
    data.node = "a";
    for (const auto* name : {"a", "b", "c"}) {
        TopNode node;
        node.node = name;
        node.state = "ready";
        node.self = data.nodes.empty();
        data.nodes.push_back(node);
    }
    data.nodes[0].links = {{"b", "in_step", 1}, {"c", "in_step", 1}};
    return data;
}

TEST(TopFaults, AHealthyClusterHasNone) {
    auto data = three_nodes();
    read_top_status(R"({"config": {"last_error": ""}, "upstream": {"origins_down": 0, "answers": [
        {"site": "s", "last_5m": {"answers": 100, "server_errors": 10, "too_many_requests": 0}}]},
        "cache": {"disk": [{"path": "/d", "state": "ready", "last_error": "x", "last_error_seconds": 3601}]}})",
                    data);
    EXPECT_EQ(data.fault, "");
    read_top_status("no JSON", data);
    EXPECT_EQ(data.fault, "");
}

TEST(TopFaults, ARefusedNodeHasItsReason) {
    auto data = three_nodes();
    data.nodes[2].state = data.nodes[0].links[1].state = "refused";
    data.nodes[2].has_report = false;
    read_top_status(R"({"cluster": {"peers": [{"node": "b", "last_error": ""},
        {"node": "c", "last_error": "wrong_key"}]}, "upstream": {"origins_down": 2}})",
                    data);
    EXPECT_EQ(data.fault, "c: refused, keys differ");
    std::string page;
    for (const auto& line : top_lines(data, {200, 0, false})) page += line + "\n";
    EXPECT_NE(page.find("! c: refused, keys differ\n"), std::string::npos) << page;
    EXPECT_NE(page.find("  c: refused, keys differ\n"), std::string::npos) << "its link: " << page;
}

TEST(TopFaults, ALinkThatStaysDownBetweenNodesThatAreThereIsNamed) {
    auto data = three_nodes();
    data.nodes[1].links = {{"a", "in_step", 1}, {"c", "one_way", 0}};
    read_top_status("{}", data);
    EXPECT_EQ(data.fault, "b: the link with c is one way");
    data.nodes[0].links[0].state = "one_way";
    read_top_status(
        R"({"cluster": {"peers": [{"node": "b", "last_error": "connection_refused"}]}})", data);
    EXPECT_EQ(data.fault, "a: the link with b is one way, nothing listens there");
    data.fault.clear();
    data.nodes[2].state = data.nodes[1].state = "draining";
    read_top_status("{}", data);
    EXPECT_EQ(data.fault, "") << "a node that leaves needs no links";
    data = three_nodes();
    data.nodes[1].links = {{"a", "hello", 1}};
    read_top_status("{}", data);
    EXPECT_EQ(data.fault, "") << "the link is being set up";
}

TEST(TopFaults, AClockThatIsWrongIsNamed) {
    auto data = three_nodes();
    read_top_status(R"({"cluster": {"peers": [{"node": "b", "clock_ahead_seconds": 3600.1},
        {"node": "c", "clock_ahead_seconds": null}]}})",
                    data);
    EXPECT_EQ(data.fault, "the clock of b is 60 m ahead of that of a");
}

TEST(TopFaults, TheWorstOneIsShown) {
    auto data = three_nodes();
    const std::string clock = R"("cluster": {"peers": [{"node": "b", "clock_ahead_seconds": 90}]})",
                      many_errors = R"("answers": [{"site": "api.example",
        "last_5m": {"answers": 100, "server_errors": 38, "too_many_requests": 0}}])",
                      disk_lately = R"("cache": {"disk": [{"path": "/d", "state": "ready",
        "last_error": "No space left on device", "last_error_seconds": 60}]})",
                      disk_paused = R"("cache": {"disk": [{"path": "/d", "state": "paused",
        "last_error": "No space left on device", "last_error_seconds": 60}]})",
                      refused = R"("config": {"last_error": "$.listen: bad"})";
    read_top_status(R"({"upstream": {)" + many_errors + "}}", data);
    EXPECT_EQ(data.fault,
              "38 % of the answers of the origin of api.example were 5xx in the last five minutes");
    read_top_status("{" + disk_lately + R"(, "upstream": {)" + many_errors + "}}", data);
    EXPECT_EQ(data.fault, "disk /d: errors lately, No space left on device");
    data.nodes[1].faults.disks = 1;
    read_top_status("{" + disk_lately + "}", data);
    EXPECT_EQ(data.fault, "b: a disk is off or has errors");
    read_top_status(
        "{" + clock + "," + disk_lately + "," + refused + R"(, "upstream": {)" + many_errors + "}}",
        data);
    EXPECT_EQ(data.fault, "the last reload was refused: $.listen: bad") << "the rest are warnings";
    read_top_status("{" + disk_paused + "," + refused + R"(, "upstream": {"origins_down": 1}})",
                    data);
    EXPECT_EQ(data.fault, "disk /d: paused, No space left on device");
}

TEST(TopFaults, AServerThatIsDownAListAndACertificateAreNamed) {
    auto data = three_nodes();
    const std::string certificate =
        R"("tls": {"certificates": [{"file": "/c.pem", "expiry_seconds": -1.5}]})";
    read_top_status("{" + certificate + "}", data);
    EXPECT_EQ(data.fault, "the certificate /c.pem has expired");
    const auto list = certificate + R"(, "blocklists": {"lists": [{"path": "/l", "fault": ""},
        {"path": "/m", "fault": "/m: line 1 is no rule"}]})";
    read_top_status("{" + list + "}", data);
    EXPECT_EQ(data.fault,
              "a blocklist was not renewed, so its former state counts: /m: line 1 is no rule");
    read_top_status("{" + list +
                        R"(, "upstreams": [
        {"group": "forward.parent", "server": "p:3128", "state": "down"}]})",
                    data);
    EXPECT_EQ(data.fault, "the only server of forward.parent, p:3128, is down");
}

TEST(TopFaults, AnOriginWithoutAnAnswerIsNamed) {
    auto data = three_nodes();
    read_top_status(R"({"upstream": {"origins_down": 1, "answers": [
        {"site": "t", "last_5m": {"answers": 100, "server_errors": 100}, "fault": null},
        {"site": "s", "fault": {"text": "the origin o:80 of s has not answered for 9 s"}}]}})",
                    data);
    EXPECT_EQ(data.fault, "the origin o:80 of s has not answered for 9 s");
}

TEST(TopFaults, ARedirectThatLeavesTheMirrorsIsNamedAfterWorseFaults) {
    auto data = three_nodes();
    const std::string leaving = R"("leaving_redirects": [
        {"site": "pypi.example", "host": "cdn.example", "last_hour": 12},
        {"site": "t", "host": "h", "last_hour": 1}])";
    read_top_status(R"({"upstream": {)" + leaving + "}}", data);
    EXPECT_EQ(data.fault,
              "the origin of pypi.example redirects clients to cdn.example past the "
              "cache: 12 in the last hour");
    read_top_status(R"({"upstream": {"origins_down": 1, )" + leaving + "}}", data);
    EXPECT_EQ(data.fault, "1 origin without an answer");
}

}  // namespace top_faults_test
}  // namespace app
