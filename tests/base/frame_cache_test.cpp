// The sanitizers must see the end of each frame, so their builds go without this cache.
#ifndef HEARSAY_SANITIZED

#include "base/async/frame_cache.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace base {
namespace frame_cache_test {

constexpr std::size_t kStep = FrameCache::kStep;

/// A frame whose bytes can all be written.
void* frame(std::size_t bytes) {
    auto* const got = FrameCache::allocate(bytes);
    std::memset(got, 0x5a, bytes);
    return got;
}

TEST(FrameCache, GivesTheMemoryOfAnEndedFrameToTheNextOfItsSize) {
    auto* const first = frame(3 * kStep);
    FrameCache::deallocate(first, 3 * kStep);
    auto* const smaller = frame(2 * kStep);
    auto* const larger = frame(3 * kStep + 1);
    auto* const next = frame(2 * kStep + 1);
    EXPECT_NE(smaller, first);
    EXPECT_NE(larger, first);
    EXPECT_EQ(next, first);
    FrameCache::deallocate(smaller, 2 * kStep);
    FrameCache::deallocate(larger, 3 * kStep + 1);
    FrameCache::deallocate(next, 2 * kStep + 1);
}

TEST(FrameCache, KeepsTheLatestFirstAndNoMoreThanItsLimit) {
    std::vector<void*> frames;
    for (int i = 0; i < 2 * FrameCache::kMost; ++i) frames.push_back(frame(kStep));
    for (auto* const each : frames) FrameCache::deallocate(each, kStep);
    std::vector<void*> again;
    for (int i = 0; i < FrameCache::kMost; ++i) again.push_back(frame(kStep));
    for (int i = 0; i < FrameCache::kMost; ++i)
        EXPECT_EQ(again[static_cast<std::size_t>(i)],
                  frames[static_cast<std::size_t>(FrameCache::kMost - 1 - i)]);
    for (auto* const each : again) FrameCache::deallocate(each, kStep);
}

TEST(FrameCache, TakesFramesOfAnySize) {
    for (const auto bytes : {std::size_t{1}, FrameCache::kSizes * kStep,
                             FrameCache::kSizes * kStep + 1, std::size_t{100'000}})
        for (int i = 0; i < 2; ++i) FrameCache::deallocate(frame(bytes), bytes);
}

TEST(FrameCache, AFrameMayEndInAnotherThreadWhichFreesItAtItsEnd) {
    auto* const here = frame(kStep);
    std::thread other([here] {
        FrameCache::deallocate(here, kStep);
        EXPECT_EQ(frame(kStep), here);
        FrameCache::deallocate(here, kStep);
    });
    other.join();
}

TEST(FrameCache, ServesTheCoroutinesOfAsio) {
    boost::asio::io_context io;
    std::set<const void*> frames;
    const auto once = [](std::set<const void*>& seen) -> boost::asio::awaitable<void> {
        const char here[1200] = {};  // more than Asio itself would keep
        seen.insert(&here);
        co_await boost::asio::this_coro::executor;
        seen.insert(&here);
    };
    for (int i = 0; i < 10; ++i) {
        boost::asio::co_spawn(io, once(frames), boost::asio::detached);
        io.run();
        io.restart();
    }
    EXPECT_EQ(frames.size(), 1u);
}

}  // namespace frame_cache_test
}  // namespace base

#endif
