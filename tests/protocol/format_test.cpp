// The vectors and the example of protocol/FORMAT.md, byte for byte.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "protocol/hello.hpp"
#include "protocol/keys.hpp"
#include "protocol/sync_session.hpp"
#include "tests/protocol/bytes.hpp"

namespace protocol::test {
namespace {

const std::string kClusterKey = "0123456789abcdef0123456789abcdef";

const std::string kKeyId = "3a91cf336e8bd359";
const std::string kHashSecret =
    "0e7da76c142643db87a8f36daa74df08f1aec431daf666cba04ea046cdbc1b54"
    "163ef77a987cc4e93e370bde443070f84a8997748e1275556b37a94d4499e7a3"
    "150f5dd318c5eec73eb176df7c4124b5af6af2be570bd168d02bae5299a9391b"
    "821d1e19577e89ab14405e0ea7e2dd4a7043f751faff39ae04c13b6402ad5b5a"
    "e86f3c8e40d4adf8bf1d3f920057f5df7d3d264eb81ada75dc651a5f2a4a12a1"
    "91994d97ffc3725cc85a716e7503d9650b4b447a75f4ed1b83cb051ae44e74e9";
const std::string kKeyHash = "f3b934467756825311e5c0bfe1b477c6";

const std::string kHello =
    "000000490101"
    "013a91cf336e8bd359"
    "01610162"
    "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0"
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    "01000000000000008004";
const std::string kChallenge =
    "0000005c0102"
    "3a91cf336e8bd359"
    "0162"
    "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0"
    "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
    "a2c33abc5f127af3743309802aaf78bcd8a027db0801e9e5b5f9fb471b377329";
const std::string kProof =
    "000000220103"
    "44f46ea33dfe23584b96052c2e8c917e14a8fb40d827f228ac470e3f0db5d2db";

const std::string kFromPublisher =
    "2a10ec93c917e1caab6d4fb0812e1327b2781e8675b9d65e9b9fa3fe3109cf32";
const std::string kFromSubscriber =
    "e9b5f848b2043104568af66dccf484304f4730dc9f4f671ce0c3451286c755dd";
const std::string kToken = "72b5e42f209b97fe5f3b81ba66e0d87e";

const std::string kWelcome = "0000001a01100000000000000000841a8233c2e2a3a6ae15690026eaa0e6";
const std::string kSnapshotBegin =
    "0000004401130000000000000000"
    "00000000000006a400000000000000000000000000000002"
    "010000000000000080040000000000000005"
    "a3420218de6a45808ca5fbed93dc0ea0";
const std::string kSnapshotPart =
    "0000001f01140000000000000001"
    "0302058704"
    "d2b6b38397a287c675a0b58cdd644a82";
const std::string kDelta =
    "0000003301150000000000000002"
    "00000000000006a40000000000000001"
    "010305874402010619"
    "00a3dc8ec9abc026f17818c45c8761ab";
const std::string kCheckHash =
    "0000003201160000000000000003"
    "00000000000006a40000000000000001e8ccb037911d7607"
    "d4f49ab58be3344ac1354b102828c40e";
const std::string kHeartbeat =
    "0000003201120000000000000004"
    "00000000000006a400000000000000010000000000000003"
    "207f153546bac70defeb46fa58a6d073";
const std::string kSubscribersHeartbeat =
    "0000003201120000000000000001"
    "00000000000006a400000000000000010000000000000000"
    "2b7d221d0ec7ef0373e5747ad84b3de5";
const std::string kRefusal = "00000003010465";

/// The hex digits of the page's examples, without their comments: indented lines up to the first
/// two blanks in a row, or other sign.
std::string hex_of_the_page() {
    const auto root = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
    std::ifstream page(root / "protocol/FORMAT.md");
    EXPECT_TRUE(page) << "run where the sources are";
    std::string digits;
    for (std::string line; std::getline(page, line);) {
        if (!line.starts_with("    ")) continue;
        line = line.substr(4);
        line = line.substr(0, line.find("  "));
        if (line.find_first_not_of("0123456789abcdef ") != std::string::npos) continue;
        std::erase(line, ' ');
        digits += line;
    }
    return digits;
}

class Format : public ::testing::Test {
protected:
    Format() {
        rules.is_peer = [](std::string_view node) { return node == "a"; };
        rules.max_summary_bytes = 1 << 20;
    }

