#include "app/query_commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/exit_codes.hpp"
#include "app/replay_command.hpp"
#include "app/run_command.hpp"
#include "tests/app/running_nodes.hpp"
#include "tests/cluster/certificates.hpp"
#include "tests/measure/captured.hpp"
#include "tests/measure/scripted_server.hpp"
#include "tests/measure/temporary_file.hpp"

namespace app {
namespace commands_test {

using measure::captured;
using measure::Ended;
using measure::like_the_origin;
using measure::nobody;
using measure::Reply;
using measure::ScriptedServer;
using measure::Seen;
using measure::TemporaryFile;
using measure::Verify;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Ended check(const std::string& config) {
    const TemporaryFile file(config);
    return captured([&] { return check_command(file.path()); });
}

TEST(Check, AcceptsAGoodConfiguration) {
    const auto ended = check(R"({"node": "a", "listen": "127.0.0.1:3128",
                                 "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}]})");
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("node a, proxy at 127.0.0.1:3128"));
    EXPECT_THAT(ended.out, HasSubstr("\nchecked: every setting, "));
}

TEST(Check, NamesWhatIsWrongByPathAndNearestName) {
    const auto ended = check(R"({"node": "a", "listen": "127.0.0.1:3128",
                                 "cache": {"memry": "1GiB"}})");
    EXPECT_EQ(ended.code, kBadConfig);
    EXPECT_THAT(ended.error, HasSubstr("cache.memry"));
    EXPECT_THAT(ended.error, HasSubstr("memory"));
    EXPECT_EQ(ended.out, "");
}

TEST(Check, WarnsAndIsStrictWhenToldTo) {
    const std::string doubtful = R"({"node": "a", "listen": "127.0.0.1:3128",
        "origins": [{"host": "*", "url": "http://127.0.0.1:3128"}]})";
    const auto ended = check(doubtful);
    EXPECT_EQ(ended.code, kOk);
    EXPECT_THAT(ended.error, HasSubstr(": warning: $.origins[0].url: is this node itself"));
    EXPECT_THAT(ended.out, HasSubstr(": ok: "));
    const TemporaryFile file(doubtful);
    const auto strict = captured([&] { return check_command(file.path(), true); });
    EXPECT_EQ(strict.code, kBadConfig);
    EXPECT_EQ(strict.out, "");
}

TEST(Check, RefusesALogThatCouldNotBeOpened) {
    const auto ended = check(R"({"node": "a", "listen": "127.0.0.1:3128",
        "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}],
        "log": {"access": "/nonexistent/folder/access.log"}})");
    EXPECT_EQ(ended.code, kBadConfig);
    EXPECT_THAT(ended.error, HasSubstr("$.log.access: there is no folder /nonexistent/folder"));
}

TEST(Check, RefusesWhatItCannotRead) {
    EXPECT_EQ(check("{").code, kBadConfig);
    const auto ended = captured([] { return check_command("/nonexistent/file.json"); });
    EXPECT_EQ(ended.code, kBadConfig);
    EXPECT_EQ(ended.error,
              "hearsay: cannot read /nonexistent/file.json: No such file or directory\n");
}

/// An admin port that is ready or not.
ScriptedServer admin(bool ready) {
    return ScriptedServer([ready](const Seen& seen) {
        if (seen.target() == "/readyz") {
            return Reply{
                ready ? "HTTP/1.0 200 OK\r\n\r\nready\n" : "HTTP/1.0 503 No\r\n\r\ndraining\n",
                true};
        }
        return Reply{
            "HTTP/1.0 200 OK\r\n\r\n{\"node\": \"n7\", \"requests\": {\"total\": 1200, "
            "\"local_hit\": 300}, \"cluster\": {\"peers\": [{\"node\": \"p1\", \"state\": "
            "\"in_step\", \"asked\": 12}]}}",
            true};
    });
}

TEST(Check, WarnsOfAUsersFileWithoutUsers) {
    const TemporaryFile file("# nobody yet\n");
    const auto users = file.path();
    const auto ended =
        check(R"({"node": "a", "listen": "127.0.0.1:3128", "forward": {"enabled": true,
        "authentication": {"users": ")" +
              users + R"("}}})");
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.error, HasSubstr(users + " names no user"));
}

