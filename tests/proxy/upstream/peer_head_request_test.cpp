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
    EXPECT_EQ(said(200, "any"), PeerHas::has);
    EXPECT_EQ(said(504, "absent"), PeerHas::absent);
    EXPECT_EQ(said(504, "variant"), PeerHas::variant);
    EXPECT_EQ(said(504, "stale"), PeerHas::stale);
    EXPECT_EQ(said(504, "busy"), PeerHas::busy);
    EXPECT_EQ(said(504, "draining"), PeerHas::draining);
    EXPECT_EQ(said(504, "timeout"), PeerHas::unknown);
    EXPECT_EQ(said(400, "absent"), PeerHas::unknown) << "it does not know such requests";
}

TEST(PeerHeadRequest, HasAWordForEach) {
    EXPECT_EQ(to_string(PeerHas::has), "has");
    EXPECT_EQ(to_string(PeerHas::unknown), "unknown");
}

}  // namespace peer_head_request_test
}  // namespace proxy
