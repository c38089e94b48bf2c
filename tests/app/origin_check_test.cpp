// `hearsay check --origins` against real small origins.
#include "app/origin_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/exit_codes.hpp"
#include "app/run_command.hpp"
#include "tests/app/running_nodes.hpp"
#include "tests/cluster/certificates.hpp"
#include "tests/cluster/sockets.hpp"
#include "tests/measure/captured.hpp"
#include "tests/measure/scripted_server.hpp"
#include "tests/measure/temporary_file.hpp"

namespace app {
namespace origin_check_test {

using measure::captured;
using measure::Ended;
using measure::ScriptedServer;
using measure::Seen;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// An entry of `origins` with the name https://m.test/NAME, for the path /v1 of NAME.test at
/// `place`.
std::string entry(const std::string& name, const std::string& place) {
    return R"({"host": ")" + name + R"(.test", "public": "https://m.test/)" + name +
           R"(", "url": ")" + place + R"(/v1"})";
}
std::string place_of(const ScriptedServer& origin) {
    return "http://" + origin.address().text();
}

Ended check(const std::string& entries, const std::string& more = {}) {
    const measure::TemporaryFile file(R"({"node": "a", "listen": "127.0.0.1:3128", "origins": [)" +
                                      entries + "]" + more + "}");
    return captured([&] { return check_command(file.path(), false, {.origins = true}); });
}

ScriptedServer answering(const std::string& head) {
    return ScriptedServer([head](const Seen&) {
        return measure::Reply{"HTTP/1.1 " + head + "\r\n\r\n", true};
    });
}

TEST(OriginCheck, AsksEachMirrorOnceAndTellsStatusAndTime) {
    const auto one = answering("200 OK\r\nContent-Length: 7");
    const auto two = answering("404 Not Found\r\nContent-Length: 0");
    const auto ended = check(entry("one", place_of(one)) + "," + entry("two", place_of(two)),
                             R"(, "rules": [{"name": "r", "match": {"paths": ["/two*"]},
                              "request_fields": {"set": {"X-Key": "k"}}}])");
    EXPECT_EQ(ended.code, kOk) << ended.out << ended.error;
    EXPECT_THAT(ended.out,
                ContainsRegex("https://m.test/one \\(one.test\\): status 200 in [0-9]+ ms\n"));
    EXPECT_THAT(ended.out,
                ContainsRegex("https://m.test/two \\(two.test\\): status 404 in [0-9]+ ms\n"));
    EXPECT_THAT(ended.out, HasSubstr("\n2 of 2 mirrored origins answer\n"));
    EXPECT_THAT(ended.out, Not(HasSubstr("--origins")));
    ASSERT_EQ(one.seen().size(), 1u);
    EXPECT_EQ(one.seen()[0].method(), "HEAD");
    EXPECT_EQ(one.seen()[0].target(), "/v1");
    EXPECT_EQ(one.seen()[0].field("Host"), "one.test");
    ASSERT_EQ(two.seen().size(), 1u);
    EXPECT_EQ(two.seen()[0].field("X-Key"), "k") << "its rule";
}

TEST(OriginCheck, TellsWhereARedirectLeads) {
    const auto files = answering("200 OK\r\nContent-Length: 0");
    const auto inside =
        answering("302 Found\r\nContent-Length: 0\r\nLocation: " + place_of(files) + "/v1/a");
    const auto outside =
        answering("301 Moved\r\nContent-Length: 0\r\nLocation: https://cdn.test:8443/a\x1b[1m");
    const auto ended =
        check(entry("files", place_of(files)) + "," + entry("inside", place_of(inside)) + "," +
              entry("outside", place_of(outside)));
    EXPECT_EQ(ended.code, kOk) << "the root may redirect; " << ended.out << ended.error;
    EXPECT_THAT(ended.out,
                ContainsRegex("inside \\(inside.test\\): status 302 in [0-9]+ ms, a redirect to " +
                              files.address().text() + ", which an entry of origins covers\n"));
    EXPECT_THAT(ended.out,
                HasSubstr("a redirect to cdn.test:8443, which no mirror covers: clients "
                          "that follow it go past the cache. Add cdn.test:8443 to origins"));
}

TEST(OriginCheck, NamesAFailureWithARemedy) {
    const auto broken = answering("503 Unavailable\r\nContent-Length: 0");
    const auto rude = ScriptedServer([](const Seen&) {
        return measure::Reply{"220 smtp\r\n", true};
    });
    const auto closed = measure::nobody().text();
    const auto ended =
        check(entry("closed", "http://" + closed) + "," + entry("broken", place_of(broken)) + "," +
              entry("rude", place_of(rude)));
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.out, ContainsRegex("/closed .*: FAILED after [0-9]+ ms: .*" + closed +
                                         " refused the connection or is unreachable. Look at host "
                                         "and port.*\n.*/broken .*: status 503 in [0-9]+ ms: it "
                                         "answers with an error.*\n.*/rude .*: FAILED .* not a "
                                         "valid HTTP answer.*\n0 of 3 mirrored origins answer\n"));
}

TEST(OriginCheck, VerifiesCertificatesAsTheNodeDoes) {
    proxy::test::Certificates certificates;
    const auto pair = certificates.issue("IP:" + own_address(31));
    const auto behind = answering("204 No Content");
    const auto listen = own_address(31) + ":3443";
    const auto origin = run_by(R"({"node": "o", "workers": 1, "listen": ")" + own_address(31) +
                               R"(:3128", "admin": {"listen": ")" + own_address(31) + R"(:9128"},
        "log": {"access": "off", "level": "error"},
        "tls": {"listen": ")" + listen +
                               R"(", "certificate": ")" + pair.certificate + R"(", "key": ")" +
                               pair.key + R"("},
        "origins": [{"host": "*", "url": ")" +
                               place_of(behind) + R"("}]})");
    const auto with_ca = [&](const std::string& ca) {
        auto secure = entry("secure", "https://" + listen);
        secure.insert(secure.size() - 1, R"(, "tls": {"ca": ")" + ca + R"("})");
        return check(secure);
    };
    const auto good = with_ca(certificates.ca());
    EXPECT_EQ(good.code, kOk) << good.error;
    EXPECT_THAT(good.out, HasSubstr("status 204 in "));
    const auto refused = with_ca(certificates.strange_ca());
    EXPECT_EQ(refused.code, kFailed);
    EXPECT_THAT(refused.out, ContainsRegex("tls_failed.: .*certificate.* Look at its certificate"));
}

TEST(OriginCheck, WaitsNoLongerThanTheSettingsForAHungOrigin) {
    const auto hung = proxy::test::Socket::listen("127.0.0.1", 0);
    const auto ended = check(entry("hung", "http://127.0.0.1:" + std::to_string(hung.port())),
                             R"(, "timeouts": {"origin_head": "100ms"})");
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.out, HasSubstr("did not answer in time. Look at the load"));
    EXPECT_THAT(ended.out, HasSubstr("\n0 of 1 mirrored origin answers\n"));
}

TEST(OriginCheck, NeedsAMirror) {
    const auto ended = check(R"({"host": "*", "url": "http://127.0.0.1:1"})");
    EXPECT_EQ(ended.code, kFailed);
    EXPECT_THAT(ended.error, HasSubstr("no entry of origins has `public`"));
}

}  // namespace origin_check_test
}  // namespace app
