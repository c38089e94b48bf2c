#include "proxy/upstream/peer_head_request.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace peer_head_request_test {

TEST(PeerHeadRequest, KnowsWhatThePeerSays) {
    const auto said = [](unsigned status, const std::string& detail) {
        const auto line = "Cache-Status: b; detail=" + detail;
        const test::Head lines(line);
        const Fields fields = lines;
        Head head;
        head.fields.assign(fields.begin(), fields.end());
        head.status = status;
        return what_peer_has(head);
    };
    EXPECT_EQ(said(200, "any"), PeerHeadResult::has);
    EXPECT_EQ(said(504, "absent"), PeerHeadResult::absent);
    EXPECT_EQ(said(504, "variant"), PeerHeadResult::variant);
    EXPECT_EQ(said(504, "stale"), PeerHeadResult::stale);
    EXPECT_EQ(said(504, "busy"), PeerHeadResult::busy);
    EXPECT_EQ(said(504, "draining"), PeerHeadResult::draining);
    EXPECT_EQ(said(504, "timeout"), PeerHeadResult::unknown);
    EXPECT_EQ(said(400, "absent"), PeerHeadResult::unknown) << "it does not know such requests";
}

TEST(PeerHeadRequest, HasAWordForEach) {
    EXPECT_EQ(to_string(PeerHeadResult::has), "has");
    EXPECT_EQ(to_string(PeerHeadResult::unknown), "unknown");
}

}  // namespace peer_head_request_test
}  // namespace proxy
