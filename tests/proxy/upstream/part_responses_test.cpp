#include "proxy/upstream/part_responses.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace part_responses_test {

using namespace std::chrono_literals;

const PartResponses::Time kNow{1h};
constexpr auto kOther = PartTrouble::other_version;
constexpr auto kRefused = PartTrouble::refused;
const std::string kPlace = "origin:80", kUri = "http://h/a/b.iso?x=/1";

TEST(PartTroubleTest, IsWhatTheAnswerSays) {
    EXPECT_EQ(part_trouble(FetchError::changed, 200), kOther);
    EXPECT_EQ(part_trouble(FetchError::changed, 206), kOther);
    for (const auto status : {401u, 403u, 404u, 410u})
        EXPECT_EQ(part_trouble(FetchError::part_refused, status), kRefused) << status;
    EXPECT_EQ(part_trouble(FetchError::origin_error, 429), PartTrouble::none) << "it may pass";
    EXPECT_EQ(part_trouble(FetchError::changed, 416), PartTrouble::not_a_part);
    EXPECT_EQ(part_trouble(FetchError::origin_error, 503), PartTrouble::none) << "it may pass";
    EXPECT_EQ(part_trouble(FetchError::body_timeout, 206), PartTrouble::none);
}

TEST(PartResponsesTest, TakeASecondVersionForTheRule) {
    PartResponses answers;
    EXPECT_FALSE(answers.note(kPlace, kUri, kOther, "\"2\"", kNow)) << "it may be a new one";
    EXPECT_FALSE(answers.in_one_piece(kPlace, kUri, kNow));
    EXPECT_FALSE(answers.note(kPlace, kUri, kOther, "\"2\"", kNow)) << "again";
    EXPECT_FALSE(answers.in_one_piece(kPlace, kUri, kNow));
    EXPECT_TRUE(answers.note(kPlace, kUri, kOther, "\"3\"", kNow));
    EXPECT_TRUE(answers.in_one_piece(kPlace, kUri, kNow));
    EXPECT_FALSE(answers.note(kPlace, kUri, kOther, "\"3\"", kNow)) << "known";
    EXPECT_TRUE(answers.in_one_piece(kPlace, kUri, kNow));
}

TEST(PartResponsesTest, TakeARefusalAtItsWord) {
    PartResponses answers;
    EXPECT_TRUE(answers.note(kPlace, kUri, kRefused, "\"2\"", kNow));
    EXPECT_TRUE(answers.in_one_piece(kPlace, kUri, kNow));
}

TEST(PartResponsesTest, AreOfOnePathWhereAPartWasRefused) {
    PartResponses answers;
    answers.note(kPlace, kUri, kRefused, "\"2\"", kNow);
    EXPECT_TRUE(answers.in_one_piece(kPlace, "http://h/a/b.iso?signed=2", kNow));
    EXPECT_FALSE(answers.in_one_piece(kPlace, "http://h/a/other", kNow));
}

TEST(PartResponsesTest, AreOfAFolderAtAPlaceWhereVersionsDiffer) {
    PartResponses answers;
    answers.note(kPlace, kUri, kOther, "\"2\"", kNow);
    answers.note(kPlace, "http://h/a/c.iso", kOther, "\"2\"", kNow);
    EXPECT_TRUE(answers.in_one_piece(kPlace, "http://h/a/other?y", kNow));
    EXPECT_FALSE(answers.in_one_piece(kPlace, "http://h/c/b.iso", kNow));
    EXPECT_FALSE(answers.in_one_piece(kPlace, "http://g/a/b.iso", kNow));
    EXPECT_FALSE(answers.in_one_piece("other:80", kUri, kNow));
}

TEST(PartResponsesTest, AreForgottenAfterAWhile) {
    PartResponses answers;
    answers.note(kPlace, kUri, kRefused, "\"2\"", kNow);
    EXPECT_TRUE(answers.in_one_piece(kPlace, kUri, kNow + PartResponses::kRemembered - 1s));
    const auto later = kNow + PartResponses::kRemembered;
    EXPECT_FALSE(answers.in_one_piece(kPlace, kUri, later));
    EXPECT_FALSE(answers.note(kPlace, kUri, kOther, "\"2\"", later)) << "from the beginning";
    EXPECT_FALSE(answers.in_one_piece(kPlace, kUri, later));
}

TEST(PartResponsesTest, AreBounded) {
    PartResponses answers;
    for (std::size_t i = 0; i <= PartResponses::kMost; ++i)
        answers.note(kPlace, "http://h/" + std::to_string(i) + "/x", kRefused, "\"2\"", kNow);
    EXPECT_EQ(answers.size(), PartResponses::kMost);
    EXPECT_FALSE(answers.in_one_piece(kPlace, "http://h/0/x", kNow)) << "the oldest";
    EXPECT_TRUE(answers.in_one_piece(kPlace, "http://h/1/x", kNow));
}

}  // namespace part_responses_test
}  // namespace proxy
