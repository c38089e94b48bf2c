#include "proxy/fetch/cache.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/fetch/idle_cache.hpp"

namespace proxy {
namespace cache_test {

using namespace std::chrono_literals;

constexpr summary::KeyHash kTag{5, 6};
constexpr auto* kA = "http://h/a";
constexpr auto* kB = "http://h/b";
constexpr auto* kC = "http://h/c";

/// Three objects are stored, of which b and c have a tag in common.
class CacheTest : public ::testing::Test, protected test::IdleCache {
protected:
    CacheTest() {
        put(kA, "", "a", now);
        put(kB, "", "b", now, {kTag});
        put(kC, "", "c", now, {kTag});
    }
    bool stored(std::string_view uri) const { return find(uri, now).response != nullptr; }
    protocol::Invalidation of(std::vector<std::string_view> uris) const { return shared.of(uris); }

    const Store::Clock::time_point now = Store::Clock::now();
};

TEST_F(CacheTest, FindsWhatIsStoredAndWhatIsOnItsWay) {
    EXPECT_TRUE(stored(kA));
    EXPECT_EQ(find(kA, now).fill, nullptr);
    job->result.lease.take(find(kA, now));
    EXPECT_EQ(find(kA, now).fill, job->result.fill);
    EXPECT_TRUE(stored(kA)) << "until the other one is there";
    EXPECT_FALSE(stored("http://h/d"));
}

TEST_F(CacheTest, NamesUrisByTheirKeys) {
    const auto what = of({kA, kB});
    EXPECT_EQ(what.keys, (std::vector{hasher(kA), hasher(kB)}));
    EXPECT_TRUE(what.tags.empty());
    EXPECT_FALSE(what.all);
    EXPECT_TRUE(of({}).empty());
}

TEST_F(CacheTest, EndsWhatIsNamedAndCountsWhatWasThere) {
    EXPECT_EQ(shared.store.invalidate(of({kA, "http://h/d"}), now), 1u);
    EXPECT_FALSE(stored(kA));
    EXPECT_TRUE(stored(kB));
    EXPECT_TRUE(events.invalidated.empty()) << "that is this node's own affair";
}

TEST_F(CacheTest, SaysWhatIsThereWithoutUsingIt) {
    EXPECT_EQ(cache.shared.store.peek(hasher(kA), kA, {}), Store::StoredAt::memory);
    EXPECT_EQ(cache.shared.store.peek(hasher("http://h/d"), "http://h/d", {}),
              Store::StoredAt::nowhere);
    EXPECT_TRUE(shared.store.invalidate(hasher(kA), now));
    EXPECT_FALSE(shared.store.invalidate(hasher(kA), now)) << "there was nothing any more";
    EXPECT_EQ(cache.shared.store.peek(hasher(kA), kA, {}), Store::StoredAt::nowhere);
    job->result.lease.take(find(kA, now));
    EXPECT_EQ(cache.shared.store.peek(hasher(kA), kA, {}), Store::StoredAt::memory) << "on its way";
}

TEST_F(CacheTest, EndsAllThatHasATag) {
    protocol::Invalidation what;
    what.tags = {kTag, {7, 8}};
    EXPECT_EQ(shared.store.invalidate(what, now), 2u);
    EXPECT_TRUE(stored(kA));
    EXPECT_FALSE(stored(kB));
    EXPECT_FALSE(stored(kC));
}

TEST_F(CacheTest, EndsAllThereIs) {
    protocol::Invalidation what;
    what.all = true;
    EXPECT_EQ(shared.store.invalidate(what, now), 3u);
    for (const auto* uri : {kA, kB, kC}) EXPECT_FALSE(stored(uri)) << uri;
}

TEST_F(CacheTest, EndsWhatIsOnItsWayToo) {
    job->result.lease.take(find(kA, now));
    EXPECT_EQ(shared.store.invalidate(of({kA}), now), 1u);
    EXPECT_EQ(find(kA, now).fill, nullptr) << "who comes now does not get it";
    auto late = std::make_shared<StoredResponse>();
    EXPECT_FALSE(job->result.lease.publish(std::move(late), now));
    EXPECT_FALSE(stored(kA));
}

TEST_F(CacheTest, InvalidatesHereAndTellsThePeers) {
    EXPECT_EQ(shared.invalidate_everywhere(of({kA, kB}), now), 2u);
    EXPECT_FALSE(stored(kA));
    EXPECT_FALSE(stored(kB));
    EXPECT_TRUE(stored(kC));
    ASSERT_EQ(events.invalidated.size(), 1u);
    EXPECT_EQ(events.invalidated[0].keys, (std::vector{hasher(kA), hasher(kB)}));
}

TEST_F(CacheTest, TellsThePeersAlsoOfWhatIsNotStoredHere) {
    shared.invalidate_everywhere(of({"http://h/d"}), now);
    EXPECT_EQ(events.invalidated.size(), 1u) << "they may have it";
}

TEST_F(CacheTest, TellsThePeersOfNothingWhenThereIsNothing) {
    shared.invalidate_everywhere({}, now);
    EXPECT_TRUE(events.invalidated.empty());
}

TEST_F(CacheTest, RemembersForAllWorkersWhatCameFromAPeerBefore) {
    EXPECT_EQ(shared.cooperation.copies.use_of(CopyPolicy::second_use, {{1, 2}}),
              CopyUse::passed_on_once);
    EXPECT_EQ(shared.cooperation.copies.use_of(CopyPolicy::second_use, {{1, 2}}), CopyUse::stored);
}

}  // namespace cache_test
}  // namespace proxy
