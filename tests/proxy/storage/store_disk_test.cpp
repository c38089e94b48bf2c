// The store with a disk behind it: one cache to the outside. The disk is real, below the
// temporary directory.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/storage/blocks.hpp"
#include "tests/proxy/storage/store_disk_kit.hpp"

namespace proxy {
namespace store_disk_test {

using namespace std::chrono_literals;
using test::hash;
using test::Head;
using test::kMiB;

using Node = test::StoreNode;
using Clock = Store::Clock;

TEST(StoreDiskTest, KeepsEvictedResponses) {
    Node node;
    const auto body = test::made_body(1, 100'000);
    ASSERT_TRUE(node.put("u", node.response(body)));
    node.push_out();
    EXPECT_EQ(node.announced("u"), 1);
    const auto found = node.look_up("u");
    EXPECT_FALSE(found.response);
    EXPECT_TRUE(found.on_disk);
    EXPECT_EQ(node.body_of("u"), body);
    EXPECT_EQ(node.announced("u"), 1);
    EXPECT_TRUE(node.look_up("u").response) << "back in memory";
}

TEST(StoreDiskTest, ARestartKeepsEverythingButTheClock) {
    Node node;
    auto response = node.response("body", "de", {{7, 7}}, 500s);
    response->freshness.initial_age = StoredSeconds(20);
    response->freshness.stale_if_error = StoredSeconds(33);
    response->freshness.has_validator = true;
    const StoredMetadata before = *response;
    ASSERT_TRUE(node.put("u", response));
    response.reset();
    node.settle();
    node.restart();
    EXPECT_EQ(node.announced("u"), 1);
    const auto after = node.get("u", "Accept-Language: de");
    ASSERT_TRUE(after);
    EXPECT_EQ(after->head_fields, before.head_fields);
    EXPECT_EQ(after->status, 200u);
    EXPECT_EQ(after->tags, before.tags);
    EXPECT_EQ(after->freshness.lifetime, 500s);
    EXPECT_EQ(after->freshness.initial_age, 20s);
    EXPECT_EQ(after->freshness.stale_if_error, 33s);
    EXPECT_TRUE(after->freshness.has_validator);
    EXPECT_EQ(after->freshness.source, LifetimeSource::max_age);
    EXPECT_LE(after->residence(Clock::now()), 2s);
    EXPECT_EQ(Node::text(*after), "body");
    EXPECT_FALSE(node.get("u", "Accept-Language: fr"));
}

TEST(StoreDiskTest, RecallsStaleResponsesWithoutAnAnnouncement) {
    Node node;
    ASSERT_TRUE(node.put("u", node.response("old", {}, {}, 1s)));
    node.settle();
    node.restart();
    EXPECT_EQ(node.announced("u"), 0);
    EXPECT_EQ(node.body_of("u"), "old") << "to be validated";
}

TEST(StoreDiskTest, ForgetsInvalidatedResponsesAlsoAfterARestart) {
    Node node;
    for (const auto* uri : {"memory", "disk", "tagged", "tagged on disk", "kept"})
        ASSERT_TRUE(node.put(uri, node.response("x", {}, {hash(uri[0] == 't' ? "t" : "k")})));
    node.settle();
    node.restart();
    ASSERT_EQ(node.body_of("memory"), "x");
    ASSERT_EQ(node.body_of("tagged"), "x");
    EXPECT_TRUE(node.store().invalidate(hash("memory"), Clock::now()));
    EXPECT_TRUE(node.store().invalidate(hash("disk"), Clock::now()));
    EXPECT_EQ(node.announced("memory"), 0);
    EXPECT_EQ(node.announced("disk"), 0);
    EXPECT_EQ(node.store().invalidate(test::of_tag(hash("t")), Clock::now()), 1u);
    for (int rounds = 0; rounds < 2; ++rounds) {
        for (const auto* uri : {"memory", "disk", "tagged", "tagged on disk"}) {
            EXPECT_EQ(node.body_of(uri), "") << uri;
            EXPECT_EQ(node.announced(uri), 0) << uri;
        }
        EXPECT_EQ(node.body_of("kept"), "x");
        EXPECT_EQ(node.announced("kept"), 1);
        node.settle();
        node.restart();
    }
}

// A caller that has changed something waits for the disk only if the disk has something to forget.
TEST(StoreDiskTest, CountsThePurgesThatWaitForTheDisk) {
    Node node;
    auto& store = node.store();
    ASSERT_TRUE(node.put("written", node.response("x")));
    node.settle();
    const auto before = store.disk_ends();
    store.invalidate(hash("nowhere"), Clock::now());
    EXPECT_EQ(store.disk_ends(), before);
    store.invalidate(hash("written"), Clock::now());
    EXPECT_EQ(store.disk_ends(), before + 1);
    store.invalidate(hash("written"), Clock::now());
    EXPECT_EQ(store.disk_ends(), before + 1) << "once";
    store.invalidate(test::of_tag(hash("tag")), Clock::now());
    EXPECT_EQ(store.disk_ends(), before + 2) << "nobody knows what carries it";
}

/// Two keys of which a purge comes to the first before the last.
std::pair<std::string, std::string> first_and_last_shard() {
    const auto shard = [](const std::string& uri) { return shard_of(hash(uri)); };
    std::string first = "a", last = "b";
    while (shard(first) > 0) first += 'a';
    while (shard(last) == 0) last += 'b';
    return {first, last};
}

TEST(StoreDiskTest, RefusesARecordThatWasReadDuringAPurgeOfItsTag) {
    const auto [first, last] = first_and_last_shard();
    Node node;
    for (const auto& uri : {first, last})
        ASSERT_TRUE(node.put(uri, node.response("x", {}, {hash("t")})));
    node.settle();
    node.restart();
    ASSERT_EQ(node.body_of(last), "x");
    node.removed = hash(last);
    node.when_removed = [&] { EXPECT_EQ(node.body_of(first), "x") << "not ended yet"; };
    node.store().invalidate(test::of_tag(hash("t")), Clock::now());
    EXPECT_FALSE(node.when_removed);
    EXPECT_EQ(node.body_of(first), "");
    EXPECT_EQ(node.announced(first), 0);
}

TEST(StoreDiskTest, RefusesARecordThatWasReadDuringAPurgeOfEverything) {
    Node node;
    for (int round = 0; round < 20; ++round) {
        ASSERT_TRUE(node.put("u", node.response("x")));
        node.settle();
        node.restart();
        std::atomic<bool> purged{false};
        std::atomic<int> reads{0};
        std::thread reader([&] {
            while (!purged) {
                node.body_of("u");
                ++reads;
            }
        });
        while (reads == 0) std::this_thread::yield();
        node.store().invalidate(test::of_everything(), Clock::now());
        EXPECT_EQ(node.body_of("u"), "");
        purged = true;
        reader.join();
        EXPECT_EQ(node.body_of("u"), "");
    }
}

/// A key in a shard that a purge comes to in this turn.
std::string in_shard(std::size_t shard, std::string uri) {
    while (shard_of(hash(uri)) != shard) uri += '0';
    return uri;
}

TEST(StoreDiskTest, RefusesABlockThatWasReadDuringAPurgeOfItsTarget) {
    const std::string target = "http://h/large";
    const auto block = in_shard(0, block_key(target, "\"1\"", "0f", {0, 99}));
    const auto other = in_shard(kShards - 1, block_key(target, "\"1\"", "0f", {100, 199}));
    Node node;
    ASSERT_TRUE(node.put(target, node.response("index")));
    for (const auto& key : {block, other})
        ASSERT_TRUE(node.put(key, node.response("x", {}, {hash(target)})));
    node.settle();
    node.restart();
    node.store().expect_blocks();
    ASSERT_EQ(node.body_of(other), "x");
    node.removed = hash(other);
    node.when_removed = [&] { EXPECT_EQ(node.body_of(block), "x") << "not ended yet"; };
    node.store().invalidate(hash(target), Clock::now());
    EXPECT_FALSE(node.when_removed);
    for (int rounds = 0; rounds < 2; ++rounds) {
        EXPECT_EQ(node.body_of(block), "");
        EXPECT_EQ(node.announced(block), 0);
        node.settle();
        node.restart();
        node.store().expect_blocks();
    }
}

// A purge comes to one shard after the other. A response that a request brings back from the disk
// meanwhile is in memory when the disk takes its record out of the index; the next request for it
// then offers it to the disk. If that is written behind the purge, it is there again, and after a
// restart, too.
TEST(StoreDiskTest, WritesNoRecordBehindAPurgeThatItWasReadDuring) {
    const auto early = in_shard(0, "early"), middle = in_shard(7, "middle"),
               late = in_shard(kShards - 1, "late");
    Node node({.queue = 1});  // one waits at a time
    ASSERT_TRUE(node.put(middle, node.response("x")));
    node.settle();
    node.restart();
    const auto written = [&] { return node.store().disk()->status().front().written; };
    const auto before = written();

    std::promise<void> device, over;
    node.calls().on_each_write = [free = device.get_future().share()] { free.wait(); };
    ASSERT_TRUE(node.put(late, node.response("x")));  // which is being written
    std::thread other;
    node.removed = hash(late);
    node.when_removed = [&] {
        EXPECT_EQ(node.body_of(middle), "x") << "it is on the disk, and not ended yet";
        ASSERT_TRUE(node.put(early, node.response("x")));  // which the disk refuses
        // The purge comes here once more, and goes on when the other thread has done all this, or
        // cannot while it lasts.
        node.removed = hash(early);
        node.when_removed = [&] {
            other = std::thread([&] {
                device.set_value();
                while (node.look_up(middle).response && written() < before + 2)
                    std::this_thread::yield();
                node.settle();
                over.set_value();
            });
            over.get_future().wait_for(300ms);
        };
    };
    node.store().invalidate(test::of_everything(), Clock::now());
    EXPECT_FALSE(node.when_removed);
    ASSERT_TRUE(other.joinable());
    other.join();
    node.settle();
    node.calls().on_each_write = {};
    for (int rounds = 0; rounds < 2; ++rounds) {
        for (const auto& uri : {early, middle, late}) EXPECT_EQ(node.body_of(uri), "") << uri;
        node.settle();
        node.restart();
    }
}

TEST(StoreDiskTest, KeepsAResponseThatCameAfterAnInvalidation) {
    Node node;
    node.put("u", node.response("one"));
    node.store().invalidate(hash("u"), Clock::now());
    node.put("u", node.response("two"));
    node.settle();
    node.restart();
    EXPECT_EQ(node.body_of("u"), "two");
}

TEST(StoreDiskTest, EverythingGoesAtOnce) {
    Node node;
    for (int i = 0; i < 50; ++i) node.put("u" + std::to_string(i), node.response("x"));
    node.settle();
    node.restart();
    node.body_of("u7");
    node.store().invalidate(test::of_everything(), Clock::now());
    for (int i = 0; i < 50; ++i) EXPECT_EQ(node.body_of("u" + std::to_string(i)), "");
    node.put("u7", node.response("new"));
    node.settle();
    for (int i = 0; i < 50; ++i)
        EXPECT_EQ(node.announced("u" + std::to_string(i)), i == 7 ? 1 : 0) << i;
    node.restart();
    EXPECT_EQ(node.body_of("u7"), "new");
    EXPECT_EQ(node.body_of("u8"), "");
}

TEST(StoreDiskTest, TheLaterVersionCounts) {
    Node node;
    node.put("u", node.response("one"));
    node.settle();
    node.put("u", node.response("two"));
    node.push_out();
    EXPECT_EQ(node.body_of("u"), "two");
    node.restart();
    EXPECT_EQ(node.body_of("u"), "two");
    EXPECT_EQ(node.store().stats().disk.disk_objects, 101u) << "with what filled memory";
}

TEST(StoreDiskTest, VariantsComeBackTogether) {
    Node node;
    node.put("u", node.response("hallo", "de"));
    node.put("u", node.response("hello", "en"));
    node.push_out();
    EXPECT_EQ(node.body_of("u", "Accept-Language: de"), "hallo");
    EXPECT_TRUE(node.look_up("u", "Accept-Language: en").response);
    EXPECT_FALSE(node.look_up("u", "Accept-Language: fr").on_disk) << "all are in memory";
    node.put("u", node.response("bonjour", "fr"));
    node.settle();
    node.restart();
    EXPECT_EQ(node.body_of("u", "Accept-Language: en"), "hello");
    EXPECT_EQ(node.body_of("u", "Accept-Language: fr"), "bonjour");
}

// It is on its way to the disk, where the others are not.
TEST(StoreDiskTest, PurgesAlsoADisplacedVariantOnItsWayToTheDisk) {
    constexpr std::size_t kMost = 4;
    Node node({.queue = 1});  // one waits at a time
    node.store().set_max_variants(kMost);
    const auto language = [](std::size_t i) { return "l" + std::to_string(i); };
    {
        std::mutex device;
        std::unique_lock busy(device);
        node.calls().on_each_write = [&] { const std::lock_guard turn(device); };
        for (std::size_t i = 0; i <= kMost; ++i)
            ASSERT_TRUE(node.put("u", node.response("x", language(i))));
        busy.unlock();
        node.settle();
        node.calls().on_each_write = {};
    }
    EXPECT_EQ(node.body_of("u", "Accept-Language: l0"), "x");
    std::size_t there = 0;
    for (std::size_t i = 0; i <= kMost; ++i)
        there += node.body_of("u", Head("Accept-Language: " + language(i))) == "x" ? 1 : 0;
    EXPECT_EQ(there, kMost) << "one of the others has made room";
    node.store().invalidate(hash("u"), Clock::now());
    node.settle();
    node.restart();
    node.store().set_max_variants(kMost);
    for (std::size_t i = 0; i <= kMost; ++i)
        EXPECT_EQ(node.body_of("u", Head("Accept-Language: " + language(i))), "") << i;
}

TEST(StoreDiskTest, OnceItIsFullTheSecondRequestDecides) {
    Node node(Node::few_segments(4 * kMiB, DiskAdmission::second_request));
    for (int i = 0; i < 100; ++i) {
        node.put("u" + std::to_string(i), node.response(test::made_body(i, 100'000)));
        if (i % 10 == 0) node.settle();
    }
    node.settle();
    const auto before = node.store().stats().disk.disk_objects;
    EXPECT_GT(node.store().stats().disk.disk_admission_declined, 0u);
    ASSERT_FALSE(node.store().disk()->has_room(hash("new")));
    node.put("new", node.response("x"));
    node.settle();
    EXPECT_EQ(node.store().stats().disk.disk_objects, before) << "not at first";
    node.look_up("new");
    node.settle();
    EXPECT_EQ(node.store().stats().disk.disk_objects, before + 1) << "out of memory";
    node.put("again", node.response("x"));
    node.store().invalidate(hash("again"), Clock::now());
    node.put("again", node.response("y"));
    node.settle();
    node.restart();
    EXPECT_EQ(node.body_of("again"), "y") << "its key was remembered";
}

TEST(StoreDiskTest, ADeclinedVersionDoesNotBringBackTheOneBefore) {
    Node::Settings settings;
    settings.admission = DiskAdmission::second_request;
    Node node(settings);
    node.put("u", node.response("one"));
    node.settle();
    auto large = node.response("two");
    large->vary_names = "*";  // which is not written
    node.put("u", large);
    large.reset();
    node.settle();
    node.restart();
    EXPECT_EQ(node.body_of("u"), "");
}

/// Random interleavings of all that can happen to a few keys, against a model.
TEST(StoreDiskTest, AgreesWithAModelThroughRandomSteps) {
    for (unsigned seed = 0; seed < 6; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        Node node(Node::few_segments(
            kMiB, seed % 2 ? DiskAdmission::second_request : DiskAdmission::always));
        struct Known {
            int version = 0;
            bool may_be_there = false;
        };
        std::map<std::string, Known> model;
        int version = 0;
        const auto uri_of = [&] { return "u" + std::to_string(random() % 40); };
        const auto tag_of = [](const std::string& uri) { return hash("tag" + uri.substr(1, 1)); };
        const auto body = [](const std::string& uri, int number) {
            return uri + "#" + std::to_string(number) + "#" +
                   test::made_body(static_cast<std::uint64_t>(number), 200 + number % 7 * 9'000);
        };
        const auto check = [&](const std::string& uri) {
            const auto known = model[uri];
            const auto got = node.body_of(uri);
            if (!got.empty()) {
                EXPECT_TRUE(known.may_be_there) << uri;
                EXPECT_EQ(got, body(uri, known.version)) << uri;
            }
        };
        for (int step = 0; step < 1000; ++step) {
            const auto uri = uri_of();
            const auto what = random() % 1000;
            if (what < 450) {
                check(uri);
            } else if (what < 900) {
                const auto next = ++version;
                if (node.put(uri, node.response(body(uri, next), {}, {tag_of(uri)})))
                    model[uri] = {next, true};
            } else if (what < 950) {
                node.store().invalidate(hash(uri), Clock::now());
                model[uri].may_be_there = false;
            } else if (what < 970) {
                node.store().invalidate(test::of_tag(tag_of(uri)), Clock::now());
                for (auto& [other, known] : model)
                    if (tag_of(other) == tag_of(uri)) known.may_be_there = false;
            } else if (what < 973) {
                node.store().invalidate(test::of_everything(), Clock::now());
                for (auto& [other, known] : model) known.may_be_there = false;
            } else if (what < 990) {
                node.settle();
            } else {
                node.settle();
                node.restart();
            }
        }
        node.settle();
        for (const auto& [uri, known] : model) check(uri);
        for (const auto& [uri, known] : model) {
            const auto is_stored =
                node.store().peek(hash(uri), uri, Head("")) != Store::StoredAt::nowhere;
            EXPECT_EQ(node.announced(uri), is_stored ? 1 : 0) << uri;
        }
        if (::testing::Test::HasFailure()) return;
    }
}

TEST(StoreDiskTest, ServesManyThreads) {
    Node node(Node::few_segments(kMiB));
    std::vector<std::thread> threads;
    std::atomic<int> hits{0};
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&node, &hits, t] {
            std::mt19937 random(t);
            for (int i = 0; i < 1000; ++i) {
                const auto number = random() % 200;
                const auto uri = "u" + std::to_string(number);
                if (const auto got = node.body_of(uri); !got.empty()) {
                    ASSERT_EQ(got, test::made_body(number, 5'000));
                    ++hits;
                    if (random() % 20 == 0) node.store().invalidate(hash(uri), Clock::now());
                    continue;
                }
                node.put(uri, node.response(test::made_body(number, 5'000)));
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_GT(hits, 1000);
    node.settle();
    for (int i = 0; i < 200; ++i) {
        const auto uri = "u" + std::to_string(i);
        node.body_of(uri);
        EXPECT_EQ(node.announced(uri),
                  node.store().peek(hash(uri), uri, Head("")) != Store::StoredAt::nowhere ? 1 : 0);
    }
}

}  // namespace store_disk_test
}  // namespace proxy
