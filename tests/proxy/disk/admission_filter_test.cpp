#include "proxy/disk/admission_filter.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/hash.hpp"

namespace proxy {
namespace admission_filter_test {

constexpr bool kHasRoom = true, kIsFull = false;

summary::KeyHash key(std::uint64_t number) {
    return test::hash("http://h/" + std::to_string(number));
}

TEST(AdmissionFilter, AdmitsEverythingWhileThereIsRoom) {
    AdmissionFilter admission(64);
    for (std::uint64_t i = 0; i < 50; ++i) EXPECT_TRUE(admission.admits(key(i), kHasRoom, i));
}

TEST(AdmissionFilter, AdmitsASecondMissOnAFullDisk) {
    AdmissionFilter admission(64);
    EXPECT_FALSE(admission.admits(key(1), kIsFull, 10));
    EXPECT_FALSE(admission.admits(key(2), kIsFull, 10));
    EXPECT_TRUE(admission.admits(key(1), kIsFull, 10));
    EXPECT_TRUE(admission.admits(key(2), kIsFull, 10));
}

TEST(AdmissionFilter, RemembersMissesFromWhileThereWasRoom) {
    AdmissionFilter admission(64);
    admission.admits(key(1), kHasRoom, 10);
    EXPECT_TRUE(admission.admits(key(1), kIsFull, 10));
}

TEST(AdmissionFilter, ForgetsMissesFromLongAgo) {
    AdmissionFilter admission(64);
    EXPECT_FALSE(admission.admits(key(0), kIsFull, 10));
    unsigned wrong = 0;
    for (std::uint64_t i = 1; i <= 200; ++i) wrong += admission.admits(key(i), kIsFull, 10);
    EXPECT_FALSE(admission.admits(key(0), kIsFull, 10));
    EXPECT_LE(wrong, 15u) << "3 % of 200, and chance";
}

TEST(AdmissionFilter, LooksAsFarBackAsTheDiskIsLarge) {
    AdmissionFilter admission(64);
    for (std::uint64_t i = 0; i < 10'000; ++i) admission.admits(key(i), kIsFull, 10'000);
    for (std::uint64_t i = 0; i < 10'000; ++i)
        ASSERT_TRUE(admission.admits(key(i), kIsFull, 10'000)) << i;
}

}  // namespace admission_filter_test
}  // namespace proxy
