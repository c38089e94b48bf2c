// The store with a disk behind it: one cache to the outside. The disk is real, below the
// temporary directory.
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "proxy/disk/record_body.hpp"
#include "proxy/http/vary.hpp"
#include "proxy/net/wall_clock.hpp"
#include "proxy/storage/blocks.hpp"
#include "proxy/storage/claim.hpp"
#include "proxy/storage/store.hpp"
#include "tests/proxy/disk_kit.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/head.hpp"

namespace proxy {
namespace {

using namespace std::chrono_literals;
using test::hash;
using test::Head;

using Clock = Store::Clock;

constexpr std::uint64_t kMiB = 1 << 20;

/// A store over one directory that can be ended and begun again, and what it told its listener.
class Node {
public:
    struct Settings {
        std::uint64_t memory = 4 * kMiB;
        std::uint64_t cap = 64 * kMiB;
        std::uint64_t segment = 0;
        DiskAdmission admission = DiskAdmission::always;
        std::uint64_t queue = kMiB * 32;
    };

    /// Of a disk that is soon full.
    static Settings few_segments(std::uint64_t memory,
                                 DiskAdmission admission = DiskAdmission::always) {
        return {memory, 6 * kMiB, kMiB, admission, kMiB * 32};
    }

    Node() : Node(Settings()) {}
    explicit Node(Settings settings) : settings_(settings) { begin(); }
    ~Node() { end(); }

    void begin() {
        told_.clear();
        store_.emplace(settings_.memory, [this](summary::KeyHash key, bool stored) {
            {
                const std::lock_guard lock(mutex_);
                auto& count = told_[key.low];
                count += stored ? 1 : -1;
                EXPECT_TRUE(count == 0 || count == 1) << "told exactly once";
            }
            if (!stored && when_removed && key == removed) std::exchange(when_removed, {})();
        });
        Store::DiskUse use;
        use.tier.directories = {{directory_.path(), settings_.cap, settings_.segment}};
        use.tier.secret_mark = 1;
        use.tier.writer.queue_bytes = settings_.queue;
        use.admission = settings_.admission;
        use.remembered = 10'000;
        store_->use_disk(calls_, std::move(use), test::hasher());
        while (store_->disk()->loading()) std::this_thread::sleep_for(1ms);
    }
    void end() {
        if (store_) store_->close_disk();
        store_.reset();
    }
    void restart() {
        end();
        begin();
    }

