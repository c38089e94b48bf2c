#include "proxy/request/upload_slots.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace proxy {
namespace upload_slots_test {

ClientNetwork network(const char* address) {
    return client_network(boost::asio::ip::make_address(address));
}

TEST(UploadSlots, BoundTheUploadsOfOneClientToOnePlace) {
    UploadSlots seats;
    std::vector<UploadSlots::UploadSlot> held;
    for (int i = 0; i < 2; ++i) {
        auto seat = seats.take(network("10.0.0.1"), "a:80", 2);
        ASSERT_TRUE(seat);
        held.push_back(std::move(*seat));
    }
    EXPECT_FALSE(seats.take(network("10.0.0.1"), "a:80", 2));
    EXPECT_TRUE(seats.take(network("10.0.0.1"), "b:80", 2)) << "another place";
    EXPECT_TRUE(seats.take(network("10.0.0.2"), "a:80", 2)) << "another client";
    EXPECT_EQ(seats.size(), 1u) << "the last two have ended";
    held.pop_back();
    EXPECT_TRUE(seats.take(network("10.0.0.1"), "a:80", 2));
    held.clear();
    EXPECT_EQ(seats.size(), 0u);
}

TEST(UploadSlots, TakeTheOwnersOfOneNetworkForOneClient) {
    UploadSlots seats;
    const auto seat = seats.take(network("2001:db8::1"), "a:80", 1);
    EXPECT_FALSE(seats.take(network("2001:db8::2"), "a:80", 1));
    EXPECT_TRUE(seats.take(network("2001:db8:0:1::1"), "a:80", 1));
}

TEST(UploadSlots, LeaveHalfOfTheConnectionsToOthers) {
    EXPECT_EQ(uploads_of_one(1024), 512u);
    EXPECT_EQ(uploads_of_one(3), 1u);
    EXPECT_EQ(uploads_of_one(1), 1u) << "nothing can be divided";
}

}  // namespace upload_slots_test
}  // namespace proxy
