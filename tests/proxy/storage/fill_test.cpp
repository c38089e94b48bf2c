#include "proxy/storage/fill.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/proxy/buffers.hpp"

namespace proxy {
namespace fill_test {

using test::text_of;

/// A fill with its writer's side driven by the test.
class FillTest : public ::testing::Test {
protected:
    std::shared_ptr<base::Wakeup> wakeup() {
        return std::make_shared<base::Wakeup>(io.get_executor());
    }
    void begin(bool shared, std::uint64_t length = 0) {
        Fill::Incoming incoming;
        incoming.response = std::make_shared<StoredResponse>();
        incoming.shared = shared;
        incoming.length = length;
        incoming.length_known = length > 0;
        fill->begin(std::move(incoming));
    }
    void append(std::string_view data) {
        if (fill->room() < data.size()) fill->add_block(data.size(), {});
        fill->append(data);
    }
    static std::string take(Fill::Reader& reader) {
        std::vector<boost::asio::const_buffer> out;
        const auto piece = reader.peek(1000, 10, out);
        auto text = text_of(out);
        reader.consume(piece.bytes);
        return text;
    }

    boost::asio::io_context io;
    std::shared_ptr<Fill> fill = std::make_shared<Fill>(wakeup(), 10);
};

TEST_F(FillTest, GivesEveryReaderTheWholeBodyAtAnyTime) {
    Fill::Reader early(fill, wakeup(), true);
    EXPECT_EQ(early.state().phase, Fill::Phase::waiting);
    begin(true, 8);
    append("half");
    EXPECT_EQ(take(early), "half");
    Fill::Reader late(fill, wakeup(), false);
    append("half");
    EXPECT_EQ(take(early), "half");
    fill->complete(true);
    EXPECT_TRUE(late.state().incoming.shared);
    EXPECT_EQ(take(late), "halfhalf");
    std::vector<boost::asio::const_buffer> out;
    EXPECT_TRUE(late.peek(10, 10, out).end);
}

TEST_F(FillTest, ReleasesFollowersWhenTheAnswerIsNotToBeShared) {
    Fill::Reader leader(fill, wakeup(), true), follower(fill, wakeup(), false);
    begin(false, 100);
    EXPECT_FALSE(leader.state().released);
    EXPECT_TRUE(follower.state().released);
    Fill::Reader late(fill, wakeup(), false);
    EXPECT_TRUE(late.state().released);
    fill->complete(false);
    EXPECT_EQ(leader.state().phase, Fill::Phase::complete);
}

TEST_F(FillTest, KeepsAWindowOfAnUnstoredBody) {
    Fill::Reader leader(fill, wakeup(), true);
    begin(false, 100);
    append("0123456789");
    EXPECT_EQ(fill->ahead(), fill->window_bytes());
    EXPECT_EQ(take(leader), "0123456789");
    EXPECT_EQ(fill->ahead(), 0u);
}

TEST_F(FillTest, GoesOnInAWindowForThoseAtHandWhenItProvesTooLarge) {
    Fill::Reader leader(fill, wakeup(), true);
    begin(true);
    append("0123456789");
    Fill::Reader follower(fill, wakeup(), false);
    fill->stop_sharing();
    Fill::Reader late(fill, wakeup(), false);
    EXPECT_TRUE(late.state().released);
    EXPECT_EQ(fill->ahead(), 10u);
    EXPECT_EQ(take(leader), "0123456789");
    EXPECT_EQ(take(follower), "0123456789");
    append("more");
    EXPECT_EQ(take(leader), "more");
    EXPECT_EQ(take(follower), "more");
}

TEST(UnreadFetch, GoesOnWhenLittleIsMissingOrNoMoreThanHasCome) {
    constexpr auto kMost = kNearlyDoneBytes;
    EXPECT_TRUE(goes_on_unread(0, kMost));
    EXPECT_FALSE(goes_on_unread(0, kMost + 1));
    EXPECT_TRUE(goes_on_unread(5 * kMost, 10 * kMost));
    EXPECT_FALSE(goes_on_unread(5 * kMost, 10 * kMost + 1));
    EXPECT_TRUE(goes_on_unread(10 * kMost, 10 * kMost));
    EXPECT_TRUE(goes_on_unread(kMost, std::nullopt));
    EXPECT_FALSE(goes_on_unread(kMost + 1, std::nullopt)) << "of unknown length";
}

TEST_F(FillTest, IsWantedWhileSomebodyReadsOrLittleIsMissing) {
    {
        Fill::Reader leader(fill, wakeup(), true);
        begin(true, 2 * kNearlyDoneBytes);
        EXPECT_TRUE(fill->wanted());
    }
    EXPECT_FALSE(fill->wanted());
    append(std::string(kNearlyDoneBytes, 'x'));
    EXPECT_TRUE(fill->wanted());
}

TEST_F(FillTest, KnowsTheSlowestOfThousandsOfReaders) {
    auto leader = std::make_unique<Fill::Reader>(fill, wakeup(), true);
    begin(true);
    std::vector<std::unique_ptr<Fill::Reader>> followers;
    for (int i = 0; i < 3000; ++i)
        followers.push_back(std::make_unique<Fill::Reader>(fill, wakeup(), false));
    append(std::string(4000, 'x'));
    fill->stop_sharing();
    leader->consume(4000);
    std::vector<std::uint64_t> taken(followers.size(), 0);
    std::mt19937 random(7);
    while (!followers.empty()) {
        const auto one = random() % followers.size();
        if (random() % 4 == 0) {
            followers.erase(followers.begin() + static_cast<std::ptrdiff_t>(one));
            taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(one));
        } else {
            const auto bytes = std::min<std::uint64_t>(random() % 1000, 4000 - taken[one]);
            followers[one]->consume(bytes);
            taken[one] += bytes;
        }
        const auto slowest = taken.empty() ? 4000 : *std::min_element(taken.begin(), taken.end());
        ASSERT_EQ(fill->ahead(), 4000 - slowest);
    }
    EXPECT_EQ(fill->audience().readers, 1u);
    leader.reset();
    EXPECT_EQ(fill->audience().readers, 0u);
    EXPECT_EQ(fill->audience().joined, 3001u);
}

TEST_F(FillTest, LeavesAStoredBodyWhole) {
    auto body = std::make_shared<Body>();
    body->add_block(10, {});
    body->append("0123456789");
    Fill::Reader leader(fill, wakeup(), true);
    Fill::Incoming incoming;
    incoming.response = std::make_shared<StoredResponse>(StoredMetadata(), body);
    incoming.validated = true;
    fill->begin(std::move(incoming));
    EXPECT_EQ(take(leader), "0123456789");
    fill->complete(false);
    EXPECT_EQ(body->dropped(), 0u);
}

TEST_F(FillTest, NotifiesReadersOfAFailure) {
    Fill::Reader leader(fill, wakeup(), true);
    begin(true, 100);
    append("part");
    fill->fail(FetchError::reset);
    std::vector<boost::asio::const_buffer> out;
    EXPECT_TRUE(leader.peek(1000, 10, out).failed || text_of(out) == "part");
    leader.consume(4);
    out.clear();
    EXPECT_TRUE(leader.peek(1000, 10, out).failed);
}

/// A body that is not stored, with two readers.
class FillWithAWindow : public FillTest {
protected:
    using Clock = std::chrono::steady_clock;

