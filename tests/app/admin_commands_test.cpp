// The commands that tell a running node to do something, against real nodes.
#include "app/order_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/exit_codes.hpp"
#include "app/query_commands.hpp"
#include "app/run_command.hpp"
#include "measure/run/child_process.hpp"
#include "tests/app/running_nodes.hpp"
#include "tests/measure/captured.hpp"
#include "tests/measure/scripted_server.hpp"

namespace app {
namespace admin_commands_test {

using measure::captured;
using measure::nobody;
using measure::Reply;
using measure::ScriptedServer;
using measure::Seen;
using measure::TemporaryDirectory;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

NodeChoice at(unsigned number) {
    return {own_address(number), {}};
}

TEST(Purge, SaysWhatIsGoneAndWhoIsAway) {
    const auto node = run_by(configuration("a", 1, cluster_part(1, "b", 2)));
    const auto ended = captured([] {
        return purge_command(at(1), {{"http://www.example.org/page"}, {"news", "old"}, {}}, false);
    });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(
        ended.out,
        EndsWith("purged: 0 objects here\n"
                 "no link to b: it drops the objects when the link is up again; until then it "
                 "goes on serving its own copies\n"));
    EXPECT_THAT(ended.out,
                HasSubstr("purged 1 URL and 2 tags, 0 objects here; peers: 0 confirmed, 0 "
                          "not yet, 1 away\n"));
    const auto json = captured([] { return purge_command(at(1), {{}, {"news"}, {}}, true); });
    EXPECT_THAT(json.out, HasSubstr("\"away\": ["));
    const auto by_rule = captured([] { return purge_command(at(1), {{}, {}, {"r"}}, false); });
    EXPECT_EQ(by_rule.code, kUsage);
    EXPECT_THAT(by_rule.error, HasSubstr("No rule has the name r. The node has no rules."));
    const auto wrong = captured([] { return purge_command(at(1), {{"no url"}, {}, {}}, false); });
    EXPECT_EQ(wrong.code, kUsage);
    EXPECT_THAT(wrong.error, HasSubstr("status 400"));
}

TEST(Reload, SaysWhatHasChangedOrWhyNothing) {
    const TemporaryDirectory folder("hearsay-test-");
    const auto file = folder.path() + "/a.json";
    const auto write = [&](const std::string& more) {
        std::ofstream(file) << configuration("a", 3, more);
    };
    write("");
    const auto node = run_by(configuration("a", 3), file);
    EXPECT_THAT(captured([] { return reload_command(at(3), false); }).out,
                EndsWith("reloaded: nothing has changed\n"));  // the node logs there, too
    write(R"("cache": {"memory": "99MiB"})");
    const auto changed = captured([] { return reload_command(at(3), false); });
    EXPECT_EQ(changed.code, kOk) << changed.error;
    EXPECT_THAT(changed.out, HasSubstr("reloaded: changed "));
    EXPECT_THAT(changed.out, HasSubstr("cache.memory"));
    write(R"("cache": {"memry": "99MiB"})");
    const auto refused = captured([] { return reload_command(at(3), false); });
    EXPECT_EQ(refused.code, kFailed);
    EXPECT_THAT(refused.error, HasSubstr("refuses the configuration; it keeps the old one\n"));
    EXPECT_THAT(refused.error, HasSubstr("cache.memry"));
    std::ofstream(file) << "{";
    const auto broken = captured([&] { return drain_command({{}, file}); });
    EXPECT_EQ(broken.code, kBadConfig);
    EXPECT_THAT(broken.error, HasSubstr(file + ": not a valid configuration\n$: "));
    std::filesystem::remove(file);
    const auto missing = captured([] { return reload_command(at(3), false); });
    EXPECT_THAT(missing.error, HasSubstr("keeps the old one\n  cannot read " + file + ": No such"));
}

TEST(Reload, SaysWhichFilesWereReadAgain) {
    const TemporaryDirectory folder("hearsay-test-");
    const auto file = folder.path() + "/a.json", list = folder.path() + "/list",
               users = folder.path() + "/users";
    std::ofstream(list) << "listed.test\n";
    std::ofstream(users) << "# nobody yet\n";
    auto text = configuration("a", 8);
    const std::string_view enabled = R"("enabled": true)";
    text.insert(text.find(enabled) + enabled.size(),
                R"(, "authentication": {"users": ")" + users + R"("}, "blocklist_folder": ")" +
                    folder.path() + R"(", "blocklists": [{"path": ")" + list +
                    R"(", "format": "domains"}])");
    std::ofstream(file) << text;
    const auto node = run_by(text, file);
    EXPECT_THAT(captured([] { return reload_command(at(8), false); }).out,
                EndsWith("reloaded: no setting has changed; read again: users\n"));
    std::ofstream(list) << "listed.test\nanother.test\n";
    EXPECT_THAT(captured([] { return reload_command(at(8), false); }).out,
                EndsWith("reloaded: no setting has changed; read again: users, blocklists\n"));
}

TEST(ReopenLogs, MakesTheFileAnew) {
    const TemporaryDirectory folder("hearsay-test-");
    const auto log = folder.path() + "/access.log";
    auto text = configuration("a", 4);
    text.replace(text.find(R"("access": "off")"), 15, R"("access": ")" + log + '"');
    const auto node = run_by(text);
    ASSERT_TRUE(std::filesystem::exists(log));
    std::filesystem::rename(log, log + ".1");
    const auto ended = captured([] { return reopen_logs_command(at(4)); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, EndsWith(": the access log is open anew\n"));
    EXPECT_TRUE(std::filesystem::exists(log));
    std::filesystem::remove(log);
    std::filesystem::create_directory(log);
    const auto refused = captured([] { return reopen_logs_command(at(4)); });
    EXPECT_EQ(refused.code, kFailed);
    EXPECT_THAT(refused.error, HasSubstr("access.log: cannot be opened anew; the old file stays in "
                                         "use: Is a directory"));
}

TEST(Drain, EndsTheNode) {
    const auto node = run_by(configuration("a", 5));
    const auto ended = captured([] { return drain_command(at(5)); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("drains: it ends after"));
    node->join();
}

TEST(Orders, GiveTheTokenOfTheEnvironmentAndSayWhenItIsWrong) {
    auto text = configuration("a", 6);
    text.replace(text.find(R"(:9128"})"), 7, R"(:9128", "token": "0123456789abcdef"})");
    const auto node = run_by(text);
    const auto refused = captured([] { return drain_command(at(6)); });
    EXPECT_EQ(refused.code, kFailed);
    EXPECT_THAT(refused.error, HasSubstr("status 401"));
    EXPECT_THAT(refused.error, HasSubstr("(set HEARSAY_ADMIN_TOKEN)"));
    ::setenv("HEARSAY_ADMIN_TOKEN", "0123456789abcdef", 1);
    const auto let_in = captured([] { return reopen_logs_command(at(6)); });
    ::unsetenv("HEARSAY_ADMIN_TOKEN");
    EXPECT_EQ(let_in.code, kOk) << let_in.error;
    EXPECT_THAT(let_in.out, EndsWith(": log.access is off: there is no file to reopen\n"));
}

TEST(Orders, FailWhereNoNodeIs) {
    const auto ended = captured([] { return drain_command({nobody().text(), {}}); });
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.error, HasSubstr("no node answers at http://127.0.0.1:"));
    EXPECT_THAT(ended.error, Not(HasSubstr("give its admin address"))) << "it was given";
    const auto no_file = captured([] { return drain_command({{}, "/nonexistent/file.json"}); });
    EXPECT_EQ(no_file.code, kBadConfig);
    const ScriptedServer other([](const Seen&) {
        return Reply{"HTTP/1.0 200 OK\r\n\r\nhello\n", true};
    });
    const auto strange = captured([&] {
        return reload_command({other.address().text(), {}}, false);
    });
    EXPECT_EQ(strange.code, kFailed);
    EXPECT_THAT(strange.error, HasSubstr("the answer is not that of a hearsay node (status 200)"));
}

TEST(Orders, LeaveOutThePageOfAnotherServer) {
    const ScriptedServer other([](const Seen&) {
        return Reply{
            "HTTP/1.0 404 Not Found\r\nContent-Type: text/html\r\n\r\n<html>\n<h1>Nothing</h1>\n",
            true};
    });
    const NodeChoice at{other.address().text(), {}};
    const auto wanted = "hearsay: http://" + at.url +
                        ": the answer is not that of a hearsay node (status 404); it must be the "
                        "admin port, 9128 by default\n";
    EXPECT_EQ(captured([&] { return purge_command(at, {{}, {"news"}, {}}, false); }).error, wanted);
    EXPECT_EQ(captured([&] { return reload_command(at, false); }).error, wanted);
    EXPECT_EQ(captured([&] { return drain_command(at); }).error, wanted);
    EXPECT_EQ(captured([&] { return explain_command(at, "http://h/", true); }).error, wanted);
    EXPECT_EQ(captured([&] { return healthcheck_command(at); }).error, wanted);
}

TEST(Reload, OfANodeThatDrainsSaysSoInOneLine) {
    const ScriptedServer draining([](const Seen&) {
        return Reply{
            "HTTP/1.0 409 Conflict\r\nContent-Type: application/json\r\n\r\n"
            R"({"errors": [{"path": "$", "message": "this node is draining"}]})",
            true};
    });
    const auto ended = captured([&] {
        return reload_command({draining.address().text(), {}}, false);
    });
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_EQ(ended.error, "hearsay: http://" + draining.address().text() +
                               " is draining and takes no reload\n");
}

TEST(Status, CountsTwoProcessesOfOneNameAndWarns) {
    const auto one = run_by(configuration("b", 7)), two = run_by(configuration("b", 8)),
               other = run_by(configuration("c", 9));
    const auto ended = captured([] { return status_command({at(7), at(8), at(9)}, false); });
    EXPECT_EQ(ended.code, kOk);
    EXPECT_THAT(ended.out, HasSubstr("3 nodes: "));
    EXPECT_THAT(ended.error, HasSubstr("warning: 2 processes call themselves b (at " +
                                       own_address(7) + ":9128 and " + own_address(8) + ":9128)"));
    const auto twice = captured([] { return status_command({at(7), at(7), at(9)}, false); });
    EXPECT_THAT(twice.out, HasSubstr("2 nodes: ")) << "one of them was asked twice";
    EXPECT_EQ(twice.error, "");
}

TEST(Check, TriesPeersByTheirLinksAndTheirHttpPorts) {
    const auto a = run_by(configuration("a", 11, cluster_part(11, "b", 12)));
    const auto b = run_by(configuration("b", 12, cluster_part(12, "a", 11)));
    const auto check = [](const std::string& json) {
        const TemporaryDirectory folder("hearsay-test-");
        const auto file = folder.path() + "/a.json";
        std::ofstream(file) << json;
        return captured([&] { return check_command(file, false, {.peers = true}); });
    };
    const auto b_at = [](const char* port) { return own_address(12) + port; };
    const auto good = check(configuration("a", 11, cluster_part(11, "b", 12)));
    EXPECT_EQ(good.code, kOk) << good.out << good.error;
    EXPECT_THAT(good.out, HasSubstr("peer b: link " + b_at(":3129: ok\n")));
    EXPECT_THAT(good.out, HasSubstr("peer b: http " + b_at(":3128: ok\n")));
    EXPECT_THAT(good.out, HasSubstr("1 of 1 peer answers as it should"));

    const auto other_key = check(configuration(
        "a", 11, cluster_part(11, "b", 12, "another key of the tests, of 32 bytes+")));
    EXPECT_EQ(other_key.code, kFailed);
    EXPECT_THAT(other_key.out, HasSubstr("wrong_key: it has another cluster.key"));

    const auto not_b = check(configuration("a", 11, cluster_part(11, "d", 12)));
    EXPECT_THAT(not_b.out, HasSubstr("wrong_node: the node there has another name"));
    EXPECT_THAT(not_b.out, HasSubstr("that is the http port of b"));

    const auto unlisted = check(configuration("e", 11, cluster_part(11, "b", 12)));
    EXPECT_THAT(unlisted.out, HasSubstr("unknown_node: its configuration does not list"));

    const auto wrong_ports =
        check(configuration("a", 11, cluster_part(11, "b", 12, kTestKey, 9, 10)));
    EXPECT_EQ(wrong_ports.code, kFailed);
    EXPECT_THAT(wrong_ports.out, HasSubstr("connection_refused: the port is closed"));

    const auto swapped =
        check(configuration("a", 11, cluster_part(11, "b", 12, kTestKey, 3129, 3128)));
    EXPECT_EQ(swapped.code, kFailed);
    EXPECT_THAT(swapped.out, Not(HasSubstr(": ok\n"))) << swapped.out;

    const auto itself = check(configuration("a", 11, cluster_part(11, "b", 11)));
    EXPECT_EQ(itself.code, kFailed);
    EXPECT_THAT(itself.out, HasSubstr(":3129: that is this node itself (cluster.listen)\n"));
    EXPECT_THAT(itself.out, HasSubstr(":3128: that is this node itself (listen)\n"));

    const auto behind = run_by(configuration(
        "c", 13,
        cluster_part(13, "a", 11) +
            R"(, "clients": {"trusted_proxies": ["127.0.0.0/8"], "proxy_protocol": true})"));
    const auto through = check(configuration("a", 11, cluster_part(11, "c", 13)));
    EXPECT_EQ(through.code, kOk) << through.out;
    EXPECT_THAT(through.out, HasSubstr(":3128: ok, with a PROXY header\n"));

    const auto alone = check(configuration("a", 11));
    EXPECT_EQ(alone.code, kFailed);
    EXPECT_THAT(alone.error, HasSubstr("the configuration has no cluster"));
}

}  // namespace admin_commands_test
}  // namespace app
