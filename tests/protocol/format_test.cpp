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

const std::string kKeyId = "9fcd2b2a8ac96b5b";
const std::string kHashSecret =
    "3a4936c836d1267ad0db52e57697e1468ec8e55f65ecb1401fb722cea515506f"
    "51758e3825d97dd72d4fac4e36d24851e6bb9f35b045c3ef5c076562a9dba385"
    "8d8c075830589517bfdfb317f812fa99e52b2200757fcc52b8b43f1e12275bc7"
    "b92928ae64263c76d9d2178c08a260152e9f14131d66d0aba6fed152d3e82f36"
    "72208956054364e9e73de0d83a8a24c6a0ea37daaa809b585840a6ef510f4df5"
    "9186ee179fe63b6062eaa1e6be0a5c2ab0ae43cf0de90416fb77977e6a975bac";
const std::string kKeyHash = "e22b3a514b537636fbee42cf9073122c";
const std::string kFieldKey = "fdd57b0c686b9e26ec996a101c30851867739e9a2380dd47b82edbcce6fa5c0a";

const std::string kHello =
    "000000490201"
    "019fcd2b2a8ac96b5b"
    "01610162"
    "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0"
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    "01000000000000008004";
const std::string kChallenge =
    "0000005c0202"
    "9fcd2b2a8ac96b5b"
    "0162"
    "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0"
    "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
    "d7179dc909dfe5b27931306ee3e80d34281061e4820e6165cff04c790b511d84";
const std::string kProof =
    "000000220203"
    "6e986b5664343bf02e50da058c13da81b75e218a6c6323095d99df996ee2e40c";

const std::string kFromPublisher =
    "7f76a47c53767e8c7c1506d41afd4a618800cd44de6dc6a6ac22c21ff24a606d";
const std::string kFromSubscriber =
    "caada71637a0664d8f9654c7861eac04247c5b3d37aa6441049e11da724d5185";
const std::string kToken = "2eccd02d73911a53d2bc6cc2db25bda6";

const std::string kWelcome = "0000001a0210000000000000000087d00f54c124c277818a4df79a5e8869";
const std::string kTagHash = "1946791ffdf38e69eb1fafb127c847a0";
const std::string kInvalidate =
    "0000004602180000000000000000"
    "000000000000000200000001"
    "e22b3a514b537636fbee42cf9073122c"
    "1946791ffdf38e69eb1fafb127c847a0"
    "cb44ed4b7921b5a5fb9f7ba51599b422";
const std::string kConfirm =
    "00000022021a0000000000000001"
    "0000000000000002"
    "4c8a559b8fb4bd1c97cc947231053e69";
const std::string kInvalidateAll =
    "0000002202190000000000000006"
    "0000000000011170"
    "8870454092130146022af34f48e43040";
const std::string kSnapshotBegin =
    "0000004402130000000000000001"
    "00000000000006a400000000000000000000000000000002010000000000000080040000000000000005"
    "7ff1df32d71cf0dd803c2b9fe3b7f7a3";
const std::string kSnapshotPart =
    "0000001f02140000000000000002"
    "0302058704"
    "1ed4d8641c0c1bcc3f23234e947e3cf2";
const std::string kDelta =
    "0000003302150000000000000003"
    "00000000000006a40000000000000001010305874402010619"
    "b5bc2d0a5ab5242a0cd6d0e067cfb51a";
const std::string kCheckHash =
    "0000003202160000000000000004"
    "00000000000006a40000000000000001e8ccb037911d7607"
    "89707ea4aa34f16f6fb1fda8dd2d1a15";
const std::string kHeartbeat =
    "0000003202120000000000000005"
    "00000000000006a400000000000000010000000000000003"
    "67c339b0358f995a5a1a52081e6821bd";
const std::string kSubscribersHeartbeat =
    "0000003202120000000000000002"
    "00000000000006a400000000000000010000000000000001"
    "8ad87222d6a9bb6df953b3505f1b07e1";
const std::string kRefusal = "00000003020465";

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
    EXPECT_EQ(hex(field_key(kClusterKey)), kFieldKey);
    const auto hash = summary::KeyHasher(hash_secret(kClusterKey))("http://example.com/");
    EXPECT_EQ(hash.low, 0xe22b3a514b537636U);
    EXPECT_EQ(hash.high, 0xfbee42cf9073122cU);
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

summary::KeyHash hash_of(std::string_view text) {
    return summary::KeyHasher(hash_secret(kClusterKey))(text);
}

TEST_F(Format, TaggedFramesReadAsOnThePage) {
    Sealer publisher(key_of<32>(kFromPublisher));
    Sealer subscriber(key_of<32>(kFromSubscriber));
    const auto snapshot = unhex("0302058704");
    const auto delta = unhex("010305874402010619");
    const auto key = hash_of("http://example.com/");
    const auto tag = hash_of("surrogate-key news");
    EXPECT_EQ(hex(sealed(subscriber, Welcome{})), kWelcome);
    EXPECT_EQ(hex(sealed(publisher, Invalidate{2, {key}, {tag}})), kInvalidate);
    EXPECT_EQ(hex(sealed(subscriber, Confirm{2})), kConfirm);
    EXPECT_EQ(hex(sealed(publisher, SnapshotBegin{1700, 0, 2, 1, {128, 4}, 5})), kSnapshotBegin);
    EXPECT_EQ(hex(sealed(publisher, SnapshotPart{snapshot})), kSnapshotPart);
    EXPECT_EQ(hex(sealed(publisher, Delta{1700, 1, delta})), kDelta);
    EXPECT_EQ(hex(sealed(publisher, CheckHash{1700, 1, 0xe8ccb037911d7607})), kCheckHash);
    EXPECT_EQ(hex(sealed(publisher, Heartbeat{1700, 1, 3})), kHeartbeat);
    EXPECT_EQ(hex(sealed(subscriber, Heartbeat{1700, 1, kListensElsewhere})),
              kSubscribersHeartbeat);
    EXPECT_EQ(hex(sealed(publisher, InvalidateAll{70000})), kInvalidateAll);
}

TEST_F(Format, WhatThePageAnnouncesPutsASubscriberInStep) {
    Opener opener(key_of<32>(kFromPublisher));
    const SyncSession::TimePoint now{std::chrono::seconds(100)};
    SyncSession session({}, now);
    for (const auto& frame :
         {kInvalidate, kSnapshotBegin, kSnapshotPart, kDelta, kCheckHash, kHeartbeat}) {
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
    const auto confirmation = unhex(kConfirm);
    EXPECT_TRUE(other.open(without_length(confirmation)));
    const auto beat = other.open(without_length(answer));
    ASSERT_TRUE(beat);
    EXPECT_EQ(session.next(now), Message(Confirm{2}));
    EXPECT_EQ(session.next(now), *beat);
}

TEST_F(Format, ThePageHasTheSameBytes) {
    const auto page = hex_of_the_page();
    for (const auto& bytes :
         {kKeyId,     kHashSecret,           kKeyHash,        kFieldKey,     kHello,   kChallenge,
          kProof,     kFromPublisher,        kFromSubscriber, kToken,        kWelcome, kInvalidate,
          kConfirm,   kInvalidateAll,        kSnapshotBegin,  kSnapshotPart, kDelta,   kCheckHash,
          kHeartbeat, kSubscribersHeartbeat, kRefusal}) {
        EXPECT_NE(page.find(bytes), std::string::npos) << bytes;
    }
}

}  // namespace
}  // namespace protocol::test