    KeyRing keys{{kClusterKey}};
    Identity a{"a", filled<Instance>(0xa0)};
    Identity b{"b", filled<Instance>(0xb0)};
    SubscriberHello::Rules rules;
};

TEST_F(Format, KeysAreDerivedAsThePageSays) {
    EXPECT_EQ(hex(key_id(kClusterKey)), kKeyId);
    EXPECT_EQ(hex(hash_secret(kClusterKey)), kHashSecret);
    const auto hash = summary::KeyHasher(hash_secret(kClusterKey))("http://example.com/");
    EXPECT_EQ(hash.low, 0xf3b9344677568253U);
    EXPECT_EQ(hash.high, 0x11e5c0bfe1b477c6U);
}

TEST_F(Format, AHelloReadsAsOnThePage) {
    const PublisherHello publisher(a, keys, "b", counting<Nonce>(0), {128, 4});
    SubscriberHello subscriber(b, keys, rules, counting<Nonce>(32));
    EXPECT_EQ(hex(sealed(publisher.hello())), kHello);
    const auto challenge = subscriber.on_hello(publisher.hello());
    ASSERT_TRUE(challenge);
    EXPECT_EQ(hex(sealed(*challenge)), kChallenge);
    const auto answer = publisher.on_message(*challenge);
    ASSERT_TRUE(answer);
    EXPECT_EQ(hex(sealed(answer->proof)), kProof);
    const auto secrets = subscriber.on_proof(answer->proof);
    ASSERT_TRUE(secrets);
    EXPECT_EQ(hex(secrets->from_publisher), kFromPublisher);
    EXPECT_EQ(hex(secrets->from_subscriber), kFromSubscriber);
    EXPECT_EQ(secrets->token, kToken);
    EXPECT_EQ(hex(sealed(Refusal{Error::wrong_key})), kRefusal);
}

TEST_F(Format, TheHelloOfThePageIsUnderstood) {
    SubscriberHello subscriber(b, keys, rules, counting<Nonce>(32));
    const auto hello = open_hello(without_length(unhex(kHello)));
    ASSERT_TRUE(hello);
    ASSERT_TRUE(subscriber.on_hello(*hello));
    const auto proof = open_hello(without_length(unhex(kProof)));
    ASSERT_TRUE(proof);
    EXPECT_TRUE(subscriber.on_proof(*proof));
}

template <std::size_t size>
std::array<std::byte, size> key_of(const std::string& digits) {
    std::array<std::byte, size> key{};
    const auto bytes = unhex(digits);
    std::copy(bytes.begin(), bytes.end(), key.begin());
    return key;
}

TEST_F(Format, TaggedFramesReadAsOnThePage) {
    Sealer publisher(key_of<32>(kFromPublisher));
    Sealer subscriber(key_of<32>(kFromSubscriber));
    const auto snapshot = unhex("0302058704");
    const auto delta = unhex("010305874402010619");
    EXPECT_EQ(hex(sealed(subscriber, Welcome{})), kWelcome);
    EXPECT_EQ(hex(sealed(publisher, SnapshotBegin{1700, 0, 2, 1, {128, 4}, 5})), kSnapshotBegin);
    EXPECT_EQ(hex(sealed(publisher, SnapshotPart{snapshot})), kSnapshotPart);
    EXPECT_EQ(hex(sealed(publisher, Delta{1700, 1, delta})), kDelta);
    EXPECT_EQ(hex(sealed(publisher, CheckHash{1700, 1, 0xe8ccb037911d7607})), kCheckHash);
    EXPECT_EQ(hex(sealed(publisher, Heartbeat{1700, 1, 3})), kHeartbeat);
    EXPECT_EQ(hex(sealed(subscriber, Heartbeat{1700, 1, 0})), kSubscribersHeartbeat);
}

TEST_F(Format, WhatThePageAnnouncesPutsASubscriberInStep) {
    Opener opener(key_of<32>(kFromPublisher));
    const SyncSession::TimePoint now{std::chrono::seconds(100)};
    SyncSession session({}, now);
    for (const auto& frame : {kSnapshotBegin, kSnapshotPart, kDelta, kCheckHash, kHeartbeat}) {
        const auto bytes = unhex(frame);
        const auto message = opener.open(without_length(bytes));
        ASSERT_TRUE(message) << frame;
        const auto action = session.on_message(*message, now);
        EXPECT_FALSE(action && std::holds_alternative<SyncSession::Close>(*action)) << frame;
    }
    EXPECT_TRUE(session.in_step());
    EXPECT_EQ(session.counters().resyncs, 0U);
    EXPECT_EQ(session.objects(), 3U);
    Opener other(key_of<32>(kFromSubscriber));
    EXPECT_TRUE(other.open(without_length(unhex(kWelcome))));
    const auto answer = unhex(kSubscribersHeartbeat);
    const auto beat = other.open(without_length(answer));
    ASSERT_TRUE(beat);
    EXPECT_EQ(session.next(now), *beat);
}

TEST_F(Format, ThePageHasTheSameBytes) {
    const auto page = hex_of_the_page();
    for (const auto& bytes :
         {kKeyId, kHashSecret, kKeyHash, kHello, kChallenge, kProof, kFromPublisher,
          kFromSubscriber, kToken, kWelcome, kSnapshotBegin, kSnapshotPart, kDelta, kCheckHash,
          kHeartbeat, kSubscribersHeartbeat, kRefusal}) {
        EXPECT_NE(page.find(bytes), std::string::npos) << bytes;
    }
}

}  // namespace
}  // namespace protocol::test
