#include "proxy/storage/store.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "proxy/http/vary.hpp"
#include "proxy/storage/fill_lease.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

namespace proxy {
namespace store_test {

using namespace std::chrono_literals;
using test::hash;
using test::Head;

using Clock = Store::Clock;

const Clock::time_point kNow = Clock::time_point(1000h);

/// A store and its events.
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
        result->head_fields = "X-A: 1234567890\r\n";
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
        return store_in(store, uri, find(uri).invalidations, std::move(what));
    }
    static bool store_in(Store& store, std::string_view uri, std::uint64_t invalidations,
                         std::shared_ptr<StoredResponse> what) {
        FillLease lease(store, hash(uri), uri, nullptr);
        lease.stay_alone(invalidations);
        return lease.publish(std::move(what), kNow);
    }
    FillLease lease(std::string_view uri, std::shared_ptr<Fill> fill) {
        return FillLease(store, hash(uri), uri, std::move(fill));
    }
    Store::Found find(std::string_view uri, const Head& request = "") {
        return store.find(hash(uri), uri, request, kNow);
    }
    std::shared_ptr<Fill> fill() {
        return std::make_shared<Fill>(std::make_shared<base::Wakeup>(io.get_executor()), 1000);
    }
    int announced(std::string_view uri) const { return events.announced(hash(uri)); }