    std::shared_ptr<StoredResponse> response(std::string_view body, std::string_view variant = {},
                                             std::vector<summary::KeyHash> tags = {},
                                             std::chrono::seconds lifetime = 1000s) {
        auto result = std::make_shared<StoredResponse>();
        result->status = 200;
        result->head = "HTTP/1.1 200 OK\r\nETag: \"" + std::string(body.substr(0, 8)) + "\"\r\n";
        result->freshness.lifetime = saturate(lifetime);
        result->freshness.source = LifetimeSource::max_age;
        result->arrival = {Clock::now(), wall_now()};
        if (!variant.empty()) {
            result->vary_names = "accept-language";
            append_variant(result->variant, result->vary_names,
                           Head("Accept-Language: " + std::string(variant)));
        }
        result->tags = std::move(tags);
        auto for_head =
            store().reserve(Store::overhead_bytes("u", result->tags.size()), Clock::now());
        auto for_body = store().reserve(body.size(), Clock::now());
        if (!for_head || !for_body) return nullptr;
        result->charge = std::move(*for_head);
        result->body->add_block(body.size(), std::move(*for_body));
        result->body->append(body);
        return result;
    }
    /// What a 304 makes of it that allows so long: another head for the same body.
    static std::shared_ptr<StoredResponse> renewed(const StoredResponse& old,
                                                   std::chrono::seconds lifetime) {
        StoredMetadata metadata = old;
        metadata.freshness.lifetime = saturate(lifetime);
        return std::make_shared<StoredResponse>(metadata, old.body);
    }
    bool put(std::string_view uri, std::shared_ptr<StoredResponse> what) {
        const auto invalidations = store().invalidations();
        if (!what) return false;
        Claim claim(store(), hash(uri), uri, nullptr);
        claim.stay_alone(invalidations);
        return claim.publish(std::move(what), Clock::now());
    }
    Store::Found look_up(std::string_view uri, const Head& request = "") {
        return store().find(hash(uri), uri, request, Clock::now());
    }
    /// As a request does it: what is on the disk is waited for.
    std::shared_ptr<const StoredResponse> get(std::string_view uri, const Head& request = "") {
        for (int rounds = 0; rounds < 1000; ++rounds) {
            const auto found = look_up(uri, request);
            if (found.response || !found.on_disk) return found.response;
            const auto recall = store().recall(hash(uri), uri, wakeup_);
            if (recall == Store::Recall::refused) return nullptr;
            if (recall == Store::Recall::waiting) std::this_thread::sleep_for(200us);
        }
        ADD_FAILURE() << uri << " does not come";
        return nullptr;
    }
    std::string body_of(std::string_view uri, const Head& request = "") {
        const auto response = get(uri, request);
        return response ? text(*response) : "";
    }
    static std::string text(const StoredResponse& response) {
        if (const auto& body = response.body->on_disk()) return text(*body);
        std::vector<boost::asio::const_buffer> buffers;
        response.body->view(0, response.body->size(), 1000, buffers);
        std::string all;
        for (const auto& buffer : buffers)
            all.append(static_cast<const char*>(buffer.data()), buffer.size());
        return all;
    }
    static std::string text(const RecordBody& body) {
        std::string all(body.size(), '\0');
        const auto bytes = std::as_writable_bytes(std::span(all));
        EXPECT_TRUE(body.read_now(bytes, 0)) << "it was in the page cache";
        return all;
    }
    /// All that was pushed is on the disk.
    void settle() {
        std::atomic<bool> done{false};
        store().disk()->end({}, [&] { done = true; });
        while (!done) std::this_thread::sleep_for(100us);
    }
    /// Fills memory with other things.
    void push_out() {
        settle();
        const auto size = static_cast<std::size_t>(settings_.memory / 64);
        for (int i = 0; i < 100; ++i) {
            put("filler " + std::to_string(i), response(std::string(size, 'f')));
            settle();
        }
    }

    /// Called when this is told to be gone, in the middle of what ends it: with the lock of its
    /// shard, so of other shards only.
    summary::KeyHash removed;
    std::function<void()> when_removed;