TEST(Check, WarnsOfCertificatesThatExpireSoonOrAreNeverUsed) {
    using std::chrono::days;
    using std::chrono::hours;
    proxy::test::Certificates certificates;
    const auto soon = certificates.issue("DNS:a.test", -days(1), days(13) + hours(1));
    const auto late = certificates.issue("DNS:a.test", -days(4), -hours(49));
    const auto with = [&](const std::string& key) {
        return check(R"({"node": "a", "listen": "127.0.0.1:3128",
            "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}],
            "tls": {"listen": "127.0.0.1:3443", "certificate": ")" +
                     soon.certificate + R"(", "key": ")" + soon.key + R"(", "certificates": [
                {"certificate": ")" +
                     late.certificate + R"(", "key": ")" + key + R"("}]}})");
    };
    const auto doubtful = with(late.key);
    EXPECT_EQ(doubtful.code, kOk) << doubtful.error;
    EXPECT_THAT(doubtful.error, HasSubstr("warning: $.tls.certificate: " + soon.certificate +
                                          " expires in 13 days, on "));
    EXPECT_THAT(doubtful.error, HasSubstr("warning: $.tls.certificates[0].certificate: " +
                                          late.certificate + " expired 2 days ago, on "));
    EXPECT_THAT(doubtful.error, HasSubstr("warning: $.tls.certificates[0]: is never used: "));

    const auto wrong = with(soon.key);
    EXPECT_EQ(wrong.code, kBadConfig);
    EXPECT_THAT(wrong.error, HasSubstr("$.tls.certificates[0].key: " + soon.key +
                                       " is not the key of " + late.certificate));
}

TEST(Healthcheck, ExitsZeroOnlyWhenReady) {
    const auto ready = admin(true), busy = admin(false);
    EXPECT_EQ(captured([&] {
                  return healthcheck_command({ready.address().text(), {}});
              }).code,
              kOk);
    const auto not_yet = captured([&] { return healthcheck_command({busy.address().text(), {}}); });
    EXPECT_EQ(not_yet.code, kFailed);
    EXPECT_THAT(not_yet.error, HasSubstr(busy.address().text() + ": draining (http://"));
    EXPECT_THAT(not_yet.error, HasSubstr("503"));
    const auto gone = captured([&] { return healthcheck_command({nobody().text(), {}}); });
    EXPECT_EQ(gone.code, kFailed);
    EXPECT_THAT(gone.error, HasSubstr("no node answers at 127.0.0.1:"));
    EXPECT_THAT(gone.error, HasSubstr("Connection refused"));
}

