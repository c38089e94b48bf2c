#include <gtest/gtest.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <span>
#include <thread>

#include "proxy/http/vary.hpp"
#include "proxy/storage/blocks.hpp"
#include "proxy/storage/claim.hpp"
#include "proxy/storage/store.hpp"
#include "tests/proxy/head.hpp"

namespace proxy {
namespace {

using namespace std::chrono_literals;
using Clock = Store::Clock;
using test::Head;

constexpr auto kSecret = [] {
    std::array<unsigned char, summary::KeyHasher::kSecretBytes> secret{};
    for (std::size_t i = 0; i < secret.size(); ++i)
        secret[i] = static_cast<unsigned char>(i * 37 + 11);
    return secret;
}();
const Clock::time_point kNow = Clock::time_point(1000h);

std::string text_of(const std::vector<boost::asio::const_buffer>& buffers) {
    std::string text;
    for (const auto& buffer : buffers)
        text.append(static_cast<const char*>(buffer.data()), buffer.size());
    return text;
}

TEST(Body, KeepsWhatIsAppendedAcrossBlocks) {
    Body body;
    for (const auto* part : {"abcd", "efgh", "ij"}) {
        body.add_block(4, {});
        EXPECT_EQ(body.append(part), std::string_view(part).size());
    }
    EXPECT_EQ(body.size(), 10u);
    EXPECT_EQ(body.room(), 2u);
    for (std::uint64_t offset = 0; offset <= 10; ++offset) {
        std::vector<boost::asio::const_buffer> out;
        EXPECT_EQ(body.view(offset, 100, 100, out), 10 - offset);
        EXPECT_EQ(text_of(out), std::string("abcdefghij").substr(offset));
    }
}

TEST(Body, ShowsNoMoreThanAskedFor) {
    Body body;
    for (int i = 0; i < 3; ++i) {
        body.add_block(4, {});
        body.append("abcd");
    }
    std::vector<boost::asio::const_buffer> out;
    EXPECT_EQ(body.view(1, 5, 100, out), 5u);
    EXPECT_EQ(text_of(out), "bcdab");
    out.clear();
    EXPECT_EQ(body.view(1, 100, 2, out), 7u);
    EXPECT_EQ(out.size(), 2u);
}

TEST(Body, DropsOnlyWholeBlocksThatAreBehind) {
    MemoryBudget budget(100);
    Body body;
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(budget.take(4));
        body.add_block(4, Charge(budget, 4));
        body.append(i < 2 ? "abcd" : "ef");
    }
    body.drop_before(3);
    EXPECT_EQ(body.dropped(), 0u);
    body.drop_before(5);
    EXPECT_EQ(body.dropped(), 4u);
    EXPECT_EQ(budget.used(), 8u);
    body.drop_before(10);  // the last block still has room: it stays
    EXPECT_EQ(body.dropped(), 8u);
    std::vector<boost::asio::const_buffer> out;
    EXPECT_EQ(body.view(8, 100, 100, out), 2u);
    EXPECT_EQ(text_of(out), "ef");
}

TEST(MemoryBudget, TakesUpToItsCapAndGetsItBackWithTheCharge) {
    MemoryBudget budget(10);
    EXPECT_FALSE(budget.take(11));
    {
        ASSERT_TRUE(budget.take(10));
        Charge charge(budget, 10);
        Charge moved(std::move(charge));
        EXPECT_FALSE(budget.take(1));
    }
    EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, GivesEachWindowLessTheMoreThereAre) {
    MemoryBudget windows(1000);
    EXPECT_EQ(window_share(windows, 100), 100u);
    EXPECT_EQ(window_share(windows, 1000), 250u);
    ASSERT_TRUE(windows.take(900));
    EXPECT_EQ(window_share(windows, 100), 25u);
    windows.set_cap(800);  // a reload
    EXPECT_EQ(window_share(windows, 100), 0u);
}

TEST(MemoryBudget, LeavesHalfToWindows) {
    MemoryBudget windows(1000);
    auto room = read_ahead(windows, 400);
    ASSERT_TRUE(room);
    EXPECT_FALSE(read_ahead(windows, 101));
    room.reset();
    EXPECT_TRUE(read_ahead(windows, 101));
    EXPECT_EQ(windows.used(), 0u);
}

/// One object's place in the queue.
struct Item : EvictionQueue::Node {
    explicit Item(std::uint64_t number) { hash = {number, number}; }
};

TEST(EvictionQueue, LetsAScanPassAndKeepsWhatIsUsed) {
    EvictionQueue queue;
    std::vector<std::unique_ptr<Item>> items;
    for (std::uint64_t i = 0; i < 100; ++i) {
        items.push_back(std::make_unique<Item>(i));
        queue.insert(*items.back(), 1);
        EvictionQueue::touch(*items.back());
    }
    const std::set<EvictionQueue::Node*> used = [&] {
        std::set<EvictionQueue::Node*> all;
        for (const auto& item : items) all.insert(item.get());
        return all;
    }();
    std::size_t lost = 0;
    for (std::uint64_t i = 100; i < 1100; ++i) {  // each seen once
        items.push_back(std::make_unique<Item>(i));
        queue.insert(*items.back(), 1);
        if (queue.bytes() > 100) lost += used.contains(queue.pop_victim());
    }
    EXPECT_LE(lost, 15u) << "at most the share of the small queue";
}

TEST(EvictionQueue, CountsBytesAndEndsEmpty) {
    EvictionQueue queue;
    std::vector<std::unique_ptr<Item>> items;
    for (std::uint64_t i = 0; i < 10; ++i) {
        items.push_back(std::make_unique<Item>(i));
        queue.insert(*items.back(), 10);
    }
    queue.insert(*items[3], 25);  // grew
    EXPECT_EQ(queue.bytes(), 115u);
    queue.remove(*items[3]);
    EXPECT_EQ(queue.bytes(), 90u);
    for (int i = 0; i < 9; ++i) EXPECT_NE(queue.pop_victim(), nullptr);
    EXPECT_EQ(queue.pop_victim(), nullptr);
    EXPECT_EQ(queue.bytes(), 0u);
}

TEST(EvictionQueue, RemembersWhatItLetGoForAWhile) {
    EvictionQueue queue;
    Item first(1), other(2);
    queue.insert(first, 1);
    EXPECT_EQ(queue.pop_victim(), &first);
    queue.insert(first, 1);  // back soon: straight to the main queue
    queue.insert(other, 1);
    EXPECT_EQ(queue.pop_victim(), &other);
}

TEST(EvictionQueue, HoldsAsideWhatIsInUseAndCountsItNot) {
    std::atomic<std::uint64_t> total{0};
    EvictionQueue queue;
    queue.count_into(total);
    Item used(1), other(2);
    queue.insert(used, 10);
    queue.insert(other, 5);
    ASSERT_EQ(queue.pop_victim(), &used);
    queue.hold(used);
    EXPECT_EQ(total, 5u);
    EXPECT_EQ(queue.pop_victim(), &other);
    EXPECT_EQ(queue.pop_victim(), nullptr);
    queue.insert(used, 20);  // it grew meanwhile
    queue.release([](const auto&) { return true; });
    EXPECT_EQ(queue.pop_victim(), nullptr);
    EXPECT_EQ(total, 0u);
    queue.release([](const auto&) { return false; });
    EXPECT_EQ(total, 20u);
    EXPECT_EQ(queue.pop_victim(), &used);
    EXPECT_EQ(total, 0u);
}

summary::KeyHash hash(std::string_view uri) {
    static const summary::KeyHasher hasher(std::as_bytes(std::span(kSecret)));
    return hasher(uri);
}

/// A store and what it told its listener.
class StoreTest : public ::testing::Test {
protected:
    std::shared_ptr<StoredResponse> response(std::string_view body,
                                             std::chrono::seconds lifetime = 100s) {
        return response_in(store, body, lifetime);
    }
    static std::shared_ptr<StoredResponse> response_in(Store& store, std::string_view body,
                                                       std::chrono::seconds lifetime = 100s) {
        auto result = std::make_shared<StoredResponse>();
        result->status = 200;
        result->head = "HTTP/1.1 200 OK\r\n";
        result->freshness.lifetime = saturate(lifetime);
        result->arrival.steady = kNow;
        result->body = std::make_shared<Body>();
        auto charge = store.reserve(body.size(), kNow);
        if (!charge) return nullptr;
        result->body->add_block(body.size(), std::move(*charge));
        result->body->append(body);
        return result;
    }
    bool put(std::string_view uri, std::shared_ptr<StoredResponse> what) {
        return store_in(store, uri, find(uri).generation, std::move(what));
    }
    static bool store_in(Store& store, std::string_view uri, std::uint64_t generation,
                         std::shared_ptr<StoredResponse> what) {
        Claim claim(store, hash(uri), uri, nullptr);
        claim.stay_alone(generation);
        return claim.publish(std::move(what), kNow);
    }
    Claim claim(std::string_view uri, std::shared_ptr<Fill> fill) {
        return Claim(store, hash(uri), uri, std::move(fill));
    }
    Store::Found find(std::string_view uri, const Head& request = "") {
        return store.find(hash(uri), uri, request, kNow);
    }
    std::shared_ptr<Fill> fill() {
        return std::make_shared<Fill>(std::make_shared<Wakeup>(io.get_executor()), 1000);
    }
    int told(std::string_view uri) const {
        const auto found = announced.find(hash(uri).low);
        return found == announced.end() ? 0 : found->second;
    }

