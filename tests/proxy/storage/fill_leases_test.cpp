#include "proxy/storage/fill_leases.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proxy/http/vary.hpp"
#include "proxy/storage/fill_lease.hpp"
#include "proxy/storage/store.hpp"
#include "tests/proxy/hash.hpp"
#include "tests/proxy/http/head.hpp"
#include "tests/proxy/storage/recorded_events.hpp"

namespace proxy {
namespace fill_leases_test {

using namespace std::chrono_literals;
using test::hash;
using test::Head;

using Clock = Store::Clock;

const Clock::time_point kNow = Clock::time_point(1000h);
constexpr auto* kUri = "u";

/// A store, and requests for one target URI.
class FillLeasesTest : public ::testing::Test {
protected:
    /// One request with a fetch of its own, should it lead.
    struct OneRequest {
        OneRequest(FillLeasesTest& test, const std::string& fields)
            : head(fields.c_str()),
              fill(std::make_shared<Fill>(std::make_shared<base::Wakeup>(test.io.get_executor()),
                                          1000)),
              lease(test.store, hash(kUri), kUri, fill, head) {}

        const Head head;
        const std::shared_ptr<Fill> fill;
        FillLease lease;
    };
    std::unique_ptr<OneRequest> ask(const std::string& fields) {
        return std::make_unique<OneRequest>(*this, fields);
    }
    Store::Found find(const Head& request, Clock::time_point now = kNow) {
        return store.find(hash(kUri), kUri, request, now);
    }
    /// The fill that the request follows; null: it leads.
    const Fill* follows(OneRequest& request, Clock::time_point now = kNow) {
        const auto taken = request.lease.take(find(request.head, now));
        EXPECT_EQ(taken.leads, taken.other == nullptr);
        return taken.other.get();
    }
    /// The response that such a request brings, with this lifetime.
    std::shared_ptr<StoredResponse> response(const OneRequest& request, const std::string& vary,
                                             std::chrono::seconds lifetime = 100s) const {
        auto made = std::make_shared<StoredResponse>();
        made->status = 200;
        made->freshness.lifetime = saturate(lifetime);
        made->freshness.source = LifetimeSource::max_age;
        made->arrival.steady = kNow;
        made->vary_names = vary;
        append_variant(made->variant, vary, request.head);
        return made;
    }
    static void begin(OneRequest& request, std::shared_ptr<const StoredResponse> what,
                      bool shared = true) {
        Fill::Incoming incoming;
        incoming.response = std::move(what);
        incoming.shared = shared;
        request.fill->begin(std::move(incoming));
    }
    void put(const std::string& fields, const std::string& vary,
             std::chrono::seconds lifetime = 100s) {
        auto one = ask(fields);
        one->lease.stay_alone(find(one->head).invalidations);
        EXPECT_TRUE(one->lease.publish(response(*one, vary, lifetime), kNow));
    }

