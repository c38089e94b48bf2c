// The effect of a 304 on the disk of a store: the parts that are written, and those that a restart
// keeps.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/proxy/storage/store_disk_kit.hpp"

namespace proxy {
namespace store_disk_renewal_test {

using namespace std::chrono_literals;
using test::hash;

using Node = test::StoreNode;
using Clock = Store::Clock;

TEST(StoreDiskRenewalTest, AValidationLeavesALargeBodyInPlace) {
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
        // A restart must not undo stricter terms; memory keeps looser ones.
        if (lifetime == 5s) {
            EXPECT_TRUE(!after || after->freshness.lifetime == 5s);
        } else {
            EXPECT_TRUE(after);
        }
    }
}

TEST(StoreDiskRenewalTest, WritesNoRecordForA304ThatRenews) {
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

TEST(StoreDiskRenewalTest, KeepsTheOtherVariantsOnA304) {
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

TEST(StoreDiskRenewalTest, DropsAResponseWhoseBodyWasLostDuringItsValidation) {
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
        EXPECT_EQ(node.announced("u"), 0);
}

// The same Expires, sent twice, gives lifetimes that differ by the rounding of Date and Age.
TEST(StoreDiskRenewalTest, A304ThatEndsItASecondSoonerLeavesItOnTheDisk) {
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

TEST(StoreDiskRenewalTest, KeepsTheRestrictionsOfA304AfterARestart) {
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

// Otherwise a purge by it would miss the copy of the disk.
TEST(StoreDiskRenewalTest, ATagThatA304BringsCountsAfterARestart) {
    const summary::KeyHash before{1, 1}, later{2, 2};
    for (const bool stands_on_disk : {false, true}) {
        SCOPED_TRACE(stands_on_disk);
        Node node;
        ASSERT_TRUE(node.put("u", node.response(test::made_body(1, 300'000), {}, {before})));
        node.settle();
        if (stands_on_disk) node.restart();
        auto old = node.get("u");
        ASSERT_TRUE(old);
        auto renewed = Node::renewed(*old, 1000s);
        renewed->tags = {before, later};
        old.reset();
        ASSERT_TRUE(node.put("u", std::move(renewed)));
        node.settle();
        node.restart();
        node.store().invalidate(test::of_tag(later), Clock::now());
        EXPECT_FALSE(node.get("u"));
    }
}

TEST(StoreDiskRenewalTest, TakesNoRecordFromTheDiskThatAValidationForbids) {
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

}  // namespace store_disk_renewal_test
}  // namespace proxy