    boost::asio::io_context io;
    test::RecordedEvents events;
    Store store{10'000, test::hasher(), events};
};

TEST_F(StoreTest, FindsAPublishedResponse) {
    EXPECT_EQ(find("u").response, nullptr);
    ASSERT_TRUE(put("u", response("one")));
    EXPECT_EQ(find("u").response->body->size(), 3u);
    EXPECT_EQ(store.stats().objects, 1u);
    EXPECT_EQ(announced("u"), 1);
}

TEST_F(StoreTest, AnnouncesOnlyReusableResponses) {
    put("short", response("x", 2s));
    auto validated = response("x");
    validated->freshness.always_validate = true;
    put("no-cache", validated);
    EXPECT_EQ(announced("short"), 0);
    EXPECT_EQ(announced("no-cache"), 0);
    put("short", response("x", 10s));
    EXPECT_EQ(announced("short"), 1);
    put("short", response("x", 1s));  // an announcement stays until the key leaves
    EXPECT_EQ(announced("short"), 1);
    store.invalidate(hash("short"), kNow);
    EXPECT_EQ(announced("short"), 0);
}

TEST_F(StoreTest, EvictsToStayUnderItsCapAndWithdrawsTheKeys) {
    for (int i = 0; i < 50; ++i) {
        auto next = response(std::string(1000, 'x'));
        ASSERT_NE(next, nullptr);
        put("u" + std::to_string(i), next);
        EXPECT_LE(store.stats().memory_bytes, 10'000u);
    }
    const auto stats = store.stats();
    EXPECT_EQ(stats.objects + stats.evictions, 50u);
    EXPECT_EQ(events.all_announced(), stats.objects);
}

TEST_F(StoreTest, AnnouncesAndWithdrawsInTurn) {
    std::map<std::string, bool> stored;
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        for (int i = 0; i < 200; ++i) {
            const auto uri = std::to_string(random() % 4);
            const auto was_announced = announced(uri);
            const auto announceable = random() % 2 == 0;
            auto& is_stored = stored[uri];
            switch (random() % 4) {
                case 0:
                    store.invalidate(hash(uri), kNow);
                    is_stored = false;
                    break;
                case 1:
                    lease(uri, fill()).take(find(uri));  // given up
                    break;
                default:
                    ASSERT_TRUE(put(uri, response("x", announceable ? 10s : 1s)));
                    is_stored = true;
                    if (announceable) {
                        ASSERT_EQ(announced(uri), 1) << "seed " << seed;
                    }
            }
            ASSERT_EQ(is_stored, find(uri).response != nullptr) << "seed " << seed;
            if (!is_stored) {
                ASSERT_EQ(announced(uri), 0) << "seed " << seed;
            } else if (was_announced == 1) {
                ASSERT_EQ(announced(uri), 1) << "seed " << seed;
            }
        }
    }
}

TEST_F(StoreTest, PeeksAtStoredAndPendingResponses) {
    const auto is_there = [&](const std::string& uri) {
        return store.peek(hash(uri), uri, Head("")) == Store::StoredAt::memory;
    };
    EXPECT_FALSE(is_there("used"));
    put("used", response("x"));
    EXPECT_TRUE(is_there("used"));
    EXPECT_EQ(store.peek(hash("used"), "another of this hash", Head("")), Store::StoredAt::nowhere);
    const auto coming = fill();
    {
        auto mine = lease("coming", coming);
        EXPECT_TRUE(mine.take({}).leads);
        EXPECT_TRUE(is_there("coming"));
    }
    EXPECT_FALSE(is_there("coming"));
}

TEST_F(StoreTest, KeepsNoResponseForAPeek) {
    // The number that is left of 100 objects after twice as many, when every other one was looked
    // at.
    const auto survivors = [](const std::function<void(Store&, const std::string&)>& look) {
        test::IgnoredEvents ignored;
        Store one(100'000, test::hasher(), ignored);
        const auto put_into = [&](const std::string& uri) {
            store_in(one, uri, 0, response_in(one, std::string(500, 'x')));
        };
        const auto uri = [](int i) { return "u" + std::to_string(i); };
        for (int i = 0; i < 100; ++i) put_into(uri(i));
        for (int i = 0; i < 100; i += 2) look(one, uri(i));
        for (int i = 100; i < 300; ++i) put_into(uri(i));
        std::set<std::string> left;
        for (int i = 0; i < 100; ++i)
            if (one.peek(hash(uri(i)), uri(i), Head("")) != Store::StoredAt::nowhere)
                left.insert(uri(i));
        return left;
    };
    const auto unseen = survivors([](Store&, const std::string&) {});
    EXPECT_EQ(survivors([](Store& one, const std::string& uri) {
                  EXPECT_EQ(one.peek(hash(uri), uri, Head("")), Store::StoredAt::memory);
              }),
              unseen);
    EXPECT_NE(survivors([](Store& one, const std::string& uri) {
                  one.find(hash(uri), uri, Head(""), kNow);
              }),
              unseen);
}

TEST_F(StoreTest, EvictsNoResponseWithReaders) {
    put("u", response(std::string(9000, 'x')));
    auto reader = find("u").response;
    EXPECT_EQ(response(std::string(5000, 'y')), nullptr);
    EXPECT_EQ(store.stats().memory_bytes, 9000u);
    EXPECT_NE(find("u").response, nullptr) << "it would free nothing";
    EXPECT_EQ(store.stats().evictions, 0u);
    reader.reset();
    EXPECT_NE(response(std::string(5000, 'y')), nullptr);
    EXPECT_EQ(store.stats().evictions, 1u);
}

TEST_F(StoreTest, KeepsRequestedResponsesInEachShard) {
    test::IgnoredEvents ignored;
    Store many(512'000, test::hasher(), ignored);  // some 30 in each
    const auto is_there = [&](const std::string& uri) {
        return many.find(hash(uri), uri, Head(""), kNow).response != nullptr;
    };
    const auto put_one = [&](const std::string& uri, std::size_t bytes) {
        return store_in(many, uri, 0, response_in(many, std::string(bytes, 'x')));
    };
    for (int hot = 0; hot < 32; ++hot) ASSERT_TRUE(put_one("hot/" + std::to_string(hot), 10));
    for (int i = 0; i < 20'000; ++i) {
        ASSERT_TRUE(put_one("once/" + std::to_string(i), 1'000));
        for (int hot = 0; hot < 32; ++hot)
            ASSERT_TRUE(is_there("hot/" + std::to_string(hot))) << hot << " after " << i;
    }
}

TEST_F(StoreTest, CountsReplacedBytesUntilTheirReaderIsDone) {
    put("u", response(std::string(9000, 'x')));
    auto reader = find("u").response;
    store.invalidate(hash("u"), kNow);
    EXPECT_EQ(response(std::string(5000, 'y')), nullptr);
    EXPECT_EQ(store.stats().memory_bytes, 9000u);
    reader.reset();
    EXPECT_NE(response(std::string(5000, 'y')), nullptr);
}

TEST_F(StoreTest, KeepsAQuarterBesideTheResponsesOfSlowReaders) {
    put("large", response(std::string(5000, 'x')));
    for (int i = 0; i < 4; ++i) put(std::to_string(i), response(std::string(1000, 'x')));
    auto reader = find("large").response;
    for (int i = 0; i < 10; ++i) EXPECT_EQ(response(std::string(4000, 'y')), nullptr);
    EXPECT_NE(find("large").response, nullptr);
    EXPECT_GE(store.stats().objects, 3u) << "a quarter of the cap is left to others";
    EXPECT_NE(response(std::string(1000, 'y')), nullptr) << "what fits beside it is stored";
    reader.reset();
    EXPECT_NE(response(std::string(4000, 'y')), nullptr);
}

/// Variants of one URI by a language each.
class StoreVariantsTest : public StoreTest {
protected:
    static std::string request(std::size_t i) { return "Accept-Language: l" + std::to_string(i); }
    bool ask(std::size_t i) {
        const auto lines = request(i);
        return find("u", Head(std::string_view(lines))).response != nullptr;
    }
    void put_language(std::size_t i) {
        const auto lines = request(i);
        auto next = response("x");
        next->vary_names = "accept-language";
        append_variant(next->variant, next->vary_names, Head(std::string_view(lines)));
        put("u", next);
    }
    std::size_t there(std::size_t count) {
        std::size_t result = 0;
        for (std::size_t i = 0; i < count; ++i) result += ask(i) ? 1 : 0;
        return result;
    }
};

TEST_F(StoreVariantsTest, AreAsManyAsAreAllowed) {
    store.set_max_variants(16);
    for (std::size_t i = 0; i < 21; ++i) {
        put_language(i);
        EXPECT_TRUE(ask(i));
    }
    EXPECT_EQ(there(21), 16u);
    store.set_max_variants(3);
    put_language(21);
    EXPECT_TRUE(ask(21));
    EXPECT_EQ(there(22), 3u);
    EXPECT_EQ(store.stats().objects, 1u);
}

TEST_F(StoreVariantsTest, StayIfTheyAreUsed) {
    store.set_max_variants(16);
    put_language(0);
    for (std::size_t i = 1; i < 200; ++i) {
        EXPECT_TRUE(ask(0));
        put_language(i);
    }
    put_language(0);  // a newer version of it
    for (std::size_t i = 200; i < 216; ++i) put_language(i);
    EXPECT_TRUE(ask(0)) << "its uses count for what takes its place";
}

TEST_F(StoreVariantsTest, GiveHitsAlsoIfOneTooManyIsRequestedInTurn) {
    store.set_max_variants(16);
    std::size_t found = 0;
    for (std::size_t round = 0; round < 20; ++round)
        for (std::size_t i = 0; i < 17; ++i) {
            const auto hit = ask(i);
            found += hit ? 1 : 0;
            if (!hit) put_language(i);
        }
    EXPECT_GT(found, 20u * 17 * 3 / 4);
}

TEST_F(StoreTest, HasOneLeaderForEachUri) {
    const auto leading = fill();
    auto first = lease("u", leading), second = lease("u", fill());
    EXPECT_TRUE(first.take(find("u")).leads);
    const auto taken = second.take(find("u"));
    EXPECT_FALSE(taken.leads);
    EXPECT_EQ(taken.other, leading);
    first.abandon({}, kNow);
    EXPECT_TRUE(second.take(find("u")).leads);
}

TEST_F(StoreTest, HasNoLeaderAnyMoreWhenItsClaimIsGone) {
    auto next = lease("u", fill());
    {
        auto leading = lease("u", fill()), following = lease("u", fill());
        EXPECT_TRUE(leading.take(find("u")).leads);
        EXPECT_FALSE(following.take(find("u")).leads);
        { auto another = lease("u", fill()); }  // one that leads nothing ends nothing
        EXPECT_NE(find("u").fill, nullptr);
    }
    EXPECT_EQ(find("u").fill, nullptr);
    EXPECT_FALSE(find("u").unshareable);
    EXPECT_TRUE(next.take(find("u")).leads);
}

TEST_F(StoreTest, EndsAClaimOnce) {
    auto first = lease("u", fill()), second = lease("u", fill());
    EXPECT_TRUE(first.take(find("u")).leads);
    first.abandon({}, kNow);
    EXPECT_TRUE(second.take(find("u")).leads);
    first.abandon({}, kNow);
    EXPECT_NE(find("u").fill, nullptr) << "that is another's claim";
}

TEST_F(StoreTest, AsksForANewLookUpWhenAResponseWasStoredMeanwhile) {
    const auto seen = find("u");
    put("u", response("x"));
    auto late = lease("u", fill());
    const auto taken = late.take(seen);
    EXPECT_EQ(taken.other, nullptr);
    EXPECT_FALSE(taken.leads);
}

TEST_F(StoreTest, NotesUnshareableAnswersForAWhile) {
    auto first = lease("u", fill());
    first.take(find("u"));
    first.abandon(PendingResponses::kHitForMiss, kNow);
    EXPECT_TRUE(find("u").unshareable);
    EXPECT_FALSE(store.find(hash("u"), "u", {}, kNow + PendingResponses::kHitForMiss).unshareable);
}

TEST_F(StoreTest, RefusesAResponseWhoseKeyWasInvalidatedDuringItsFetch) {
    auto first = lease("u", fill()), newcomer = lease("u", fill());
    first.take(find("u"));
    store.invalidate(hash("u"), kNow);
    EXPECT_TRUE(newcomer.take(find("u")).leads) << "newcomers fetch anew";
    EXPECT_FALSE(first.publish(response("old"), kNow));
    EXPECT_EQ(find("u").response, nullptr);
}

TEST_F(StoreTest, StoresAResponseWhileOthersWereInvalidated) {
    const auto seen = find("u");
    for (int i = 0; i < 20'000; ++i) store.invalidate(hash(std::to_string(i)), kNow);
    EXPECT_TRUE(store_in(store, "u", seen.invalidations, response("x")));
}

TEST_F(StoreTest, DropsStoredAndPendingResponsesAtOnce) {
    put("one", response("x"));
    put("two", response("x"));
    auto first = lease("u", fill());
    first.take(find("u"));
    store.invalidate(test::of_everything(), kNow + 5s);
    EXPECT_EQ(store.stats().objects, 0u);
    EXPECT_EQ(announced("one"), 0);
    EXPECT_FALSE(first.publish(response("old"), kNow));
    EXPECT_EQ(store.invalidated_at(hash("never seen"), "never seen"), kNow + 5s);
    EXPECT_TRUE(put("u", response("new")));
    EXPECT_EQ(store.stats().objects, 1u);
}

std::shared_ptr<StoredResponse> tagged(std::shared_ptr<StoredResponse> plain,
                                       std::initializer_list<std::string_view> tags) {
    for (const auto tag : tags) plain->tags.push_back(hash(tag));
    std::sort(plain->tags.begin(), plain->tags.end(), precedes);
    return plain;
}

TEST_F(StoreTest, DropsByTagTheResponsesThatCarryIt) {
    for (int i = 0; i < 50; ++i) put(std::to_string(i), tagged(response("x"), {"a", "b"}));
    put("other", tagged(response("x"), {"b"}));
    put("plain", response("x"));
    EXPECT_EQ(store.invalidate(test::of_tag(hash("a")), kNow), 50u);
    EXPECT_EQ(store.stats().objects, 2u);
    EXPECT_EQ(announced("0"), 0);
    EXPECT_EQ(store.invalidate(test::of_tag(hash("a")), kNow), 0u);
    EXPECT_EQ(store.invalidate(test::of_tag(hash("b")), kNow), 1u);
    EXPECT_NE(find("plain").response, nullptr);
}

TEST_F(StoreTest, DropsTheBlocksOfABodyWithItsUri) {
    store.expect_blocks();
    put("u", response("index"));
    put("u \"tag\" 0-9", tagged(response("x"), {"u"}));
    put("v \"tag\" 0-9", tagged(response("x"), {"v"}));
    EXPECT_TRUE(store.invalidate(hash("u"), kNow));
    EXPECT_EQ(store.stats().objects, 1u);
    EXPECT_NE(find("v \"tag\" 0-9").response, nullptr);
}

TEST_F(StoreTest, KnowsTheTagsOfAReplacement) {
    put("u", tagged(response("x"), {"old"}));
    put("u", tagged(response("y"), {"new"}));
    EXPECT_EQ(store.invalidate(test::of_tag(hash("old")), kNow), 0u);
    EXPECT_NE(find("u").response, nullptr);
    EXPECT_EQ(store.invalidate(test::of_tag(hash("new")), kNow), 1u);
}

TEST_F(StoreTest, RefusesAResponseWhoseTagWasInvalidatedDuringItsFetch) {
    auto first = lease("u", fill()), newcomer = lease("u", fill());
    first.take(find("u"));
    const auto tags = std::vector{hash("a")};
    EXPECT_TRUE(first.tag(tags));
    EXPECT_EQ(store.invalidate(test::of_tag(hash("a")), kNow), 0u) << "nothing was stored yet";
    EXPECT_TRUE(newcomer.take(find("u")).leads) << "newcomers fetch anew";
    EXPECT_FALSE(first.publish(tagged(response("old"), {"a"}), kNow));
    EXPECT_EQ(store.invalidated_at(hash("v"), "v", tags), kNow);
}

TEST_F(StoreTest, LetsNoRequestFollowAfterAnInvalidationBeforeTheHead) {
    auto first = lease("u", fill());
    first.take(find("u"));
    store.invalidate(test::of_tag(hash("a")), kNow);
    EXPECT_FALSE(first.tag(std::vector{hash("a")}));
    EXPECT_TRUE(first.tag(std::vector{hash("b")}));
}

TEST_F(StoreTest, RefusesNoCopyForInvalidationsOfOtherKeys) {
    store.expect_blocks();
    for (int i = 0; i < 100'000; ++i) store.invalidate(hash(std::to_string(i)), kNow);
    int refused = 0;
    for (int i = 0; i < 1'000; ++i)
        refused += store.invalidated_at(hash("u" + std::to_string(i)), "u" + std::to_string(i))
                       .has_value();
    EXPECT_LE(refused, 5);
    EXPECT_EQ(store.invalidated_at(hash("7"), "7"), kNow);
}

TEST_F(StoreTest, ServesManyThreads) {
    std::vector<std::thread> threads;
    test::IgnoredEvents ignored;
    Store shared(200'000, test::hasher(), ignored);
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
                FillLease lease(shared, key, uri, nullptr);
                lease.stay_alone(found.invalidations);
                lease.publish(std::move(next), kNow);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_LE(shared.stats().memory_bytes, 200'000u);
    EXPECT_GT(shared.stats().objects, 0u);
}

}  // namespace store_test
}  // namespace proxy