    boost::asio::io_context io;
    test::IgnoredEvents events;
    Store store{100'000, test::hasher(), events};
};

constexpr auto* kGzip = "Accept-Encoding: gzip";
constexpr auto* kBrotli = "Accept-Encoding: br";
constexpr auto* kCookie = "Cookie: who=alice";
constexpr auto* kVary = "accept-encoding";

TEST_F(FillLeasesTest, OneLeadsForAllWhileTheTargetIsUnknown) {
    auto leader = ask(kGzip), other = ask(kBrotli);
    EXPECT_EQ(follows(*leader), nullptr);
    EXPECT_EQ(follows(*other), leader->fill.get());
}

TEST_F(FillLeasesTest, OneLeadsForEachVariantOfAStoredTarget) {
    put(kGzip, kVary, 0s);
    auto first = ask(kGzip), same = ask(kGzip), other = ask(kBrotli), like_other = ask(kBrotli);
    EXPECT_EQ(follows(*first), nullptr);
    EXPECT_EQ(follows(*other), nullptr);
    EXPECT_EQ(follows(*same), first->fill.get());
    EXPECT_EQ(follows(*like_other), other->fill.get());
    EXPECT_EQ(find(Head(kBrotli)).fill, other->fill);
}

TEST_F(FillLeasesTest, AComingHeadSaysHowTheTargetVaries) {
    auto first = ask(kGzip), other = ask(kBrotli), same = ask(kGzip), like_other = ask(kBrotli);
    EXPECT_EQ(follows(*first), nullptr);
    begin(*first, response(*first, kVary));
    EXPECT_EQ(follows(*other), nullptr);
    EXPECT_EQ(follows(*same), first->fill.get());
    EXPECT_EQ(follows(*like_other), other->fill.get());
}

TEST_F(FillLeasesTest, ResponsesThatVaryByOtherFieldsStayBesideEachOther) {  // RFC 9111 §4.1
    put("X: 1", "x", 100s);
    put("X: 2\nY: 1", "x,y", 100s);
    EXPECT_TRUE(find(Head("X: 1")).response);
    EXPECT_TRUE(find(Head("X: 2\nY: 1")).response);
    // A response to a request that the first one answered takes its place.
    put("X: 1\nY: 1", "x,y", 100s);
    EXPECT_FALSE(find(Head("X: 1")).response);
    EXPECT_TRUE(find(Head("X: 1\nY: 1")).response);
    EXPECT_TRUE(find(Head("X: 2\nY: 1")).response);
    put("", "", 100s);
    EXPECT_TRUE(find(Head("X: 3")).response);
}

TEST_F(FillLeasesTest, CredentialsKeepRequestsApartWhileTheTargetIsUnknown) {
    auto plain = ask(""), cookie = ask(kCookie), other = ask("Cookie: who=bob");
    EXPECT_EQ(follows(*plain), nullptr);
    EXPECT_EQ(follows(*cookie), nullptr);
    EXPECT_EQ(follows(*other), cookie->fill.get());
}

TEST_F(FillLeasesTest, CredentialsDoNotMatterWhereOneAnswerIsForAll) {
    put("", "", 0s);
    auto plain = ask(""), cookie = ask(kCookie);
    EXPECT_EQ(follows(*cookie), nullptr);
    EXPECT_EQ(follows(*plain), cookie->fill.get());
}

TEST_F(FillLeasesTest, RequestsWithAnswersOfTheirOwnDoNotDelayOthers) {
    put("", "", 0s);
    auto cookie = ask(kCookie);
    EXPECT_EQ(follows(*cookie), nullptr);
    cookie->lease.abandon(PendingResponses::kHitForMiss, kNow);
    EXPECT_TRUE(find(Head(kCookie)).unshareable);
    EXPECT_TRUE(find(Head("Cookie: who=bob")).unshareable);
    EXPECT_FALSE(find(Head("")).unshareable);
    EXPECT_FALSE(find(Head("Authorization: Basic eA==")).unshareable);
    // Nor later, when they try once more.
    const auto later = kNow + PendingResponses::kHitForMiss;
    EXPECT_FALSE(find(Head(kCookie), later).unshareable);
    auto again = ask(kCookie), plain = ask("");
    EXPECT_EQ(follows(*again, later), nullptr);
    EXPECT_EQ(follows(*plain, later), nullptr);
}

TEST_F(FillLeasesTest, AnAnswerForAllEndsThat) {
    put("", "", 0s);
    auto cookie = ask(kCookie);
    follows(*cookie);
    cookie->lease.abandon(PendingResponses::kHitForMiss, kNow);
    put(kCookie, "", 0s);
    EXPECT_FALSE(find(Head(kCookie)).unshareable);
    auto again = ask(kCookie), plain = ask("");
    EXPECT_EQ(follows(*again), nullptr);
    EXPECT_EQ(follows(*plain), again->fill.get());
}

TEST_F(FillLeasesTest, AnUnshareableVariantLeavesTheOthersShareable) {
    put(kGzip, kVary, 0s);
    auto other = ask(kBrotli);
    follows(*other);
    other->lease.abandon(PendingResponses::kHitForMiss, kNow);
    EXPECT_TRUE(find(Head(kBrotli)).unshareable);
    EXPECT_FALSE(find(Head(kGzip)).unshareable);
}

TEST_F(FillLeasesTest, AFreshResponseIsNeverUnshareable) {
    put("", "", 2s);
    auto other = ask("");
    other->lease.abandon(PendingResponses::kHitForMiss, kNow);
    EXPECT_FALSE(find(Head("")).unshareable);
    EXPECT_TRUE(find(Head(""), kNow + 2s).unshareable);
}

TEST_F(FillLeasesTest, NoRequestJoinsAResponseThatBecameStaleOnItsWay) {
    auto first = ask(""), second = ask(""), third = ask("");
    follows(*first);
    begin(*first, response(*first, "", 1s));
    EXPECT_EQ(follows(*second), first->fill.get());
    EXPECT_EQ(follows(*second, kNow + 1s), nullptr);
    EXPECT_EQ(follows(*third, kNow + 1s), second->fill.get());
}

TEST_F(FillLeasesTest, AHeadThatEachMustValidateIsFollowedAtOnce) {
    auto first = ask(""), second = ask("");
    follows(*first);
    begin(*first, response(*first, "", 0s));
    EXPECT_EQ(follows(*second), first->fill.get()) << "its head says that at once";
}

TEST_F(FillLeasesTest, EndsEachByItself) {
    put(kGzip, kVary, 0s);
    auto one = ask(kGzip), two = ask(kBrotli);
    follows(*one);
    follows(*two);
    EXPECT_TRUE(one->lease.publish(response(*one, kVary), kNow));
    EXPECT_EQ(find(Head(kGzip)).fill, nullptr);
    EXPECT_EQ(find(Head(kBrotli)).fill, two->fill);
    two->lease.abandon({}, kNow);
    EXPECT_EQ(find(Head(kBrotli)).fill, nullptr);
}

TEST_F(FillLeasesTest, EndsAllWhenTheTargetOrATagOfOneIsInvalidated) {
    for (const auto by_tag : {false, true}) {
        put(kGzip, kVary, 0s);
        auto one = ask(kGzip), two = ask(kBrotli);
        follows(*one);
        follows(*two);
        EXPECT_TRUE(one->lease.tag(std::vector{hash("t")}));
        by_tag ? void(store.invalidate(test::of_tag(hash("t")), kNow))
               : void(store.invalidate(hash(kUri), kNow));
        EXPECT_EQ(find(Head(kGzip)).fill, nullptr);
        EXPECT_EQ(find(Head(kBrotli)).fill, nullptr);
    }
}

TEST_F(FillLeasesTest, LimitsTheFetchesThatOthersCanWaitFor) {
    put(kGzip, kVary, 0s);
    std::vector<std::unique_ptr<OneRequest>> all;
    for (std::size_t i = 0; i <= PendingResponses::kMaxPerTarget; ++i) {
        all.push_back(ask("Accept-Encoding: c" + std::to_string(i)));
        EXPECT_EQ(follows(*all.back()), nullptr);
    }
    auto late = ask("Accept-Encoding: c" + std::to_string(PendingResponses::kMaxPerTarget));
    EXPECT_EQ(follows(*late), nullptr) << "it fetches as well";
    EXPECT_TRUE(all.back()->lease.publish(response(*all.back(), kVary), kNow));
    EXPECT_EQ(find(Head("Accept-Encoding: c0")).fill, all.front()->fill);
}

}  // namespace fill_leases_test
}  // namespace proxy