    Store& store() { return *store_; }
    int told(std::string_view uri) {
        const std::lock_guard lock(mutex_);
        return told_[hash(uri).low];
    }
    const std::filesystem::path& path() const { return directory_.path(); }
    test::FaultyCalls& calls() { return calls_; }

private:
    const Settings settings_;
    test::TemporaryDirectory directory_;
    test::FaultyCalls calls_;
    std::mutex mutex_;
    std::map<std::uint64_t, int> told_;
    boost::asio::io_context io_;
    std::shared_ptr<Wakeup> wakeup_ = std::make_shared<Wakeup>(io_.get_executor());
    std::optional<Store> store_;
};

TEST(StoreDiskTest, WhatMemoryEvictsIsStillThere) {
    Node node;
    const auto body = test::made_body(1, 100'000);
    ASSERT_TRUE(node.put("u", node.response(body)));
    node.push_out();
    EXPECT_EQ(node.told("u"), 1);
    const auto found = node.look_up("u");
    EXPECT_FALSE(found.response);
    EXPECT_TRUE(found.on_disk);
    EXPECT_EQ(node.body_of("u"), body);
    EXPECT_EQ(node.told("u"), 1);
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
    EXPECT_EQ(node.told("u"), 1);
    const auto after = node.get("u", "Accept-Language: de");
    ASSERT_TRUE(after);
    EXPECT_EQ(after->head, before.head);
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

TEST(StoreDiskTest, WhatIsStaleComesBackAndIsNotTold) {
    Node node;
    ASSERT_TRUE(node.put("u", node.response("old", {}, {}, 1s)));
    node.settle();
    node.restart();
    EXPECT_EQ(node.told("u"), 0);
    EXPECT_EQ(node.body_of("u"), "old") << "to be validated";
}

TEST(StoreDiskTest, WhatIsInvalidatedIsGoneHereAndAfterARestart) {
    Node node;
    for (const auto* uri : {"memory", "disk", "tagged", "tagged on disk", "kept"})
        ASSERT_TRUE(node.put(uri, node.response("x", {}, {hash(uri[0] == 't' ? "t" : "k")})));
    node.settle();
    node.restart();
    ASSERT_EQ(node.body_of("memory"), "x");
    ASSERT_EQ(node.body_of("tagged"), "x");
    EXPECT_TRUE(node.store().invalidate(hash("memory"), Clock::now()));
    EXPECT_TRUE(node.store().invalidate(hash("disk"), Clock::now()));
    EXPECT_EQ(node.told("memory"), 0);
    EXPECT_EQ(node.told("disk"), 0);
    EXPECT_EQ(node.store().invalidate_tag(hash("t"), Clock::now()), 1u);
    for (int rounds = 0; rounds < 2; ++rounds) {
        for (const auto* uri : {"memory", "disk", "tagged", "tagged on disk"}) {
            EXPECT_EQ(node.body_of(uri), "") << uri;
            EXPECT_EQ(node.told(uri), 0) << uri;
        }
        EXPECT_EQ(node.body_of("kept"), "x");
        EXPECT_EQ(node.told("kept"), 1);
        node.settle();
        node.restart();
    }
}

// Who has changed something waits for the disk only if it has something to forget.
TEST(StoreDiskTest, ItIsTheDiskThatIsWaitedFor) {
    Node node;
    auto& store = node.store();
    ASSERT_TRUE(node.put("written", node.response("x")));
    node.settle();
    const auto before = store.told_disk();
    store.invalidate(hash("nowhere"), Clock::now());
    EXPECT_EQ(store.told_disk(), before);
    store.invalidate(hash("written"), Clock::now());
    EXPECT_EQ(store.told_disk(), before + 1);
    store.invalidate(hash("written"), Clock::now());
    EXPECT_EQ(store.told_disk(), before + 1) << "once";
    store.invalidate_tag(hash("tag"), Clock::now());
    EXPECT_EQ(store.told_disk(), before + 2) << "nobody knows what carries it";
}

/// Two keys of which a purge comes to the first before the last.
std::pair<std::string, std::string> first_and_last_shard() {
    const auto shard = [](const std::string& uri) { return shard_of(hash(uri)); };
    std::string first = "a", last = "b";
    while (shard(first) > 0) first += 'a';
    while (shard(last) == 0) last += 'b';
    return {first, last};
}

TEST(StoreDiskTest, WhatIsReadFromTheDiskWhileItsTagIsPurgedDoesNotComeBack) {
    const auto [first, last] = first_and_last_shard();
    Node node;
    for (const auto& uri : {first, last})
        ASSERT_TRUE(node.put(uri, node.response("x", {}, {hash("t")})));
    node.settle();
    node.restart();
    ASSERT_EQ(node.body_of(last), "x");
    node.removed = hash(last);
    node.when_removed = [&] { EXPECT_EQ(node.body_of(first), "x") << "not ended yet"; };
    node.store().invalidate_tag(hash("t"), Clock::now());
    EXPECT_FALSE(node.when_removed);
    EXPECT_EQ(node.body_of(first), "");
    EXPECT_EQ(node.told(first), 0);
}

TEST(StoreDiskTest, WhatIsReadFromTheDiskWhileAllIsPurgedDoesNotComeBack) {
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
        node.store().invalidate_all(Clock::now());
        EXPECT_EQ(node.body_of("u"), "");
        purged = true;
        reader.join();
        EXPECT_EQ(node.body_of("u"), "");
    }
}

TEST(StoreDiskTest, ABlockThatIsReadWhileItsTargetIsPurgedDoesNotComeBack) {
    const std::string target = "http://h/large";
    auto block = block_key(target, "\"1\"", "0f", {0, 99});
    while (shard_of(hash(block)) == shard_of(hash(target))) block += '0';
    Node node;
    node.store().will_hold_blocks();
    ASSERT_TRUE(node.put(target, node.response("index")));
    ASSERT_TRUE(node.put(block, node.response("x", {}, {hash(target)})));
    node.settle();
    node.restart();
    node.store().will_hold_blocks();
    node.removed = hash(target);
    node.when_removed = [&] { EXPECT_EQ(node.body_of(block), "x") << "not ended yet"; };
    node.store().invalidate(hash(target), Clock::now());
    EXPECT_FALSE(node.when_removed);
    for (int rounds = 0; rounds < 2; ++rounds) {
        EXPECT_EQ(node.body_of(block), "");
        EXPECT_EQ(node.told(block), 0);
        node.settle();
        node.restart();
    }
}

TEST(StoreDiskTest, WhatIsStoredAfterAnInvalidationStays) {
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
    node.store().invalidate_all(Clock::now());
    for (int i = 0; i < 50; ++i) EXPECT_EQ(node.body_of("u" + std::to_string(i)), "");
    node.put("u7", node.response("new"));
    node.settle();
    for (int i = 0; i < 50; ++i) EXPECT_EQ(node.told("u" + std::to_string(i)), i == 7 ? 1 : 0) << i;
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
TEST(StoreDiskTest, WhatMakesRoomForAnotherVariantDoesNotComeBackAfterAPurge) {
    Node node({.queue = 1});  // one waits at a time
    const auto language = [](std::size_t i) { return "l" + std::to_string(i); };
    {
        std::mutex device;
        std::unique_lock busy(device);
        node.calls().on_each_write = [&] { const std::lock_guard turn(device); };
        for (std::size_t i = 0; i <= kMaxVariants; ++i)
            ASSERT_TRUE(node.put("u", node.response("x", language(i))));
        busy.unlock();
        node.settle();
        node.calls().on_each_write = {};
    }
    EXPECT_EQ(node.body_of("u", "Accept-Language: l0"), "x");
    EXPECT_EQ(node.body_of("u", "Accept-Language: l1"), "") << "it has made room";
    node.store().invalidate(hash("u"), Clock::now());
    node.settle();
    node.restart();
    for (std::size_t i = 0; i <= kMaxVariants; ++i)
        EXPECT_EQ(node.body_of("u", Head("Accept-Language: " + language(i))), "") << i;
}

TEST(StoreDiskTest, WhatAValidationForbidsIsNotTakenFromTheDisk) {
    Node node;
    node.put("u", node.response(std::string(100'000, 'x'), {}, {}, 1000s));
    node.settle();
    const auto old = node.get("u");
    ASSERT_EQ(node.store().replace(hash("u"), old.get(), Node::renewed(*old, 5s), Clock::now(),
                                   Clock::now()),
              Store::Replaced::done);
    node.settle();
    node.restart();
    ASSERT_TRUE(node.get("u"));
    EXPECT_EQ(node.get("u")->freshness.lifetime, 5s);
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

TEST(StoreDiskTest, LargeBodiesAreLeftWhereTheyStand) {
    Node node;
    const auto body = test::made_body(1, 1'000'000);
    ASSERT_TRUE(node.put("u", node.response(body)));
    node.settle();
    node.restart();
    auto got = node.get("u");
    ASSERT_TRUE(got);
    if (!got->body->on_disk()) GTEST_SKIP() << "a kernel or file system that cannot tell";
    EXPECT_EQ(got->body->size(), body.size());
    EXPECT_TRUE(Node::text(*got) == body);
    EXPECT_LT(node.store().stats().memory_bytes, 10'000u);
    EXPECT_EQ(node.look_up("u").response, got) << "its head is in memory";
    EXPECT_EQ(node.told("u"), 1);
}

TEST(StoreDiskTest, OfALargeBodyThatThisProcessWroteTheHeadIsReadAtOnce) {
    Node node;
    const auto body = test::made_body(1, 1'000'000);
    ASSERT_TRUE(node.put("u", node.response(body)));
    node.push_out();
    ASSERT_FALSE(node.look_up("u").response);
    const auto recall = node.store().recall(hash("u"), "u", nullptr);
    if (recall == Store::Recall::waiting) GTEST_SKIP() << "a kernel that cannot tell";
    EXPECT_EQ(recall, Store::Recall::done);
    const auto got = node.look_up("u").response;
    ASSERT_TRUE(got && got->body->on_disk());
    EXPECT_TRUE(Node::text(*got) == body);
}

/// How many files this process holds open that have no name any more.
int unnamed_segments() {
    int count = 0;
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        const auto name = std::filesystem::read_symlink(each, ignored).string();
        count += name.find(".segment (deleted)") != std::string::npos ? 1 : 0;
    }
    return count;
}

TEST(StoreDiskTest, OnlyWhoSendsABodyKeepsAFileThatWasGivenBack) {
    Node node(Node::few_segments(64 * kMiB));  // of memory nothing goes by itself
    std::map<std::string, std::string> bodies;
    for (int i = 0; i < 4; ++i) {
        const auto uri = "u" + std::to_string(i);
        bodies[uri] = test::made_body(static_cast<std::uint64_t>(i), 100'000);
        ASSERT_TRUE(node.put(uri, node.response(bodies[uri])));
    }
    node.settle();
    node.restart();
    for (const auto& [uri, body] : bodies) ASSERT_EQ(node.body_of(uri), body);
    auto sent = node.get("u0");
    if (!sent->body->on_disk()) GTEST_SKIP() << "a kernel or file system that cannot tell";
    for (int i = 0; i < 120; ++i) {  // twice the cap: all files are new then
        node.put("filler " + std::to_string(i), node.response(std::string(100'000, 'f')));
        node.settle();
    }
    EXPECT_EQ(Node::text(*sent), bodies["u0"]) << "it is still being sent";
    EXPECT_EQ(unnamed_segments(), 1);
    sent.reset();
    for (int i = 0; i < 1'000 && unnamed_segments() > 0; ++i) std::this_thread::sleep_for(10ms);
    EXPECT_EQ(unnamed_segments(), 0);
    for (const auto& [uri, body] : bodies) {
        const auto got = node.body_of(uri);
        EXPECT_TRUE(got.empty() || got == body) << uri;
        EXPECT_EQ(node.told(uri), got.empty() ? 0 : 1) << uri;
    }
}

TEST(StoreDiskTest, ASpoiltBodyThatWasLeftThereIsForgotten) {
    Node node;
    const auto body = test::made_body(1, 300'000);
    ASSERT_TRUE(node.put("u", node.response(body)));
    node.settle();
    node.restart();
    const auto got = node.get("u");
    ASSERT_TRUE(got);
    const auto on_disk = got->body->on_disk();
    if (!on_disk) GTEST_SKIP() << "a kernel or file system that cannot tell";
    for (const auto& each : test::segments_in(node.path()))
        std::filesystem::resize_file(each, 100'000);
    std::atomic<bool> answered{false};
    on_disk->read_slice(on_disk, 0, got, [&](const DiskResult<DiskBytes>& bytes) {
        EXPECT_FALSE(bytes);
        answered = true;
    });
    while (!answered) std::this_thread::sleep_for(100us);
    EXPECT_FALSE(node.put("u", std::make_shared<StoredResponse>(*got, got->body)))
        << "a 304 cannot bring it back";
    EXPECT_EQ(node.told("u"), 0);
    EXPECT_FALSE(node.look_up("u").response);
    EXPECT_FALSE(node.look_up("u").on_disk);
}

TEST(StoreDiskTest, WhatWasFlippedOnTheDiskIsNeverLeftThere) {
    Node node;
    ASSERT_TRUE(node.put("u", node.response(test::made_body(1, 300'000))));
    node.settle();
    node.end();
    for (const auto& each : test::segments_in(node.path())) test::spoil(each, 200'000);
    node.begin();
    EXPECT_EQ(node.told("u"), 1);
    EXPECT_EQ(node.body_of("u"), "");
    EXPECT_EQ(node.told("u"), 0);
}

TEST(StoreDiskTest, AValidationLeavesALargeBodyWhereItStands) {
    for (const auto lifetime : {2000s, 5s}) {
        Node node;
        const auto body = test::made_body(1, 300'000);
        ASSERT_TRUE(node.put("u", node.response(body)));
        node.settle();
        node.restart();
        const auto old = node.get("u");
        ASSERT_TRUE(old);
        ASSERT_EQ(node.store().replace(hash("u"), old.get(), Node::renewed(*old, lifetime),
                                       Clock::now(), Clock::now()),
                  Store::Replaced::done);
        node.settle();
        EXPECT_EQ(node.body_of("u"), body);
        EXPECT_EQ(node.get("u")->freshness.lifetime, lifetime);
        node.restart();
        const auto after = node.get("u");
        // What forbids more must not be undone by a restart; what allows more is kept by memory.
        if (lifetime == 5s) {
            EXPECT_TRUE(!after || after->freshness.lifetime == 5s);
        } else {
            EXPECT_TRUE(after);
        }
    }
}

TEST(StoreDiskTest, WhatA304MadeGoodAgainIsNotWrittenAgain) {
    for (const bool in_memory : {true, false}) {
        SCOPED_TRACE(in_memory);
        Node node;
        const auto body = test::made_body(1, 300'000);
        ASSERT_TRUE(node.put("u", node.response(body)));
        node.settle();
        if (!in_memory) node.restart();
        const auto written = node.store().disk()->status()[0].written;
        auto old = node.get("u");
        ASSERT_TRUE(old);
        ASSERT_TRUE(node.put("u", Node::renewed(*old, 2000s)));
        old.reset();
        node.settle();
        EXPECT_EQ(node.get("u")->freshness.lifetime, 2000s);
        EXPECT_EQ(node.store().disk()->status()[0].written, written);
        EXPECT_EQ(node.store().stats().disk.disk_objects, 1u);
        node.restart();
        EXPECT_EQ(node.body_of("u"), body);
    }
}

TEST(StoreDiskTest, A304LeavesWhatMemoryLacksOfTheOthers) {
    Node::Settings settings;
    settings.memory = 256 << 10;
    Node node(settings);
    const std::string german = "hallo", english = test::made_body(1, 15'000);
    ASSERT_TRUE(node.put("u", node.response(german, "de")));
    ASSERT_TRUE(node.put("u", node.response(english, "en")));
    node.settle();
    node.restart();
    std::vector<std::shared_ptr<const StoredResponse>> in_use;
    for (auto filler = node.response(std::string(8'000, 'f')); filler;
         filler = node.response(std::string(8'000, 'f')))
        in_use.push_back(std::move(filler));
    EXPECT_FALSE(node.get("u", "Accept-Language: en")) << "there is no room for it";
    const auto old = node.look_up("u", "Accept-Language: de").response;
    ASSERT_TRUE(old) << "it needs little";
    EXPECT_TRUE(node.put("u", Node::renewed(*old, 2000s)));
    in_use.clear();
    EXPECT_EQ(node.body_of("u", "Accept-Language: en"), english);
    node.settle();
    node.restart();
    EXPECT_EQ(node.body_of("u", "Accept-Language: en"), english);
    EXPECT_EQ(node.body_of("u", "Accept-Language: de"), german);
}

TEST(StoreDiskTest, WhatCannotBeValidatedAsItsBodyIsLostDoesNotStay) {
    Node node;
    ASSERT_TRUE(node.put("u", node.response(test::made_body(1, 300'000))));
    node.settle();
    node.restart();
    const auto old = node.get("u");
    ASSERT_TRUE(old);
    if (!old->body->on_disk()) GTEST_SKIP() << "a kernel or file system that cannot tell";
    ASSERT_TRUE(node.put("u", Node::renewed(*old, 5s))) << "written anew, or given up there";
    node.settle();
    const auto stricter = node.look_up("u").response;
    ASSERT_TRUE(stricter);
    EXPECT_FALSE(node.put("u", Node::renewed(*stricter, 2000s)));
    EXPECT_FALSE(node.look_up("u").response) << "or it would be validated in vain for ever";
    if (const auto again = node.get("u"))
        EXPECT_TRUE(node.put("u", Node::renewed(*again, 2000s)));
    else
        EXPECT_EQ(node.told("u"), 0);
}

// The same Expires, told twice, gives lifetimes that differ by what Date and Age are rounded.
TEST(StoreDiskTest, A304ThatEndsItASecondSoonerLeavesItOnTheDisk) {
    Node node;
    ASSERT_TRUE(node.put("u", node.response(test::made_body(1, 300'000))));
    node.settle();
    node.restart();
    auto response = node.get("u");
    ASSERT_TRUE(response);
    const auto written = node.store().disk()->status()[0].written;
    for (const auto lifetime : {999s, 1000s, 999s}) {
        ASSERT_TRUE(node.put("u", Node::renewed(*response, lifetime))) << "it can be validated";
        response = node.get("u");
        ASSERT_TRUE(response);
        EXPECT_EQ(response->freshness.lifetime, lifetime);
    }
    node.settle();
    EXPECT_EQ(node.store().stats().disk.disk_objects, 1u);
    EXPECT_EQ(node.store().disk()->status()[0].written, written);
}

TEST(StoreDiskTest, WhatA304ForbidsIsForbiddenAfterARestart) {
    Node node;
    const auto body = test::made_body(1, 300'000);
    ASSERT_TRUE(node.put("u", node.response(body)));
    node.settle();
    auto old = node.get("u");
    ASSERT_TRUE(node.put("u", Node::renewed(*old, 5s)));
    old.reset();
    node.settle();
    EXPECT_EQ(node.store().stats().disk.disk_objects, 1u);
    node.restart();
    ASSERT_TRUE(node.get("u"));
    EXPECT_EQ(node.get("u")->freshness.lifetime, 5s);
    EXPECT_EQ(node.body_of("u"), body);
}

/// Random interleavings of all that can happen to a few keys, against a model.
TEST(StoreDiskTest, IsOneCacheWhateverHappens) {
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
                node.store().invalidate_tag(tag_of(uri), Clock::now());
                for (auto& [other, known] : model)
                    if (tag_of(other) == tag_of(uri)) known.may_be_there = false;
            } else if (what < 973) {
                node.store().invalidate_all(Clock::now());
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
            const auto is_held =
                node.store().peek(hash(uri), uri, Head("")) != Store::Where::nowhere;
            EXPECT_EQ(node.told(uri), is_held ? 1 : 0) << uri;
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
        EXPECT_EQ(node.told(uri),
                  node.store().peek(hash(uri), uri, Head("")) != Store::Where::nowhere ? 1 : 0);
    }
}

}  // namespace
}  // namespace proxy