    boost::asio::io_context io;
    std::map<std::uint64_t, int> announced;  // +1 stored, -1 removed
    Store store{10'000, [this](const summary::Key& key, bool stored) {
                    EXPECT_EQ(key.hash, hash(key.uri));
                    auto& count = announced[key.hash.low];
                    count += stored ? 1 : -1;
                    EXPECT_TRUE(count == 0 || count == 1) << "told exactly once";
                }};
};

TEST_F(StoreTest, FindsWhatWasPublished) {
    EXPECT_EQ(find("u").response, nullptr);
    ASSERT_TRUE(put("u", response("one")));
    EXPECT_EQ(find("u").response->body->size(), 3u);
    EXPECT_EQ(store.stats().objects, 1u);
    EXPECT_EQ(told("u"), 1);
}

TEST_F(StoreTest, TellsNobodyOfWhatCannotBeReused) {
    put("short", response("x", 2s));
    auto validated = response("x");
    validated->freshness.always_validate = true;
    put("no-cache", validated);
    EXPECT_EQ(told("short"), 0);
    EXPECT_EQ(told("no-cache"), 0);
    put("short", response("x", 10s));
    EXPECT_EQ(told("short"), 1);
    put("short", response("x", 1s));  // once told it stays told until it is removed
    EXPECT_EQ(told("short"), 1);
    store.invalidate(hash("short"), kNow);
    EXPECT_EQ(told("short"), 0);
}

