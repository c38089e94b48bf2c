#include "protocol/membership/dial_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <deque>

#include "protocol/net/task_group.hpp"

namespace protocol::test {
namespace dial_places_test {

namespace asio = boost::asio;

class DialPlacesTest : public ::testing::Test {
protected:
    /// Somebody asks for a place; which one it gets stands in `got` then.
    DialPlaces::Place& ask() {
        auto& place = got.emplace_back();
        auto take = [](DialPlaces& from, DialPlaces::Place& into) -> awaitable<void> {
            into = co_await from.take();
        };
        tasks.spawn(take(places, place));
        turn();
        return place;
    }
    void turn() {
        io.restart();
        io.poll();
    }
    std::size_t held() const {
        return static_cast<std::size_t>(
            std::count_if(got.begin(), got.end(), [](const auto& place) { return place.held(); }));
    }

    asio::io_context io;
    DialPlaces places{io.get_executor()};
    TaskGroup tasks{io.get_executor()};
    std::deque<DialPlaces::Place> got;
};

TEST_F(DialPlacesTest, SoManyAtATimeAndOneMoreForEachThatIsGivenBack) {
    for (std::size_t i = 0; i < kFirstDialPlaces + 3; ++i) ask();
    EXPECT_EQ(held(), kFirstDialPlaces);
    got[0].give_back();
    got[0].give_back();
    turn();
    EXPECT_EQ(held(), kFirstDialPlaces);
    EXPECT_FALSE(got[0].held());
    got[1] = {};  // its end
    got[2].give_back();
    turn();
    EXPECT_EQ(held(), kFirstDialPlaces);
    got[3].give_back();
    turn();
    EXPECT_EQ(held(), kFirstDialPlaces - 1) << "nobody waits any more";
    EXPECT_EQ(places.taken(), kFirstDialPlaces - 1);
}

TEST_F(DialPlacesTest, FewerWhenAHelloWasLateMoreWhileTheyAreNot) {
    for (std::size_t i = 0; i < 2 * kFirstDialPlaces; ++i) ask();
    for (std::size_t i = 0; i < kFirstDialPlaces; ++i) places.hello_succeeded();
    turn();
    EXPECT_EQ(held(), kFirstDialPlaces + 1);
    places.hello_was_late();
    EXPECT_EQ(places.limit(), (kFirstDialPlaces + 1) / 2);
    got[0].give_back();
    turn();
    EXPECT_EQ(held(), kFirstDialPlaces) << "more than that many have one still";
    for (int i = 0; i < 10; ++i) places.hello_was_late();
    EXPECT_EQ(places.limit(), kMinDialPlaces);
    for (int i = 0; i < 10'000; ++i) places.hello_succeeded();
    EXPECT_EQ(places.limit(), kMaxDialPlaces);
}

TEST_F(DialPlacesTest, WhoIsCancelledWhileWaitingGetsNoneAndIsForgotten) {
    for (std::size_t i = 0; i < kFirstDialPlaces; ++i) ask();
    auto& late = ask();
    tasks.cancel();
    turn();
    EXPECT_EQ(tasks.size(), 0U);
    EXPECT_FALSE(late.held());
    got[0].give_back();
    EXPECT_EQ(places.taken(), kFirstDialPlaces - 1);
}

TEST_F(DialPlacesTest, APlaceMayBeHeldForSoLongOnly) {
    auto& place = ask();
    asio::steady_timer never(io, Clock::time_point::max());
    place.give_back_at(never);
    never.cancel();
    turn();
    EXPECT_TRUE(place.held());
    asio::steady_timer now(io, Clock::time_point::min());
    place.give_back_at(now);
    turn();
    EXPECT_FALSE(place.held());
    EXPECT_EQ(places.taken(), 0U);
}

}  // namespace dial_places_test
}  // namespace protocol::test