TEST(Healthcheck, FindsTheAdminPortInTheConfiguration) {
    const auto ready = admin(true);
    const TemporaryFile config(
        R"({"node": "a", "listen": "127.0.0.1:1", "forward": {"enabled": true},
            "admin": {"listen": "0.0.0.0:)" +
        std::to_string(ready.address().port) + "\"}}");
    const auto ended = captured([&] { return healthcheck_command({{}, config.path()}); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    const TemporaryFile none(
        R"({"node": "a", "listen": "127.0.0.1:1", "forward": {"enabled": true}, "admin": null})");
    const auto without = captured([&] { return healthcheck_command({{}, none.path()}); });
    EXPECT_EQ(without.code, kBadConfig);
    EXPECT_THAT(without.error, HasSubstr("no admin port"));
}

TEST(Status, ShowsWhatTheAdminPortRefuses) {
    const ScriptedServer guarded([](const Seen& seen) {
        const auto good = seen.field("Authorization") == "Bearer 0123456789abcdef";
        return Reply{good ? "HTTP/1.0 200 OK\r\n\r\n{\"node\": \"n7\", \"requests\": {}}"
                          : "HTTP/1.0 401 Unauthorized\r\n\r\nThis needs a token.\n",
                     true};
    });
    const auto refused = captured([&] {
        return status_command({{guarded.address().text(), {}}}, false);
    });
    EXPECT_EQ(refused.code, kFailed);
    EXPECT_THAT(refused.error, HasSubstr("401"));
    EXPECT_THAT(refused.error, HasSubstr("This needs a token. (set HEARSAY_ADMIN_TOKEN)\n"));
    EXPECT_THAT(refused.error, Not(HasSubstr("\n\n")));
    const TemporaryFile config(R"({"admin": {"token": "0123456789abcdef", "listen": "127.0.0.1:)" +
                               std::to_string(guarded.address().port) + "\"}}");
    const auto by_file = captured([&] { return status_command({{{}, config.path()}}, true); });
    EXPECT_EQ(by_file.code, kOk) << by_file.error;
    ::setenv("HEARSAY_ADMIN_TOKEN", "fedcba9876543210", 1);  // comes first
    const auto by_both = captured([&] { return healthcheck_command({{}, config.path()}); });
    ::unsetenv("HEARSAY_ADMIN_TOKEN");
    EXPECT_EQ(by_both.code, kFailed);
    EXPECT_THAT(by_both.error, HasSubstr("401) (the token that was sent is not the node's: set "
                                         "HEARSAY_ADMIN_TOKEN)"));
    ::setenv("HEARSAY_ADMIN_TOKEN", "0123456789abcdef", 1);
    const auto let_in = captured([&] {
        return status_command({{guarded.address().text(), {}}}, true);
    });
    ::unsetenv("HEARSAY_ADMIN_TOKEN");
    EXPECT_EQ(let_in.code, kOk) << let_in.error;
}

TEST(Check, WarnsOfWhatIsOpenToOthers) {
    const TemporaryFile config(
        R"({"node": "a", "listen": "127.0.0.1:1", "forward": {"enabled": true},
            "admin": {"listen": "0.0.0.0:9128"}})");
    const auto checked = captured([&] { return check_command(config.path()); });
    EXPECT_EQ(checked.code, kOk);
    EXPECT_THAT(checked.error, HasSubstr("$.admin: listens beyond loopback without a token"));
}

TEST(Status, ShowsWhatANodeCounts) {
    const auto node = admin(true);
    const auto ended = captured([&] {
        return status_command({{node.address().text(), {}}}, false);
    });
    EXPECT_EQ(ended.code, kOk);
    EXPECT_THAT(ended.out, HasSubstr("node n7"));
    EXPECT_THAT(ended.out, HasSubstr("requests 1,200: 25.0 % local hits"));
    EXPECT_THAT(ended.out, HasSubstr("p1"));
    EXPECT_THAT(ended.out, HasSubstr("(hearsay help status explains the columns)\n"));
    EXPECT_THAT(captured([&] {
                    return status_command({{node.address().text(), {}}}, true);
                }).out,
                HasSubstr("{\"node\": \"n7\""));
}

ScriptedServer node_that_says(const std::string& status) {
    return ScriptedServer([status](const Seen&) {
        return Reply{"HTTP/1.0 200 OK\r\n\r\n" + status, true};
    });
}

TEST(Status, ShowsWhereANodeLooksForPeers) {
    const auto node = node_that_says(
        R"json({"node": "a", "requests": {}, "cluster": {"peers": [], "names": [
            {"dns": "x.test", "places": 1, "trouble": ""},
            {"dns": "y.test", "places": 0, "trouble": "no name server answers"}],
            "unanswered": ["10.0.0.9:3129 (connect_timeout)"], "unplaced": ["c", 1]}})json");
    const auto ended = captured([&] {
        return status_command({{node.address().text(), {}}}, false);
    });
    EXPECT_THAT(ended.out, HasSubstr("name x.test leads to 1 place\n"));
    EXPECT_THAT(ended.out, HasSubstr("name y.test leads to 0 places: no name server answers\n"));
    EXPECT_THAT(ended.out, HasSubstr("no answer from 10.0.0.9:3129 (connect_timeout)\n"));
    EXPECT_THAT(ended.out, HasSubstr("no room for the listed peer c (cluster.max_peers)\n"));
}

