#include "proxy/upstream/peer_request_head.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/proxy/request/request.hpp"
#include "tests/source_root.hpp"

namespace proxy {
namespace peer_request_head_test {

using namespace std::chrono_literals;
using test::key_of;
using test::line;
using test::request_head;

const auto kFieldKey = protocol::field_key("0123456789abcdef0123456789abcdef");

TEST(PeerRequestHead, AsksForWhatThePeerHasOnly) {  // RFC 9111 §5.2.1.7
    const auto head = request_head("GET", "/a", {line("Host", "h.test")});
    const RequestSnapshot snapshot(head, key_of("/a"), true);
    const PeerRequestHead peer_head(snapshot, {}, kFieldKey, {});
    EXPECT_EQ(peer_head.text("a", "t0ken", std::nullopt, "Range: bytes=0-9\r\n"),
              "GET http://h.test/a HTTP/1.1\r\nHost: h.test\r\nRange: bytes=0-9\r\n"
              "Cache-Control: only-if-cached\r\n"
              "Hearsay-Peer: a t0ken\r\nVia: 1.1 a\r\n\r\n");
}

RequestDirectives asking(std::string_view cache_control) {
    const std::vector<Field> fields{line("Cache-Control", cache_control)};
    return request_directives(fields);
}

TEST(PeerRequestHead, SaysHowOldAnAnswerMayBe) {
    const auto head = request_head("GET", "/a", {line("Host", "h.test")});
    const RequestSnapshot snapshot(head, key_of("/a"), true);
    const auto control = [&](const RequestDirectives& directives,
                             std::optional<std::chrono::seconds> max_age) {
        const auto text =
            PeerRequestHead(snapshot, directives, kFieldKey, {}).text("a", "t", max_age);
        const auto at = text.find("Cache-Control: ") + 15;
        return text.substr(at, text.find('\r', at) - at);
    };
    EXPECT_EQ(control(asking("x"), 7s), "only-if-cached, max-age=7");  // not what was made before
    EXPECT_EQ(control(asking("max-age=5"), 7s), "only-if-cached, max-age=5");
    EXPECT_EQ(control(asking("max-age=9"), 7s), "only-if-cached, max-age=7");
    EXPECT_EQ(control(asking("max-age=9"), std::nullopt), "only-if-cached, max-age=9");
    EXPECT_EQ(control(asking("min-fresh=3, max-stale=4, x=secret"), std::nullopt),
              "only-if-cached, min-fresh=3, max-stale=4");
}

/// The example of protocol/FORMAT.md.
const std::string kRequestText =
    "GET http://example.com/ HTTP/1.1\r\n"
    "Host: example.com\r\n"
    "Accept-Encoding: gzip\r\n"
    "Cache-Control: only-if-cached, max-age=60\r\n"
    "Hearsay-Peer: b 417e9667dff768e2af0a15a745235d66\r\n"
    "Hearsay-Fields: cookie=d943694fca31364d644dd79861e54941, x-api-key\r\n"
    "Via: 1.1 b\r\n\r\n";

TEST(PeerRequestHead, ReadsAsOnThePage) {
    const auto head = request_head(
        "GET", "/",
        {line("Host", "example.com"), line("Cookie", "sid=1"), line("Accept-Encoding", "gzip"),
         line("X-Api-Key", "s3cret"), line("Range", "bytes=0-9"), line("Hearsay-Fields", "x=y")});
    const RequestSnapshot snapshot(head, key_of("/", "example.com"), true);
    const auto text = PeerRequestHead(snapshot, asking("max-age=60"), kFieldKey, "cookie")
                          .text("b", "417e9667dff768e2af0a15a745235d66", std::nullopt);
    EXPECT_EQ(text, kRequestText);

    std::ifstream page(tests::source_root(__FILE__) / "protocol/FORMAT.md");
    std::string shown;
    for (std::string each; std::getline(page, each);)
        if (each.starts_with("    ")) shown.append(each.substr(4)).append("\r\n");
    EXPECT_NE(shown.find(kRequestText.substr(0, kRequestText.size() - 2)), std::string::npos);
}

TEST(PeerRequestHead, IsNotMadeOfMoreFieldsThanItCanCarry) {
    std::vector<Field> lines{line("Host", "h.test")};
    std::vector<std::string> names;
    for (int i = 0; i < 180; ++i) names.push_back("X-" + std::string(50, 'x') + std::to_string(i));
    for (const auto& name : names) lines.push_back(line(name, "1"));
    const auto head = request_head("GET", "/", std::move(lines));
    const RequestSnapshot snapshot(head, key_of("/"), true);
    EXPECT_FALSE(PeerRequestHead(snapshot, {}, kFieldKey, {}).possible());
}

}  // namespace peer_request_head_test
}  // namespace proxy