TEST_F(StoreTest, EvictsToStayUnderItsCapAndTellsOfIt) {
    for (int i = 0; i < 50; ++i) {
        auto next = response(std::string(1000, 'x'));
        ASSERT_NE(next, nullptr);
        put("u" + std::to_string(i), next);
        EXPECT_LE(store.stats().memory_bytes, 10'000u);
    }
    const auto stats = store.stats();
    EXPECT_EQ(stats.objects + stats.evictions, 50u);
    std::uint64_t standing = 0;
    for (const auto& [key, count] : announced) standing += static_cast<std::uint64_t>(count);
    EXPECT_EQ(standing, stats.objects);
}

TEST_F(StoreTest, TellsWhatIsThereOrOnItsWay) {
    const auto is_there = [&](const std::string& uri) {
        return store.peek(hash(uri), uri, Head(""));
    };
    EXPECT_FALSE(is_there("used"));
    put("used", response("x"));
    EXPECT_TRUE(is_there("used"));
    EXPECT_FALSE(store.peek(hash("used"), "another of this hash", Head("")));
    const auto coming = fill();
    {
        auto mine = claim("coming", coming);
        EXPECT_TRUE(mine.take({}).leads);
        EXPECT_TRUE(is_there("coming"));
    }
    EXPECT_FALSE(is_there("coming"));
}

TEST_F(StoreTest, KeepsNothingForItsBeingPeekedAt) {
    // What is left of 100 objects after twice as many, when every other one was looked at.
    const auto survivors = [](const std::function<void(Store&, const std::string&)>& look) {
        Store one(100'000, [](const summary::Key&, bool) {});
        const auto put_into = [&](const std::string& uri) {
            store_in(one, uri, 0, response_in(one, std::string(500, 'x')));
        };
        const auto uri = [](int i) { return "u" + std::to_string(i); };
        for (int i = 0; i < 100; ++i) put_into(uri(i));
        for (int i = 0; i < 100; i += 2) look(one, uri(i));
        for (int i = 100; i < 300; ++i) put_into(uri(i));
        std::set<std::string> left;
        for (int i = 0; i < 100; ++i)
            if (one.peek(hash(uri(i)), uri(i), Head(""))) left.insert(uri(i));
        return left;
    };
    const auto unseen = survivors([](Store&, const std::string&) {});
    EXPECT_EQ(survivors([](Store& one, const std::string& uri) {
                  EXPECT_TRUE(one.peek(hash(uri), uri, Head("")));
              }),
              unseen);
    EXPECT_NE(survivors([](Store& one, const std::string& uri) {
                  one.find(hash(uri), uri, Head(""), kNow);
              }),
              unseen);
}

TEST(Blocks, OfARangeFallIntoPartsOfAboutTheSameSize) {
    const Blocks blocks{1'000'000, 10};
    for (const auto& range : {ByteRange{0, 999'999}, {13, 27}, {5, 5}, {995, 77'772}}) {
        const auto count = blocks.touched_by(range);
        EXPECT_EQ(count, range.last / 10 - range.first / 10 + 1);
        for (const auto parts : {std::uint64_t(1), std::min<std::uint64_t>(7, count), count}) {
            auto next = range.first;
            for (std::uint64_t i = 0; i < parts; ++i) {
                const auto part = blocks.part_of(range, parts, i);
                EXPECT_EQ(part.first, next);
                EXPECT_LE(blocks.touched_by(part), count / parts + 1);
                next = part.last + 1;
            }
            EXPECT_EQ(next, range.last + 1);
        }
    }
}

TEST_F(StoreTest, EvictsNothingThatIsRead) {
    put("u", response(std::string(9000, 'x')));
    auto held = find("u").response;
    EXPECT_EQ(response(std::string(5000, 'y')), nullptr);
    EXPECT_EQ(store.stats().memory_bytes, 9000u);
    EXPECT_NE(find("u").response, nullptr) << "it would free nothing";
    EXPECT_EQ(store.stats().evictions, 0u);
    held.reset();
    EXPECT_NE(response(std::string(5000, 'y')), nullptr);
    EXPECT_EQ(store.stats().evictions, 1u);
}

TEST_F(StoreTest, CountsReplacedBytesUntilTheirReaderIsDone) {
    put("u", response(std::string(9000, 'x')));
    auto held = find("u").response;
    store.invalidate(hash("u"), kNow);
    EXPECT_EQ(response(std::string(5000, 'y')), nullptr);
    EXPECT_EQ(store.stats().memory_bytes, 9000u);
    held.reset();
    EXPECT_NE(response(std::string(5000, 'y')), nullptr);
}

TEST_F(StoreTest, IsNotEmptiedByWhatSlowReadersHold) {
    put("large", response(std::string(5000, 'x')));
    for (int i = 0; i < 4; ++i) put(std::to_string(i), response(std::string(1000, 'x')));
    auto held = find("large").response;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(response(std::string(4000, 'y')), nullptr);
    EXPECT_NE(find("large").response, nullptr);
    EXPECT_GE(store.stats().objects, 3u) << "a quarter of the cap is left to others";
    EXPECT_NE(response(std::string(1000, 'y')), nullptr) << "what fits beside it is stored";
    held.reset();
    EXPECT_NE(response(std::string(4000, 'y')), nullptr);
}

TEST_F(StoreTest, KeepsAtMostSoManyVariants) {
    for (std::size_t i = 0; i < kMaxVariants + 5; ++i) {
        const auto language = "Accept-Language: l" + std::to_string(i);
        const Head request{std::string_view(language)};
        auto next = response("x");
        next->vary_names = "accept-language";
        append_variant(next->variant, next->vary_names, request);
        put("u", next);
        EXPECT_NE(find("u", Head(std::string_view(language))).response, nullptr);
    }
    EXPECT_TRUE(find("u", "Accept-Language: l0").other_variants);
    EXPECT_NE(find("u", "Accept-Language: l10").response, nullptr);
    EXPECT_EQ(store.stats().objects, 1u);
}

TEST_F(StoreTest, HasOneLeaderForEachUri) {
    const auto leading = fill();
    auto first = claim("u", leading), second = claim("u", fill());
    EXPECT_TRUE(first.take(find("u")).leads);
    const auto taken = second.take(find("u"));
    EXPECT_FALSE(taken.leads);
    EXPECT_EQ(taken.other, leading);
    first.abandon(false, kNow);
    EXPECT_TRUE(second.take(find("u")).leads);
}

TEST_F(StoreTest, HasNoLeaderAnyMoreWhenItsClaimIsGone) {
    auto next = claim("u", fill());
    {
        auto leading = claim("u", fill()), following = claim("u", fill());
        EXPECT_TRUE(leading.take(find("u")).leads);
        EXPECT_FALSE(following.take(find("u")).leads);
        { auto another = claim("u", fill()); }  // one that leads nothing ends nothing
        EXPECT_NE(find("u").fill, nullptr);
    }
    EXPECT_EQ(find("u").fill, nullptr);
    EXPECT_FALSE(find("u").unshareable);
    EXPECT_TRUE(next.take(find("u")).leads);
}

TEST_F(StoreTest, EndsAClaimOnce) {
    auto first = claim("u", fill()), second = claim("u", fill());
    EXPECT_TRUE(first.take(find("u")).leads);
    first.abandon(false, kNow);
    EXPECT_TRUE(second.take(find("u")).leads);
    first.abandon(false, kNow);
    EXPECT_NE(find("u").fill, nullptr) << "that is another's claim";
}

TEST_F(StoreTest, SaysWhenSomethingWasStoredMeanwhile) {
    const auto seen = find("u");
    put("u", response("x"));
    auto late = claim("u", fill());
    const auto taken = late.take(seen);
    EXPECT_EQ(taken.other, nullptr);
    EXPECT_FALSE(taken.leads);
}

TEST_F(StoreTest, RemembersForAWhileWhatIsNotWorthWaitingFor) {
    auto first = claim("u", fill());
    first.take(find("u"));
    first.abandon(true, kNow);
    EXPECT_TRUE(find("u").unshareable);
    EXPECT_FALSE(store.find(hash("u"), "u", {}, kNow + kHitForMiss).unshareable);
}

TEST_F(StoreTest, DoesNotStoreWhatWasInvalidatedWhileItWasFetched) {
    auto first = claim("u", fill()), newcomer = claim("u", fill());
    first.take(find("u"));
    store.invalidate(hash("u"), kNow);
    EXPECT_TRUE(newcomer.take(find("u")).leads) << "newcomers fetch anew";
    EXPECT_FALSE(first.publish(response("old"), kNow));
    EXPECT_EQ(find("u").response, nullptr);
}

TEST_F(StoreTest, StoresWhatWasFetchedWhileOthersWereInvalidated) {
    const auto seen = find("u");
    for (int i = 0; i < 20'000; ++i) store.invalidate(hash(std::to_string(i)), kNow);
    EXPECT_TRUE(store_in(store, "u", seen.generation, response("x")));
}

TEST_F(StoreTest, DropsEverythingAndWhatIsUnderWayWhenItIsOrderedTo) {
    put("one", response("x"));
    put("two", response("x"));
    auto first = claim("u", fill());
    first.take(find("u"));
    store.invalidate_all(kNow + 5s);
    EXPECT_EQ(store.stats().objects, 0u);
    EXPECT_EQ(told("one"), 0);
    EXPECT_FALSE(first.publish(response("old"), kNow));
    EXPECT_EQ(store.invalidated_at(hash("never seen")), kNow + 5s);
    EXPECT_TRUE(put("u", response("new")));
    EXPECT_EQ(store.stats().objects, 1u);
}

std::shared_ptr<StoredResponse> tagged(std::shared_ptr<StoredResponse> plain,
                                       std::initializer_list<std::string_view> tags) {
    for (const auto tag : tags) plain->tags.push_back(hash(tag));
    std::sort(plain->tags.begin(), plain->tags.end(), precedes);
    return plain;
}

TEST_F(StoreTest, DropsByTagWhatCarriesItAndNothingElse) {
    for (int i = 0; i < 50; ++i) put(std::to_string(i), tagged(response("x"), {"a", "b"}));
    put("other", tagged(response("x"), {"b"}));
    put("plain", response("x"));
    EXPECT_EQ(store.invalidate_tag(hash("a"), kNow), 50u);
    EXPECT_EQ(store.stats().objects, 2u);
    EXPECT_EQ(told("0"), 0);
    EXPECT_EQ(store.invalidate_tag(hash("a"), kNow), 0u);
    EXPECT_EQ(store.invalidate_tag(hash("b"), kNow), 1u);
    EXPECT_NE(find("plain").response, nullptr);
}

TEST_F(StoreTest, DropsTheBlocksOfABodyWithItsUri) {
    store.will_hold_blocks();
    put("u", response("index"));
    put("u \"tag\" 0-9", tagged(response("x"), {"u"}));
    put("v \"tag\" 0-9", tagged(response("x"), {"v"}));
    EXPECT_TRUE(store.invalidate(hash("u"), kNow));
    EXPECT_EQ(store.stats().objects, 1u);
    EXPECT_NE(find("v \"tag\" 0-9").response, nullptr);
}

TEST_F(StoreTest, KnowsTheTagsOfWhatReplacedAResponse) {
    put("u", tagged(response("x"), {"old"}));
    put("u", tagged(response("y"), {"new"}));
    EXPECT_EQ(store.invalidate_tag(hash("old"), kNow), 0u);
    EXPECT_NE(find("u").response, nullptr);
    EXPECT_EQ(store.invalidate_tag(hash("new"), kNow), 1u);
}

TEST_F(StoreTest, DoesNotStoreWhatATagEndedWhileItWasFetched) {
    auto first = claim("u", fill()), newcomer = claim("u", fill());
    first.take(find("u"));
    const auto tags = std::vector{hash("a")};
    EXPECT_TRUE(first.tag(tags));
    EXPECT_EQ(store.invalidate_tag(hash("a"), kNow), 0u) << "nothing was stored yet";
    EXPECT_TRUE(newcomer.take(find("u")).leads) << "newcomers fetch anew";
    EXPECT_FALSE(first.publish(tagged(response("old"), {"a"}), kNow));
    EXPECT_EQ(store.invalidated_at(hash("v"), tags), kNow);
}

TEST_F(StoreTest, LetsNobodyFollowWhatATagEndedBeforeItsHeadCame) {
    auto first = claim("u", fill());
    first.take(find("u"));
    store.invalidate_tag(hash("a"), kNow);
    EXPECT_FALSE(first.tag(std::vector{hash("a")}));
    EXPECT_TRUE(first.tag(std::vector{hash("b")}));
}

TEST_F(StoreTest, RefusesNoCopyForWhatOthersInvalidated) {
    store.will_hold_blocks();
    for (int i = 0; i < 100'000; ++i) store.invalidate(hash(std::to_string(i)), kNow);
    int refused = 0;
    for (int i = 0; i < 1'000; ++i)
        refused += store.invalidated_at(hash("u" + std::to_string(i))).has_value();
    EXPECT_LE(refused, 5);
    EXPECT_EQ(store.invalidated_at(hash("7")), kNow);
}

TEST(InvalidationMemory, KnowsWhatWasInvalidatedSinceAndWhen) {
    InvalidationMemory memory;
    const auto before = memory.generation();
    EXPECT_FALSE(memory.noted_since(hash("a"), before));
    EXPECT_EQ(memory.last(hash("a")), std::nullopt);
    memory.note(hash("a"), kNow);
    EXPECT_TRUE(memory.noted_since(hash("a"), before));
    EXPECT_FALSE(memory.noted_since(hash("b"), before));
    EXPECT_FALSE(memory.noted_since(hash("a"), memory.generation()));
    memory.note(hash("a"), kNow + 1s);
    EXPECT_EQ(memory.last(hash("a")), kNow + 1s);
    EXPECT_EQ(memory.last(hash("b")), std::nullopt);
}

/// Two one by one, then two filters for ten each.
const InvalidationMemory::Limits kFew{2, 10, 2};

TEST(InvalidationMemory, KnowsMoreOrLessWhenWhatIsLongAgoWas) {
    InvalidationMemory memory(kFew);
    const auto before = memory.generation();
    memory.note(hash("a"), kNow);
    const auto after_a = memory.generation();
    memory.note(hash("b"), kNow + 1s);
    memory.note(hash("c"), kNow + 2s);
    memory.note(hash("d"), kNow + 3s);
    EXPECT_EQ(memory.last(hash("a")), kNow + 1s) << "a and b share a stretch";
    EXPECT_EQ(memory.last(hash("b")), kNow + 1s);
    EXPECT_EQ(memory.last(hash("c")), kNow + 2s);
    EXPECT_EQ(memory.last(hash("never")), std::nullopt);
    EXPECT_TRUE(memory.noted_since(hash("a"), before));
    EXPECT_TRUE(memory.noted_since(hash("a"), after_a)) << "on the safe side";
    EXPECT_FALSE(memory.noted_since(hash("a"), memory.generation() - 2));
    EXPECT_FALSE(memory.noted_since(hash("never"), before));
    memory.note(hash("a"), kNow + 4s);
    EXPECT_EQ(memory.last(hash("a")), kNow + 4s);
}

TEST(InvalidationMemory, TakesAllForInvalidatedWhenItHasForgottenTooMuchToTell) {
    InvalidationMemory memory(kFew);
    const auto before = memory.generation();
    for (int i = 0; i < 22; ++i) memory.note(hash(std::to_string(i)), kNow + i * 1s);
    EXPECT_EQ(memory.last(hash("never")), std::nullopt);
    memory.note(hash("22"), kNow + 22s);  // the first ten are forgotten
    EXPECT_EQ(memory.last(hash("never")), kNow + 9s);
    EXPECT_EQ(memory.last(hash("0")), kNow + 9s);
    EXPECT_EQ(memory.last(hash("15")), kNow + 19s);
    EXPECT_TRUE(memory.noted_since(hash("never"), before));
    EXPECT_TRUE(memory.noted_since(hash("never"), before + 9));
    EXPECT_FALSE(memory.noted_since(hash("never"), before + 10));
}

TEST(InvalidationMemory, OneKeyAgainAndAgainPushesNoOtherOut) {
    InvalidationMemory memory(kFew);
    memory.note(hash("a"), kNow);
    for (int i = 0; i < 100; ++i) memory.note(hash("b"), kNow + 1s);
    EXPECT_EQ(memory.last(hash("a")), kNow) << "to the moment";
    EXPECT_EQ(memory.last(hash("b")), kNow + 1s);
    EXPECT_EQ(memory.last(hash("never")), std::nullopt);
}

TEST(InvalidationMemory, HoldsSomeMillionsToAFewWrongInAHundred) {
    InvalidationMemory memory;
    constexpr std::uint64_t kMany = 4'000'000;
    std::mt19937_64 random(3);
    for (std::uint64_t i = 0; i < kMany; ++i) memory.note({random(), random()}, kNow);
    int wrong = 0;
    for (int i = 0; i < 10'000; ++i)
        wrong += memory.last(summary::KeyHash{random(), random()}).has_value();
    EXPECT_LE(wrong, 100);
}

TEST_F(StoreTest, ServesManyThreads) {
    std::vector<std::thread> threads;
    Store shared(200'000, [](const summary::Key&, bool) {});
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([&shared, t] {
            std::mt19937 random(t);
            for (int i = 0; i < 3000; ++i) {
                const auto uri = "u" + std::to_string(random() % 300);
                const auto key = hash(uri);
                const auto found = shared.find(key, uri, {}, kNow);
                if (found.response) {
                    ASSERT_EQ(found.response->body->size(), 1000u);
                    if (random() % 8 == 0) shared.invalidate(key, kNow);
                    continue;
                }
                auto charge = shared.reserve(1000, kNow);
                if (!charge) continue;
                auto next = std::make_shared<StoredResponse>();
                next->freshness.lifetime = saturate(100s);
                next->arrival.steady = kNow;
                next->body = std::make_shared<Body>();
                next->body->add_block(1000, std::move(*charge));
                next->body->append(std::string(1000, 'x'));
                Claim claim(shared, key, uri, nullptr);
                claim.stay_alone(found.generation);
                claim.publish(std::move(next), kNow);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_LE(shared.stats().memory_bytes, 200'000u);
    EXPECT_GT(shared.stats().objects, 0u);
}

/// A fill with its writer's side driven by the test.
class FillTest : public ::testing::Test {
protected:
    std::shared_ptr<Wakeup> wakeup() { return std::make_shared<Wakeup>(io.get_executor()); }
    void begin(bool shared, std::uint64_t length = 0) {
        Fill::Answer answer;
        answer.response = std::make_shared<StoredResponse>();
        answer.shared = shared;
        answer.length = length;
        answer.length_known = length > 0;
        fill->begin(std::move(answer));
    }
    void append(std::string_view data) {
        if (fill->room() < data.size()) fill->add_block(data.size(), {});
        fill->append(data);
    }
    static std::string take(Fill::Reader& reader) {
        std::vector<boost::asio::const_buffer> out;
        const auto piece = reader.peek(1000, 10, out);
        const auto text = text_of(out);
        reader.consume(piece.bytes);
        return text;
    }

    boost::asio::io_context io;
    std::shared_ptr<Fill> fill = std::make_shared<Fill>(wakeup(), 10);
};

TEST_F(FillTest, GivesEveryReaderTheWholeBodyWheneverItCame) {
    Fill::Reader early(fill, wakeup(), true);
    EXPECT_EQ(early.state().phase, Fill::Phase::waiting);
    begin(true, 8);
    append("half");
    EXPECT_EQ(take(early), "half");
    Fill::Reader late(fill, wakeup(), false);
    append("half");
    EXPECT_EQ(take(early), "half");
    fill->complete(true);
    EXPECT_TRUE(late.state().answer.shared);
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

TEST_F(FillTest, KeepsAWindowOfWhatIsNotStored) {
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

TEST_F(FillTest, KnowsTheSlowestOfThousandsWhoComeAndGo) {
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

TEST_F(FillTest, LeavesABodyThatStandsInTheStoreWhole) {
    auto body = std::make_shared<Body>();
    body->add_block(10, {});
    body->append("0123456789");
    Fill::Reader leader(fill, wakeup(), true);
    Fill::Answer answer;
    answer.response = std::make_shared<StoredResponse>(StoredMetadata(), body);
    answer.validated = true;
    fill->begin(std::move(answer));
    EXPECT_EQ(take(leader), "0123456789");
    fill->complete(false);
    EXPECT_EQ(body->dropped(), 0u);
}

TEST_F(FillTest, TellsReadersThatItFailed) {
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

}  // namespace
}  // namespace proxy