TEST(Status, ShowsTheUseBesideTheRoomInOneUnit) {
    const auto node = node_that_says(R"json({"node": "a", "uptime_seconds": 7300, "requests": {},
        "cache": {"objects": 7, "memory_bytes": 1288490188, "memory_cap_bytes": 4294967296,
                  "disk": [{"path": "/d", "state": "ready", "bytes": 107374182400,
                            "cap_bytes": 214748364800}]},
        "cluster": {"bytes_sent": 2048, "bytes_received": 1572864,
                    "peers": [{"node": "b", "state": "in_step"}]}})json");
    const auto ended = captured([&] {
        return status_command({{node.address().text(), {}}}, false);
    });
    EXPECT_THAT(ended.out, HasSubstr(", up 2 h\n"));
    EXPECT_THAT(ended.out, HasSubstr("cache 7 objects, memory 1.20 of 4 GiB, 0 evicted\n"));
    EXPECT_THAT(ended.out, ContainsRegex("/d +ready +100.00 of 200 GiB "));
    EXPECT_THAT(ended.out, HasSubstr("2 KiB out, 1.50 MiB in\n"));
}

TEST(Status, ShowsEachDirectoryOfTheDisk) {
    const auto node = node_that_says(R"json({"node": "a", "requests": {}, "cache": {
        "disk_objects": 4000, "disk_index_bytes": 80000, "disk_hits": 7, "disk_admission_declined": 5,
        "disk": [{"path": "/var/cache/a", "state": "ready", "last_error": "", "cap_bytes": 1073741824,
                  "bytes": 1048576, "written": 4000, "written_bytes": 2097152, "read_at_once": 5,
                  "read_by_threads": 2},
                 {"path": "/b", "state": "off", "last_error": "Input/output error", "failed": 3,
                  "read_failed": 4, "refused_paused": 2, "refused_off": 1000, "found_damaged": 1,
                  "recovered_doubtful": 9}]}})json");
    const auto ended = captured([&] {
        return status_command({{node.address().text(), {}}}, false);
    });
    EXPECT_THAT(ended.out, HasSubstr("disk 4,000 objects, 78.1 KiB of index in memory, 7 hits, "
                                     "5 not admitted (requested once)\n"));
    EXPECT_THAT(ended.out, ContainsRegex("directory +state +used +writes .* last error\n"
                                         "/var/cache/a +ready +0.00 of 1 GiB +4,000 +2 MiB +0 "
                                         "+7 +2 +0\n"
                                         "/b +off +0 of 0 B .* 1,002 .* 7  Input/output error\n"
                                         "/b: refused: 2 after an error, 1,000 while off\n"
                                         "/b: at the start: 1 file damaged, 9 objects to be "
                                         "validated for that\n"));
    EXPECT_THAT(ended.out, Not(HasSubstr("/a: ")));
    const auto none = node_that_says(R"({"node": "a", "requests": {}, "cache": {"disk": []}})");
    const auto without = captured([&] {
        return status_command({{none.address().text(), {}}}, false);
    });
    EXPECT_THAT(without.out, Not(HasSubstr("disk")));
}

TEST(Check, RefusesADiskWhereNoneCanBe) {
    const auto with = [](const std::string& path) {
        return check(R"({"node": "a", "listen": "127.0.0.1:3128",
            "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}],
            "cache": {"memory": "64MiB", "disk": {"path": ")" +
                     path + R"(", "size": "1GiB"}}})");
    };
    const auto absent = with("/nonexistent/folder");
    EXPECT_EQ(absent.code, kBadConfig);
    EXPECT_THAT(absent.error, HasSubstr("$.cache.disk.path: there is no directory /nonexistent"));
    const auto made = with("/tmp/hearsay-is-not-there");
    EXPECT_EQ(made.code, kOk);
    EXPECT_THAT(made.error, HasSubstr("warning: $.cache.disk.path: /tmp/hearsay-is-not-there is "
                                      "not there yet; it is made at the start"));
}

TEST(Check, NamesAllUnusableFilesAndDirectoriesAtOnce) {
    const auto ended = check(R"({"node": "a", "listen": "127.0.0.1:3128",
        "origins": [{"host": "*", "url": "http://127.0.0.1:8000"}],
        "log": {"access": "/nonexistent/folder/access.log"},
        "cache": {"memory": "64MiB", "disk": {"path": "/nonexistent/disk", "size": "1GiB"}}})");
    EXPECT_EQ(ended.code, kBadConfig);
    EXPECT_THAT(ended.error, HasSubstr("$.log.access: there is no folder /nonexistent/folder"));
    EXPECT_THAT(ended.error, HasSubstr("$.cache.disk.path: there is no directory /nonexistent"));
}

