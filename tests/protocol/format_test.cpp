// The vectors and the example of protocol/FORMAT.md, byte for byte.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "protocol/links/hello.hpp"
#include "protocol/links/sync_session.hpp"
#include "protocol/wire/keys.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/source_root.hpp"

namespace protocol::test {
namespace format_test {

using namespace std::chrono_literals;

const std::string kClusterKey = "0123456789abcdef0123456789abcdef";

const std::string kKeyId = "a8c28a1785b23294";
const std::string kHashSecret =
    "6d228db6d4e6f740e1150403b1de8242628a90ad38d6d1415bf95f44eafc178c"
    "03bbba1374c776291da3631837bbddc8bd34024427d73f9bbbbe115186434300"
    "ed09c3b754bfc93c1372d784fae03b5cd31f78910f5ab6d8eedac62e666a0091"
    "cb9b0b4521b13aeb60c05cddf50335b8bae64d9e882e93699c1e128881e82ea9"
    "de64e54d1172781ed7d8961edd6388c177ebcc5ba9dab48fe51b51e5d2fba2f2"
    "135e28ef9397dade371f932531072aa2c7c7fc2e66d67b4760dc77f7c90c53e6";
const std::string kKeyHash = "f4ea1cde55ac7855db11d3ca139b3c5f";
const std::string kTlsKey = "ba94a5ac7f6f11c508bd8b410e7ff0a4284bd0a70e38475e89b5097a93fd2db3";
const std::string kFieldKey = "578552d7c19aa8e94bd55d8c61fa7ee0";

const std::string kHello =
    "000000490301"
    "01a8c28a1785b23294"
    "01610162"
    "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0"
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    "04000000000000008004";
const std::string kChallenge =
    "0000005c0302"
    "a8c28a1785b23294"
    "0162"
    "b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0"
    "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
    "71568c4134656a7ab8942d9f9cd8d7a718dc359ac9e3d1ce75b60a139425b28e";
const std::string kProof =
    "000000220303"
    "3a813147d5fbddf4379ccb788ce068747dc0ce5283033ff7f0fd7e9e4bb0cd41";

const std::string kFromPublisher =
    "6f2c21f6fa5e8a7890670a8f85b6f5b65f15b4ff2e14c90de998ae88ca79936e";
const std::string kFromSubscriber =
    "da120f0242b8c66487ff44cc2d42c359b7f5b86227574a952f59845080fbb888";
const std::string kToken = "417e9667dff768e2af0a15a745235d66";

const std::string kWelcome = "0000001a031000000000000000000cd472e6312162070b3731a20c491cbd";
const std::string kTagHash = "6f2b26d58caad991c2b84a386433957e";
const std::string kInvalidate =
    "0000004603180000000000000000"
    "000000000000000200000001"
    "f4ea1cde55ac7855db11d3ca139b3c5f"
    "6f2b26d58caad991c2b84a386433957e"
    "6176c113f72e616f34bcffba818c6a96";
const std::string kConfirm =
    "00000022031a0000000000000001"
    "0000000000000002"
    "cb2e3469b10a619fce1411fd5f2421e2";
const std::string kInvalidateAll =
    "0000002203190000000000000006"
    "0000000000011170"
    "72def070e051ba20a87c5622c4ace4f0";
const std::string kSnapshotBegin =
    "0000004403130000000000000001"
    "00000000000006a400000000000000000000000000000002040000000000000080040000000000000005"
    "6363dfd2b2621a8755e403afc55d9255";
const std::string kSnapshotPart =
    "0000001f03140000000000000002"
    "0302058704"
    "a98f9da3d838ee7246a6462fe221efdf";
const std::string kDelta =
    "0000003303150000000000000003"
    "00000000000006a40000000000000001010305874402010619"
    "2c9ed225d8600a5a614aafa3cb4d8d83";
const std::string kCheckHash =
    "0000003203160000000000000004"
    "00000000000006a40000000000000001e8ccb037911d7607"
    "1754d408d93b770966b18f001eca8d7f";
const std::string kHeartbeat =
    "0000003603120000000000000005"
    "00000000000006a400000000000000010000000000000003000003e8"
    "fc73b674317ceb3fc416d05633718adf";
const std::string kSubscribersHeartbeat =
    "0000003603120000000000000002"
    "00000000000006a401000000000000010000000000000001000001f4"
    "bfe56005e8d9ae32e892585f276cc81d";
const std::string kReportBody = "010105302e312e30020501003c0301030a00080162030102000028";
const std::string kReport =
    "00000035031c0000000000000007" + kReportBody + "9b2aa544e395329d94fb91e16c891049";
const std::string kRefusal = "00000003030465";

/// The hex digits of the page's examples, without their comments: indented lines up to the first
/// two blanks in a row, or other sign.
std::string hex_of_the_page() {
    std::ifstream page(tests::source_root(__FILE__) / "protocol/FORMAT.md");
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
    EXPECT_EQ(base::hex(key_id(kClusterKey)), kKeyId);
    EXPECT_EQ(base::hex(hash_secret(kClusterKey)), kHashSecret);
    EXPECT_EQ(base::hex(field_key(kClusterKey)), kFieldKey);
    const auto tls = tls_keys({kClusterKey});
    EXPECT_EQ(tls[0].identity, kKeyId);
    EXPECT_EQ(base::hex(tls[0].secret), kTlsKey);
    const auto hash = summary::KeyHasher(hash_secret(kClusterKey))("http://example.com/");
    EXPECT_EQ(hash.low, 0xf4ea1cde55ac7855U);
    EXPECT_EQ(hash.high, 0xdb11d3ca139b3c5fU);
}

TEST_F(Format, AHelloReadsAsOnThePage) {
    const PublisherHello publisher(a, keys, "b", counting<Nonce>(0), bloom({128, 4}));
    SubscriberHello subscriber(b, keys, rules, counting<Nonce>(32));
    EXPECT_EQ(base::hex(sealed(publisher.hello())), kHello);
    const auto challenge = subscriber.on_hello(publisher.hello());
    ASSERT_TRUE(challenge);
    EXPECT_EQ(base::hex(sealed(*challenge)), kChallenge);
    const auto answer = publisher.on_message(*challenge);
    ASSERT_TRUE(answer);
    EXPECT_EQ(base::hex(sealed(answer->proof)), kProof);
    const auto secrets = subscriber.on_proof(answer->proof);
    ASSERT_TRUE(secrets);
    EXPECT_EQ(base::hex(secrets->from_publisher), kFromPublisher);
    EXPECT_EQ(base::hex(secrets->from_subscriber), kFromSubscriber);
    EXPECT_EQ(secrets->token, kToken);
    EXPECT_EQ(base::hex(sealed(Refusal{Error::wrong_key})), kRefusal);
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
    EXPECT_EQ(base::hex(sealed(subscriber, Welcome{})), kWelcome);
    EXPECT_EQ(base::hex(sealed(publisher, Invalidate{2, {key}, {tag}})), kInvalidate);
    EXPECT_EQ(base::hex(sealed(subscriber, Confirm{2})), kConfirm);
    EXPECT_EQ(base::hex(sealed(publisher, SnapshotBegin{1700, 0, 2, bloom({128, 4}), 5})),
              kSnapshotBegin);
    EXPECT_EQ(base::hex(sealed(publisher, SnapshotPart{snapshot})), kSnapshotPart);
    EXPECT_EQ(base::hex(sealed(publisher, Delta{1700, 1, delta})), kDelta);
    EXPECT_EQ(base::hex(sealed(publisher, CheckHash{1700, 1, 0xe8ccb037911d7607})), kCheckHash);
    EXPECT_EQ(base::hex(sealed(publisher, Heartbeat{1700, 1, 3, 1000ms})), kHeartbeat);
    EXPECT_EQ(
        base::hex(sealed(subscriber, Heartbeat{1700, 1, kListensElsewhere, 500ms, kTakesReports})),
        kSubscribersHeartbeat);
    EXPECT_EQ(base::hex(sealed(publisher, InvalidateAll{70000})), kInvalidateAll);
    const auto report = unhex(kReportBody);
    EXPECT_EQ(base::hex(sealed(publisher, Report{report})), kReport);
}

TEST_F(Format, TheAnnouncementsOfThePagePutASubscriberInStep) {
    Opener opener(key_of<32>(kFromPublisher));
    const SyncSession::TimePoint now{std::chrono::seconds(100)};
    SyncSession session({.heartbeat = std::chrono::milliseconds(500)}, now);
    for (const auto& frame :
         {kInvalidate, kSnapshotBegin, kSnapshotPart, kDelta, kCheckHash, kHeartbeat}) {
        const auto bytes = unhex(frame);
        const auto message = opener.open(without_length(bytes));
        ASSERT_TRUE(message) << frame;
        const auto action = session.on_message(*message, now);
        EXPECT_FALSE(action && std::holds_alternative<SyncSession::Close>(*action)) << frame;
    }
    EXPECT_TRUE(session.in_sync());
    EXPECT_EQ(session.counters().resyncs, 0U);
    EXPECT_EQ(session.objects(), 3U);
    Opener other(key_of<32>(kFromSubscriber));
    EXPECT_TRUE(other.open(without_length(unhex(kWelcome))));
    const auto answer = unhex(kSubscribersHeartbeat);
    const auto confirmation = unhex(kConfirm);
    EXPECT_TRUE(other.open(without_length(confirmation)));
    const auto beat = other.open(without_length(answer));
    ASSERT_TRUE(beat);
    session.kept(2);
    EXPECT_EQ(session.next(now), Message(Confirm{2}));
    auto own = session.next(now);
    ASSERT_TRUE(own && std::holds_alternative<Heartbeat>(*own));
    std::get<Heartbeat>(*own).features = kTakesReports;  // SubscriberEnd adds it
    EXPECT_EQ(own, *beat);
}

TEST_F(Format, ThePageHasTheSameBytes) {
    const auto page = hex_of_the_page();
    for (const auto& bytes :
         {kKeyId,     kHashSecret,           kKeyHash,        kFieldKey,     kHello,   kChallenge,
          kProof,     kFromPublisher,        kFromSubscriber, kToken,        kWelcome, kInvalidate,
          kConfirm,   kInvalidateAll,        kSnapshotBegin,  kSnapshotPart, kDelta,   kCheckHash,
          kHeartbeat, kSubscribersHeartbeat, kRefusal,        kTlsKey,       kReport}) {
        EXPECT_NE(page.find(bytes), std::string::npos) << bytes;
    }
}

}  // namespace format_test
}  // namespace protocol::test
