#include "proxy/access/verified_passwords.hpp"

#include <gtest/gtest.h>

#include "proxy/access/fair_queue.hpp"

namespace proxy {
namespace verified_passwords_test {

using namespace std::chrono_literals;
using Time = VerifiedPasswords::Time;

constexpr Time kNow{1h};

VerifiedPasswords::Key key(int i) {
    VerifiedPasswords::Key made{};
    std::memcpy(made.data(), &i, sizeof i);
    return made;
}

TEST(VerifiedPasswords, AreRememberedForAWhile) {
    VerifiedPasswords passwords;
    EXPECT_FALSE(passwords.find(key(1), kNow));
    passwords.put(key(1), true, kNow);
    passwords.put(key(2), false, kNow);
    EXPECT_EQ(passwords.find(key(1), kNow + 599s), true);
    EXPECT_FALSE(passwords.find(key(1), kNow + 10min));
    EXPECT_EQ(passwords.find(key(2), kNow + 9s), false);
    EXPECT_FALSE(passwords.find(key(2), kNow + 10s)) << "a wrong one is soon forgotten";
    passwords.put(key(1), true, kNow + 10min);
    EXPECT_EQ(passwords.find(key(1), kNow + 11min), true) << "and can be verified again";
}

TEST(VerifiedPasswords, AreBoundedAndGuessesDisplaceNoRightOne) {
    VerifiedPasswords passwords(100);
    passwords.put(key(-1), true, kNow);
    for (int i = 0; i < 10'000; ++i) passwords.put(key(i), false, kNow);
    EXPECT_EQ(passwords.size(), 101u);
    EXPECT_EQ(passwords.find(key(-1), kNow), true);
    EXPECT_EQ(passwords.find(key(9'999), kNow), false);
    EXPECT_FALSE(passwords.find(key(0), kNow));
    for (int i = 0; i < 10'000; ++i) passwords.put(key(i), true, kNow + 1h);
    EXPECT_EQ(passwords.size(), 200u);
}

TEST(FairQueue, GivesOwnersTheirTurns) {
    FairQueue<char, int> queue(100);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(queue.push('a', i));
    EXPECT_TRUE(queue.push('b', 100));
    EXPECT_TRUE(queue.push('b', 101));
    std::vector<int> order;
    while (const auto next = queue.pop()) order.push_back(*next);
    EXPECT_EQ(order, (std::vector{0, 100, 1, 101, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_TRUE(queue.empty());
}

TEST(FairQueue, HasRoomForOthersWhateverOneOwnerDoes) {
    FairQueue<int, int> queue(64);
    for (int owner = 0; owner < 5; ++owner)
        for (int i = 0; i < 1000; ++i) queue.push(owner, i);
    EXPECT_LE(queue.size(), 64u);
    EXPECT_TRUE(queue.push(5, 1));
    queue.clear();
    for (int i = 0; i < 1000; ++i) queue.push(0, i);
    EXPECT_EQ(queue.size(), 32u);
}

}  // namespace verified_passwords_test
}  // namespace proxy
