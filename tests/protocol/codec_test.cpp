#include "protocol/wire/codec.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/membership/peering_config.hpp"
#include "protocol/wire/heartbeat.hpp"
#include "protocol/wire/invalidation.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/summary/keys.hpp"

#include "summary/sizing/prefix_tag.hpp"

namespace protocol::test {
namespace codec_test {

using namespace std::chrono_literals;

const Bytes kPayload = unhex("010203");

/// The longest that there may be, with any content.
const auto kDescriptor =
    *summary::Descriptor::from(Bytes(summary::kMaxDescriptorBytes, std::byte{77}));

Hello hello() {
    Hello hello;
    hello.keys = {counting<KeyId>(1), counting<KeyId>(101)};
    hello.from = "cache-a";
    hello.to = std::string(kMaxNodeIdBytes, 'b');
    hello.instance = counting<Instance>(10);
    hello.nonce = counting<Nonce>(20);
    hello.summary = kDescriptor;
    return hello;
}

Challenge challenge() {
    return {counting<KeyId>(1), "cache-b", counting<Instance>(2), counting<Nonce>(3),
            counting<base::Mac>(4)};
}

std::vector<HelloMessage> hello_messages() {
    auto with_rules = hello();
    with_rules.rules = 0x0102030405060708;
    return {hello(),
            with_rules,
            challenge(),
            Proof{counting<base::Mac>(5)},
            Refusal{Error::wrong_key},
            Refusal{Error::refused}};
}

std::vector<Message> messages() {
    return {Welcome{},
            SnapshotRequest{},
            Heartbeat{1, 2, 3, kMaxBeatInterval},
            Heartbeat{1, 2, 3, kMaxBeatInterval, kTakesReports},
            Report{kPayload},
            Renewals{1, {{{1, 2}, 3, 4, 5, 6}}},
            Renewals{2, std::vector<Renewal>(kMaxRenewalsAtOnce, {{7, 8}, 9, 10, 11, 12})},
            SnapshotBegin{~std::uint64_t{0}, 5, 6, kDescriptor, 129},
            SnapshotPart{kPayload},
            Delta{7, 8, kPayload},
            CheckHash{9, 10, 11},
            Goodbye{},
            Invalidate{3, {{1, 2}, {3, 4}}, {{5, 6}}},
            Invalidate{1, {}, {{~std::uint64_t{0}, 7}}},
            Invalidate{2, {{1, 2}}, {summary::as_prefix_tag({3, 4})}},
            Invalidate{kMaxInvalidatedAtOnce,
                       std::vector<summary::KeyHash>(kMaxInvalidatedAtOnce, {8, 9}),
                       {}},
            Invalidate{2, {{1, 2}}, {{3, 4}}, true},
            InvalidateAll{12},
            Confirm{13}};
}

template <typename M>
Bytes body(const M& message) {
    Bytes bytes;
    encode_body(message, bytes);
    return bytes;
}

std::uint8_t type(const auto& message) {
    return static_cast<std::uint8_t>(type_of(message));
}

boost::system::error_code hello_error(FrameType type, const Bytes& body) {
    return decode_hello(static_cast<std::uint8_t>(type), body).error();
}

TEST(Codec, EveryHelloMessageComesBackAsItWas) {
    for (const auto& message : hello_messages()) {
        const auto decoded = decode_hello(type(message), body(message));
        ASSERT_TRUE(decoded) << int(type(message));
        EXPECT_EQ(*decoded, message) << int(type(message));
    }
}

TEST(Codec, EveryMessageComesBackAsItWas) {
    for (const auto& message : messages()) {
        const auto bytes = body(message);
        const auto decoded = decode(type(message), bytes);
        ASSERT_TRUE(decoded) << int(type(message));
        EXPECT_EQ(*decoded, message) << int(type(message));
    }
}

TEST(Codec, ABodyCutShortAnywhereIsMalformed) {
    for (const auto& message : hello_messages()) {
        const auto whole = body(message);
        const bool open_ended = std::holds_alternative<Hello>(message);
        const auto fixed = whole.size() - (open_ended ? kDescriptor.bytes().size() - 1 : 0);
        for (std::size_t size = 0; size < fixed; ++size) {
            const auto decoded = decode_hello(type(message), base::ByteView(whole).first(size));
            EXPECT_EQ(decoded.error(), Error::malformed_frame) << int(type(message)) << ' ' << size;
        }
    }
    for (const auto& message : messages()) {
        const bool open_ended = std::holds_alternative<SnapshotPart>(message) ||
                                std::holds_alternative<Delta>(message) ||
                                std::holds_alternative<Report>(message);
        const auto whole = body(message);
        auto fixed = whole.size() - (open_ended ? kPayload.size() - 1 : 0);
        if (std::holds_alternative<SnapshotBegin>(message)) fixed -= kDescriptor.bytes().size() - 1;
        const auto is_list = std::holds_alternative<Invalidate>(message);
        const auto are_renewals = std::holds_alternative<Renewals>(message);
        for (std::size_t size = 0; size < fixed; ++size) {
            const auto hashes = size < kInvalidateHeadBytes ? 0 : size - kInvalidateHeadBytes;
            if (is_list && hashes > 0 && hashes % kKeyHashBytes == 0) continue;  // a shorter list
            if (are_renewals && size > kRenewalsHeadBytes &&
                (size - kRenewalsHeadBytes) % kRenewalBytes == 0)
                continue;
            const auto decoded = decode(type(message), base::ByteView(whole).first(size));
            EXPECT_EQ(decoded.error(), Error::malformed_frame) << int(type(message)) << ' ' << size;
        }
    }
}

TEST(Codec, BytesLeftOverAreMalformed) {
    for (const auto& message : hello_messages()) {
        auto bytes = body(message);
        bytes.push_back({});
        EXPECT_EQ(decode_hello(type(message), bytes).error(), Error::malformed_frame);
    }
    for (const auto& message : messages()) {
        if (std::holds_alternative<SnapshotPart>(message)) continue;
        if (std::holds_alternative<Delta>(message)) continue;
        if (std::holds_alternative<Report>(message)) continue;
        auto bytes = body(message);
        bytes.push_back({});
        EXPECT_EQ(decode(type(message), bytes).error(), Error::malformed_frame);
    }
}

TEST(Codec, ADescriptorIsPassedOnWhateverItSays) {
    for (const auto size : {std::size_t{1}, std::size_t{10}, summary::kMaxDescriptorBytes}) {
        auto said = hello();
        said.summary = *summary::Descriptor::from(Bytes(size, std::byte{200}));
        const auto bytes = body(HelloMessage(said));
        EXPECT_EQ(decode_hello(1, bytes).value(), HelloMessage(said));
        SnapshotBegin begin{1, 2, 3, said.summary, 4};
        EXPECT_EQ(decode(19, body(Message(begin))).value(), Message(begin));
    }
    auto none = hello();
    none.summary = {};
    EXPECT_EQ(hello_error(FrameType::hello, body(HelloMessage(none))), Error::malformed_frame);
}

TEST(Codec, AHelloNamesOneOrTwoKeys) {
    auto bad = hello();
    bad.keys.clear();
    EXPECT_EQ(hello_error(FrameType::hello, body(HelloMessage(bad))), Error::malformed_frame);
    bad.keys.assign(kMaxClusterKeys + 1, {});
    EXPECT_EQ(hello_error(FrameType::hello, body(HelloMessage(bad))), Error::malformed_frame);
}

TEST(Codec, ANodeIdHasOneTo64Bytes) {
    for (const auto size : {std::size_t{0}, kMaxNodeIdBytes + 1}) {
        auto bad = hello();
        bad.from = std::string(size, 'x');
        EXPECT_EQ(hello_error(FrameType::hello, body(HelloMessage(bad))), Error::malformed_frame);
        bad = hello();
        bad.to = std::string(size, 'x');  // may be empty: whoever is there
        const auto expected =
            size > 0 ? make_error_code(Error::malformed_frame) : boost::system::error_code();
        EXPECT_EQ(hello_error(FrameType::hello, body(HelloMessage(bad))), expected);
        auto worse = challenge();
        worse.from = std::string(size, 'x');
        EXPECT_EQ(hello_error(FrameType::challenge, body(HelloMessage(worse))),
                  Error::malformed_frame);
    }
}

TEST(Codec, AnnouncementsWithoutAPayloadAreMalformed) {
    EXPECT_EQ(decode(20, {}).error(), Error::malformed_frame);
    EXPECT_EQ(decode(21, Bytes(16)).error(), Error::malformed_frame);
    SnapshotBegin nothing;
    nothing.summary = kDescriptor;
    EXPECT_EQ(decode(19, body(Message(nothing))).error(), Error::malformed_frame);
}

TEST(Codec, AHeartbeatPromisesTheNextWithinAMinute) {
    const auto type = static_cast<std::uint8_t>(FrameType::heartbeat);
    const auto latest = body(Message(Heartbeat{1, 2, 3, kMaxBeatInterval}));
    EXPECT_TRUE(decode(type, latest));
    EXPECT_TRUE(decode(type, body(Message(Heartbeat{1, 2, 3}))));
    const auto later = body(Message(Heartbeat{1, 2, 3, kMaxBeatInterval + 1ms}));
    EXPECT_EQ(decode(type, later).error(), Error::malformed_frame);
    EXPECT_EQ(decode(type, Bytes(28, std::byte{0xff})).error(), Error::malformed_frame);
}

TEST(Codec, AReportHasOneTo1024Bytes) {
    const auto type = static_cast<std::uint8_t>(FrameType::report);
    EXPECT_EQ(decode(type, {}).error(), Error::malformed_frame);
    EXPECT_TRUE(decode(type, Bytes(kMaxReportBytes)));
    EXPECT_EQ(decode(type, Bytes(kMaxReportBytes + 1)).error(), Error::malformed_frame);
}

TEST(Codec, AnEarlierBuildReadsNoFeaturesInAGeneration) {
    const auto plain = body(Message(Heartbeat{1, 2, 3, kMaxBeatInterval}));
    const auto with = body(Message(Heartbeat{1, 2, 3, kMaxBeatInterval, kTakesReports}));
    ASSERT_EQ(plain.size(), with.size());
    for (std::size_t i = 0; i < plain.size(); ++i)
        EXPECT_EQ(plain[i] != with[i], i == 8) << i;  // the first byte of the generation
}

TEST(Codec, AnInvalidationNamesOneTo1024HashesAndCountsThemFromOne) {
    const std::vector<summary::KeyHash> too_many(kMaxInvalidatedAtOnce + 1);
    const auto type = static_cast<std::uint8_t>(FrameType::invalidate);
    EXPECT_EQ(decode(type, body(Message(Invalidate{5, {}, {}}))).error(), Error::malformed_frame);
    EXPECT_EQ(decode(type, body(Message(Invalidate{5000, too_many, {}}))).error(),
              Error::malformed_frame);
    EXPECT_EQ(decode(type, body(Message(Invalidate{1, {{1, 2}}, {{3, 4}}}))).error(),
              Error::malformed_frame);
    auto more_keys_than_hashes = body(Message(Invalidate{9, {{1, 2}}, {}}));
    more_keys_than_hashes.at(11) = std::byte{2};
    EXPECT_EQ(decode(type, more_keys_than_hashes).error(), Error::malformed_frame);
    EXPECT_EQ(decode(type, Bytes(11)).error(), Error::malformed_frame);
    EXPECT_EQ(decode(25, Bytes(8)).error(), Error::malformed_frame) << "number 0";
    EXPECT_EQ(decode(26, Bytes(8)).error(), Error::malformed_frame) << "number 0";
}

TEST(Codec, TypesOfTheOtherPhaseAndUnknownOnesAreUnknown) {
    for (unsigned number = 0; number < 256; ++number) {
        const auto byte = static_cast<std::uint8_t>(number);
        const bool is_hello = number >= 1 && number <= 5;
        const bool is_tagged = number >= 16 && number <= 30;
        const bool unknown_hello = decode_hello(byte, {}).error() == Error::unknown_frame;
        const auto decoded = decode(byte, {});
        const bool unknown_tagged = !decoded && decoded.error() == Error::unknown_frame;
        EXPECT_EQ(unknown_hello, !is_hello) << number;
        EXPECT_EQ(unknown_tagged, !is_tagged) << number;
    }
}

TEST(Codec, ARefusalThisVersionDoesNotKnowIsStillARefusal) {
    for (unsigned code = 0; code < 256; ++code) {
        const auto decoded = decode_hello(4, Bytes{static_cast<std::byte>(code)});
        ASSERT_TRUE(decoded) << code;
        const auto reason = std::get<Refusal>(*decoded).reason;
        const bool known = code >= 100 && code <= static_cast<unsigned>(Error::last_refusal);
        EXPECT_EQ(reason, known ? static_cast<Error>(code) : Error::refused) << code;
    }
}

TEST(Codec, RandomBytesNeverDecodeToSomethingThatReadsDifferently) {
    constexpr std::uint64_t kSeed = 20240611;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    summary::test::Random random(kSeed);
    int decoded_count = 0;
    for (int round = 0; round < 20000; ++round) {
        Bytes bytes(random.below(200));
        for (auto& byte : bytes) byte = static_cast<std::byte>(random.below(4));
        const auto kind = static_cast<std::uint8_t>(random.below(28));
        if (const auto decoded = decode(kind, bytes)) {
            ++decoded_count;
            EXPECT_EQ(body(*decoded), bytes);
        }
        const auto decoded = decode_hello(kind, bytes);
        if (decoded && !std::holds_alternative<Refusal>(*decoded)) {
            ++decoded_count;
            EXPECT_EQ(body(*decoded), bytes);
        }
    }
    EXPECT_GT(decoded_count, 100);
}

}  // namespace codec_test
}  // namespace protocol::test