TEST(Status, AddsUpWhatSeveralNodesDid) {
    const auto a = node_that_says(
        R"({"node": "a", "requests": {"total": 1000, "local_hit": 300, "peer_hit": 100}})");
    const auto b =
        node_that_says(R"({"node": "b", "requests": {"total": 1000, "local_hit": 200}})");
    const auto ended = captured([&] {
        return status_command(
            {{a.address().text(), {}}, {b.address().text(), {}}, {a.address().text(), {}}}, false);
    });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("node b"));
    EXPECT_THAT(ended.out, HasSubstr("2 nodes: 2,000 requests: hit rate 30.0 % (25.0 % local, "
                                     "5.0 % from peers)"));
}

TEST(Status, SaysWhichOfSeveralNodesDoesNotAnswer) {
    const auto a = node_that_says(R"({"node": "a", "requests": {"total": 1000}})");
    const auto gone = nobody();
    const auto ended = captured([&] {
        return status_command({{a.address().text(), {}}, {gone.text(), {}}}, false);
    });
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.error, HasSubstr("no node answers at http://" + gone.text()));
    EXPECT_THAT(ended.out, HasSubstr("1 of 2 nodes, 1 of them missing: 1,000 requests"));
}

TEST(Status, AsksEveryAddressOfAName) {
    const auto a = node_that_says(R"({"node": "a", "requests": {"total": 1000}})");
    const auto port = std::to_string(a.address().port);
    const auto ended = captured([&] {
        return status_command({{"dns:127.0.0.1:" + port, {}}}, false);
    });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("node a"));
    const auto unknown = captured([] {
        return status_command({{"dns:nobody.invalid:1", {}}}, false);
    });
    EXPECT_EQ(unknown.code, kFailed);
    EXPECT_THAT(unknown.error, HasSubstr("cannot look up nobody.invalid"));
}

TEST(Status, CountsANodeThatWasAskedTwiceAsOne) {
    const auto a = node_that_says(R"({"node": "a", "requests": {"total": 1000}})");
    const auto ended = captured([&] {
        return status_command({{a.address().text(), {}}, {a.address().text(), {}}}, false);
    });
    EXPECT_THAT(ended.out, HasSubstr("requests 1,000"));
    EXPECT_EQ(ended.out.find("node a"), ended.out.rfind("node a"));
}

TEST(Status, ShowsAReloadThatWasRefused) {
    const auto node = node_that_says(
        R"({"node": "a", "requests": {}, "config": {"last_error": "$.workers: too many"}})");
    const auto ended = captured([&] {
        return status_command({{node.address().text(), {}}}, false);
    });
    EXPECT_THAT(ended.out, HasSubstr("the last reload was REFUSED: $.workers: too many"));
}

TEST(Status, SaysWhyAPeerIsNotThere) {
    const auto node = node_that_says(R"({"node": "a", "requests": {"error": 1}, "cluster": {
        "peers": [{"node": "b", "state": "in_step", "last_error": ""},
                  {"node": "c", "state": "refused", "last_error": "unknown_node"}]}})");
    const auto ended = captured([&] {
        return status_command({{node.address().text(), {}}}, false);
    });
    EXPECT_THAT(ended.out, ContainsRegex("peer .* last error\nb .* 0\nc .* unknown_node\n"));
    EXPECT_THAT(ended.out, HasSubstr("0 passed through, 1 error, 0 refused\n"));
}

TEST(Status, SaysSinceWhenAndWhatWhereAPeerIsNotOfUse) {
    const auto node = node_that_says(R"({"node": "a", "requests": {}, "cluster": {
        "peers": [{"node": "b", "state": "one_way", "state_seconds": 45.2, "cause": "it cannot dial"},
                  {"node": "c", "state": "withdrawn", "state_seconds": 7300,
                   "last_error": "goodbye", "last_error_seconds": 7300},
                  {"node": "d", "state": "in_step", "state_seconds": 200000,
                   "last_http_error": "connect_failed", "last_http_error_seconds": 130}]}})");
    const auto ended = captured([&] {
        return status_command({{node.address().text(), {}}}, false);
    });
    EXPECT_THAT(ended.out, ContainsRegex("\nb +one_way +45 s .*\nc +withdrawn +2 h .* goodbye, 2 h "
                                         "ago\nd +in_step +2 d .*\n"));
    EXPECT_THAT(ended.out, HasSubstr("\nb: it cannot dial\n"));
    EXPECT_THAT(ended.out,
                HasSubstr("\nd: the last failed peer request: connect_failed, 2 m ago\n"));
}

