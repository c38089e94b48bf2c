#include "proxy/storage/pending_responses.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"

namespace proxy {
namespace pending_responses_test {

using namespace std::chrono_literals;
using test::hash;
using test::Head;

const auto kNow = PendingResponses::Clock::time_point(1000h);

/// Fetches of one shard, without anything around it. fill_leases_test.cpp has the classes of
/// requests.
class PendingResponsesTest : public ::testing::Test {
protected:
    std::shared_ptr<Fill> begin(std::string_view uri, const char* fields = "") {
        auto fill = std::make_shared<Fill>(std::make_shared<base::Wakeup>(io.get_executor()), 1000);
        pending.add(hash(uri), uri, fill, Head(fields), nullptr);
        return fill;
    }
    std::shared_ptr<Fill> find(std::string_view uri, const char* fields = "") {
        return pending.find(hash(uri), uri, Head(fields), nullptr, kNow);
    }

    boost::asio::io_context io;
    PendingResponses pending;
};

TEST_F(PendingResponsesTest, GivesTheFillOfATargetUntilItEnds) {
    const auto fill = begin("u");
    EXPECT_EQ(find("u"), fill);
    EXPECT_TRUE(pending.has(hash("u"), "u"));
    EXPECT_EQ(find("v"), nullptr);
    EXPECT_EQ(pending.end(hash("u"), nullptr), nullptr) << "another fill";
    EXPECT_EQ(pending.end(hash("u"), fill.get()), fill);
    EXPECT_EQ(pending.end(hash("u"), fill.get()), nullptr);
    EXPECT_TRUE(pending.empty());
}

TEST_F(PendingResponsesTest, LetsOnlyTheFirstUriOfAHashBeWaitedFor) {
    const auto first = begin("u");
    const auto other =
        std::make_shared<Fill>(std::make_shared<base::Wakeup>(io.get_executor()), 1000);
    pending.add(hash("u"), "v", other, {}, nullptr);
    EXPECT_FALSE(pending.has(hash("u"), "v"));
    EXPECT_EQ(pending.find(hash("u"), "v", {}, nullptr, kNow), nullptr);
    EXPECT_EQ(find("u"), first);
}

TEST_F(PendingResponsesTest, FindsTargetsByTheTagsOfTheirPendingResponses) {
    const auto plain = begin("u", "Cookie: a=1"), secret = begin("u", "Authorization: Basic x");
    pending.tag(hash("u"), plain.get(), std::vector{hash("t")});
    pending.tag(hash("u"), secret.get(), std::vector{hash("t"), hash("s")});
    EXPECT_EQ(pending.first_tagged(hash("t")), hash("u"));
    pending.end(hash("u"), secret.get());
    EXPECT_EQ(pending.first_tagged(hash("s")), std::nullopt);
    EXPECT_EQ(pending.first_tagged(hash("t")), hash("u"));
    PendingResponses::Fills ended;
    pending.end_target(hash("u"), ended);
    EXPECT_EQ(ended, std::vector{plain});
    EXPECT_EQ(pending.first_tagged(hash("t")), std::nullopt);
}

TEST_F(PendingResponsesTest, EndsAllTargetsAtOnce) {
    const auto one = begin("u");
    begin("v");
    pending.tag(hash("u"), one.get(), std::vector{hash("t")});
    PendingResponses::Fills ended;
    pending.end_all(ended);
    EXPECT_EQ(ended.size(), 2u);
    EXPECT_TRUE(pending.empty());
    EXPECT_EQ(pending.first_tagged(hash("t")), std::nullopt);
}

TEST_F(PendingResponsesTest, NotesUnshareableClassesForAWhile) {
    const auto note = [&](int target, std::chrono::seconds time,
                          PendingResponses::Clock::time_point now = kNow) {
        pending.note_unshareable(hash(std::to_string(target)), {}, nullptr, time, now);
    };
    const auto is_unshareable = [&](int target, auto now) {
        return pending.is_unshareable(hash(std::to_string(target)), {}, nullptr, now);
    };
    note(0, PendingResponses::kHitForMissInTrouble);
    EXPECT_FALSE(is_unshareable(0, kNow + PendingResponses::kHitForMissInTrouble));
    note(0, PendingResponses::kHitForMiss);
    note(0, PendingResponses::kHitForMissInTrouble);
    EXPECT_TRUE(is_unshareable(0, kNow + PendingResponses::kHitForMiss - 1s)) << "the longer time";
    EXPECT_FALSE(is_unshareable(0, kNow + PendingResponses::kHitForMiss));
    note(0, PendingResponses::kHitForMiss, kNow + 100s);
    EXPECT_TRUE(is_unshareable(0, kNow + 219s)) << "each response of one client renews it";
    pending.refute_unshareable(hash("0"), {}, StoredResponse());
    EXPECT_TRUE(pending.is_idle());
    // Beyond the limit, the notes make room at once.
    const int many = PendingResponses::kMaxUnshareable;
    for (int i = 0; i < many; ++i) note(i, PendingResponses::kHitForMiss);
    note(0, PendingResponses::kHitForMiss, kNow + 61s);
    note(many, PendingResponses::kHitForMiss, kNow + 61s);
    EXPECT_FALSE(is_unshareable(1, kNow + 61s));
    EXPECT_TRUE(is_unshareable(0, kNow + 61s)) << "renewed of late";
    EXPECT_TRUE(is_unshareable(many, kNow + 61s));
    for (int i = 0; i <= many; ++i) note(i, PendingResponses::kHitForMiss, kNow + 62s);
    EXPECT_FALSE(is_unshareable(1, kNow + 62s));
    EXPECT_TRUE(is_unshareable(many, kNow + 62s));
}

}  // namespace pending_responses_test
}  // namespace proxy
