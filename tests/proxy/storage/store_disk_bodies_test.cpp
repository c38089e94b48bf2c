// Large bodies of a store with a disk: left in place, and read only by their senders.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "proxy/disk/record_body.hpp"
#include "tests/proxy/storage/store_disk_kit.hpp"

namespace proxy {
namespace store_disk_bodies_test {

using namespace std::chrono_literals;
using test::hash;
using test::kMiB;

using Node = test::StoreNode;
using Clock = Store::Clock;

TEST(StoreDiskBodiesTest, LeavesLargeBodiesInPlace) {
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
    EXPECT_EQ(node.announced("u"), 1);
}

TEST(StoreDiskBodiesTest, ReadsTheHeadOfAnOwnLargeBodyAtOnce) {
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

/// The number of open files of this process that have lost their names.
int unnamed_segments() {
    int count = 0;
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        const auto name = std::filesystem::read_symlink(each, ignored).string();
        count += name.find(".segment (deleted)") != std::string::npos ? 1 : 0;
    }
    return count;
}

TEST(StoreDiskBodiesTest, KeepsARemovedFileOnlyForSenders) {
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
        EXPECT_EQ(node.announced(uri), got.empty() ? 0 : 1) << uri;
    }
}

TEST(StoreDiskBodiesTest, ForgetsASpoiltBodyInPlace) {
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
    EXPECT_EQ(node.announced("u"), 0);
    EXPECT_FALSE(node.look_up("u").response);
    EXPECT_FALSE(node.look_up("u").on_disk);
}

TEST(StoreDiskBodiesTest, LeavesNoFlippedBodyInPlace) {
    Node node;
    ASSERT_TRUE(node.put("u", node.response(test::made_body(1, 300'000))));
    node.settle();
    node.end();
    for (const auto& each : test::segments_in(node.path())) test::spoil(each, 200'000);
    node.begin();
    EXPECT_EQ(node.announced("u"), 1);
    EXPECT_EQ(node.body_of("u"), "");
    EXPECT_EQ(node.announced("u"), 0);
}

}  // namespace store_disk_bodies_test
}  // namespace proxy