TEST(Status, NeedsNoKeyToFindANode) {
    const auto node = node_that_says(R"({"node": "a", "requests": {}})");
    const TemporaryFile config(
        R"({"node": "a", "listen": "127.0.0.1:1", "admin": {"listen": ")" + node.address().text() +
        R"("}, "cluster": {"key": "${HEARSAY_NOT_SET}", "listen": "127.0.0.1:2"}})");
    const auto ended = captured([&] { return status_command({{{}, config.path()}}, false); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
}

TEST(Status, FailsPlainly) {
    const auto gone = captured([] { return status_command({{nobody().text(), {}}}, false); });
    EXPECT_EQ(gone.code, kFailed);
    EXPECT_THAT(gone.error, HasSubstr("no node answers at http://127.0.0.1:"));
    const auto wrong = captured([] { return status_command({{"ftp://x", {}}}, false); });
    EXPECT_EQ(wrong.code, kUsage);
    const ScriptedServer other([](const Seen&) {
        return Reply{"HTTP/1.0 200 OK\r\n\r\nhi", true};
    });
    EXPECT_EQ(captured([&] {
                  return status_command({{other.address().text(), {}}}, false);
              }).code,
              kFailed);
}

/// A replay of the made-up workload, small.
ReplayCommand small_replay(const base::HostPort& proxy) {
    ReplayCommand command;
    command.synthetic = true;
    command.workload.requests = 50;
    command.proxies = {proxy.text()};
    command.quiet = true;
    return command;
}

TEST(ReplayCommand, PrintsTheTable) {
    const ScriptedServer proxy([](const Seen& seen) { return Reply{like_the_origin(seen)}; });
    const auto ended = captured([&] { return replay_command(small_replay(proxy.address())); });
    EXPECT_EQ(ended.code, kOk);
    EXPECT_THAT(ended.out, HasSubstr("SYNTHETIC"));
    EXPECT_THAT(ended.out, HasSubstr("50 requests sent"));
    EXPECT_EQ(ended.error, "");
}

TEST(ReplayCommand, RunsTheOriginMeanwhile) {
    auto command = small_replay({"127.0.0.1", 1});
    const base::HostPort origin{own_address(13), 8080};
    command.origin_listen = origin.text();
    command.proxies = {origin.text()};  // which answers as a forward proxy would
    command.json = true;
    const auto ended = captured([&] { return replay_command(command); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("\"built_in_origin_requests\": 50"));
}

TEST(ReplayCommand, SaysWhereItsOriginCannotListen) {
    const ScriptedServer taken([](const Seen&) { return Reply{}; });
    auto command = small_replay(nobody());
    command.origin_listen = taken.address().text();
    const auto ended = captured([&] { return replay_command(command); });
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_EQ(ended.error, "hearsay: cannot listen at " + taken.address().text() +
                               ": Address already in use; another process listens there, which "
                               "`ss -ltnp` shows: stop it, or choose another address\n");
}

TEST(ReplayCommand, FailsWhenNobodyAnswers) {
    const auto ended = captured([] { return replay_command(small_replay(nobody())); });
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.out, HasSubstr("50 no connection"));
}

TEST(ReplayCommand, SaysWhenTheOriginIsNotTheBuiltInOne) {
    const ScriptedServer proxy(
        [](const Seen&) { return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}; });
    auto command = small_replay(proxy.address());
    command.replay.verify = Verify::all;
    const auto ended = captured([&] { return replay_command(command); });
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.error, HasSubstr("--verify"));
}