    FillWithAWindow() {
        begin(true);
        append("0123456789");
        fill->stop_sharing();
    }
    std::chrono::nanoseconds waited(std::chrono::seconds after) const {
        return slow.others_waited(now + after);
    }

    Fill::Reader slow{fill, wakeup(), true};
    std::optional<Fill::Reader> fast{std::in_place, fill, wakeup(), false};
    const Clock::time_point now = Clock::now();
};

TEST_F(FillWithAWindow, CountsTheTimeInWhichAReaderWaitsForAnother) {
    using namespace std::chrono_literals;
    EXPECT_TRUE(slow.shares_window());
    take(*fast);
    fast->wants_more(now);
    EXPECT_EQ(waited(1s), 0s) << "the origin is waited for";
    fill->stand_still(now + 1s);
    EXPECT_EQ(waited(3s), 2s);
    fill->move_on(now + 5s);
    EXPECT_EQ(waited(9s), 4s);
    fill->stand_still(now + 9s);
    EXPECT_EQ(waited(10s), 4s) << "it has got bytes since";
}

TEST_F(FillWithAWindow, CountsNoReaderThatHasBytesToTake) {
    using namespace std::chrono_literals;
    fill->stand_still(now);
    fast->wants_more(now);
    EXPECT_EQ(waited(9s), 0s) << "both are slow";
}

TEST_F(FillWithAWindow, CountsNoReaderThatHasLeft) {
    using namespace std::chrono_literals;
    fill->stand_still(now);
    take(*fast);
    fast->wants_more(now);
    fast.reset();
    EXPECT_EQ(waited(100s), waited(200s));
    EXPECT_FALSE(slow.shares_window());
}

}  // namespace fill_test
}  // namespace proxy
