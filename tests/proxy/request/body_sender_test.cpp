#include "proxy/request/body_sender.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <functional>
#include <string>

#include "tests/proxy/request/recorded_transport.hpp"

namespace proxy {
namespace body_sender_test {

TEST(BodySender, AFastClientLeavesOthersTheirTurn) {
    test::RecordedTransport node;
    const std::string body(10 * kTurnBytes + 5, 'x');
    node.put("http://h/large", "Cache-Control: max-age=60\r\n", body,
             std::chrono::steady_clock::now());
    test::RecordedTransport::Exchange client(node, "GET", "http://h/large", {});
    std::size_t seen = 0, most = 0;
    std::function<void()> look = [&] {  // as another client does
        most = std::max(most, client.response.body.size() - seen);
        seen = client.response.body.size();
        if (!client.served) boost::asio::post(node.io, look);
    };
    boost::asio::post(node.io, look);
    client.serve();
    EXPECT_TRUE(client.served);
    EXPECT_EQ(client.response.body, body);
    EXPECT_GT(most, 0u);
    EXPECT_LE(most, kTurnBytes);
}

}  // namespace body_sender_test
}  // namespace proxy