TEST(ReplayCommand, CountsTheBytesOfAnyOrigin) {
    const ScriptedServer proxy(
        [](const Seen&) { return Reply{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"}; });
    const auto ended = captured([&] { return replay_command(small_replay(proxy.address())); });
    EXPECT_EQ(ended.code, kOk);
    EXPECT_EQ(ended.error, "");
    EXPECT_THAT(ended.out, HasSubstr(" 250 B"));  // of 50 requests
    EXPECT_THAT(ended.out, HasSubstr("0 checked against the built-in origin's, 50 only counted"));
}

TEST(ReplayCommand, NamesALogThatIsNotThere) {
    auto command = small_replay(nobody());
    command.synthetic = false;
    command.trace.path = "/nonexistent/access.log";
    const auto ended = captured([&] { return replay_command(command); });
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.error, HasSubstr("/nonexistent/access.log: No such file"));
}

TEST(ReplayCommand, DrivesEveryAddressOfAName) {
    const ScriptedServer proxy([](const Seen& seen) { return Reply{like_the_origin(seen)}; });
    auto command = small_replay(proxy.address());
    command.proxies = {"dns:" + proxy.address().text(), proxy.address().text()};
    command.json = true;
    const auto ended = captured([&] { return replay_command(command); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_EQ(proxy.seen().size(), 50u);
    command.proxies = {"dns:nobody.invalid:1"};
    const auto unknown = captured([&] { return replay_command(command); });
    EXPECT_EQ(unknown.code, kFailed);
    EXPECT_THAT(unknown.error, HasSubstr("cannot look up nobody.invalid"));
}

TEST(ReplayCommand, RefusesArgumentsThatMakeNoSense) {
    auto command = small_replay(nobody());
    command.proxies = {"https://a:1"};
    EXPECT_EQ(captured([&] { return replay_command(command); }).code, kUsage);
    command = small_replay(nobody());
    command.proxies = {"127.0.0.1:1", "127.0.0.1:2"};
    command.admins = {"127.0.0.1:3"};
    const auto ended = captured([&] { return replay_command(command); });
    EXPECT_EQ(ended.code, kUsage);
    EXPECT_THAT(ended.error, HasSubstr("(1 and 2)"));
}

TEST(Explain, AsksTheNodeForTheWholeUrl) {
    const ScriptedServer node([](const Seen& seen) {
        const bool known = seen.target() == "/api/v1/explain?url=http%3A%2F%2Fh%2Fa%3Fb%26c";
        return Reply{known ? "HTTP/1.0 200 OK\r\n\r\n{\"url\": \"http://h/a?b&c\", \"here\": "
                             "\"absent\", \"peers\": []}"
                           : "HTTP/1.0 400 Bad Request\r\n\r\nurl must be a whole URL.\n",
                     true};
    });
    const NodeChoice at{node.address().text(), {}};
    const auto ended = captured([&] { return explain_command(at, "http://h/a?b&c", false); });
    EXPECT_EQ(ended.code, kOk) << ended.error;
    EXPECT_THAT(ended.out, HasSubstr("http://h/a?b&c\n  here: absent\n"));
    const auto raw = captured([&] { return explain_command(at, "http://h/a?b&c", true); });
    EXPECT_THAT(raw.out, HasSubstr("{\"url\": \"http://h/a?b&c\""));
    const auto wrong = captured([&] { return explain_command(at, "nothing", false); });
    EXPECT_EQ(wrong.code, kUsage);
    EXPECT_EQ(wrong.error, "hearsay: url must be a whole URL.\n");
}

TEST(Explain, SaysWhyThereIsNoAnswer) {
    const ScriptedServer other([](const Seen&) {
        return Reply{"HTTP/1.0 200 OK\r\n\r\nIt works!", true};
    });
    const ScriptedServer guarded([](const Seen&) {
        return Reply{"HTTP/1.0 403 Forbidden\r\n\r\nOnly from this machine.\n", true};
    });
    const auto said_by = [](const base::HostPort& at) {
        const auto ended = captured([&] {
            return explain_command({at.text(), {}}, "http://h/", false);
        });
        EXPECT_EQ(ended.code, kFailed);
        EXPECT_EQ(ended.out, "");
        return ended.error;
    };
    EXPECT_THAT(said_by(other.address()),
                HasSubstr("is not that of a hearsay node (status 200); it must"));
    EXPECT_THAT(said_by(guarded.address()), HasSubstr("status 403: Only from this machine."));
    EXPECT_THAT(said_by(nobody()), HasSubstr("no node answers at http://"));
}

}  // namespace commands_test
}  // namespace app
