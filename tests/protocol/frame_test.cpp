#include "protocol/wire/frame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "protocol/membership/peering_config.hpp"
#include "tests/protocol/bytes.hpp"
#include "tests/summary/keys.hpp"

namespace protocol::test {
namespace frame_test {

void feed(FrameBuffer& buffer, base::ByteView bytes) {
    while (!bytes.empty()) {
        const auto room = buffer.prepare();
        const auto size = std::min(room.size(), bytes.size());
        std::copy_n(bytes.begin(), size, room.begin());
        buffer.commit(size);
        bytes = bytes.subspan(size);
    }
}

/// A frame of `length` bytes, all `value`, with its length prefix.
Bytes raw_frame(std::size_t length, unsigned value) {
    Bytes frame;
    for (int shift = 24; shift >= 0; shift -= 8) {
        frame.push_back(static_cast<std::byte>(length >> shift));
    }
    frame.resize(kLengthBytes + length, static_cast<std::byte>(value));
    return frame;
}

TEST(FrameBuffer, GivesNothingBeforeAFrameIsWhole) {
    const auto frame = raw_frame(5, 7);
    FrameBuffer buffer;
    for (std::size_t i = 0; i < frame.size(); ++i) {
        const auto early = buffer.next(100);
        ASSERT_TRUE(early);
        EXPECT_FALSE(*early) << i;
        feed(buffer, base::ByteView(frame).subspan(i, 1));
    }
    const auto whole = buffer.next(100);
    ASSERT_TRUE(whole && *whole);
    EXPECT_EQ(base::hex(**whole), "0707070707");
    EXPECT_FALSE(*buffer.next(100));
}

TEST(FrameBuffer, GivesAllFramesOfOneRead) {
    Bytes stream;
    for (unsigned i = 2; i < 6; ++i) {
        const auto frame = raw_frame(i, i);
        stream.insert(stream.end(), frame.begin(), frame.end());
    }
    FrameBuffer buffer;
    feed(buffer, stream);
    for (unsigned i = 2; i < 6; ++i) {
        const auto frame = buffer.next(100);
        ASSERT_TRUE(frame && *frame);
        EXPECT_EQ((*frame)->size(), i);
    }
    EXPECT_FALSE(*buffer.next(100));
}

TEST(FrameBuffer, JudgesTheLengthBeforeTheFrameIsThere) {
    FrameBuffer buffer;
    feed(buffer, unhex("00000065"));
    EXPECT_EQ(buffer.next(100).error(), Error::frame_too_large);
    FrameBuffer another;
    feed(another, unhex("ffffffff"));
    EXPECT_EQ(another.next(kMaxFrameBytes).error(), Error::frame_too_large);
}

TEST(FrameBuffer, MakesRoomAsBytesComeNotAsTheyArePromised) {
    FrameBuffer buffer;
    feed(buffer, unhex("000fffff"));  // nearly a mebibyte
    ASSERT_TRUE(buffer.next(kMaxFrameBytes));
    EXPECT_LE(buffer.prepare().size(), 64U << 10);
}

TEST(FrameBuffer, TakesAFrameOfExactlyTheLimit) {
    FrameBuffer buffer;
    feed(buffer, raw_frame(100, 1));
    const auto frame = buffer.next(100);
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ((*frame)->size(), 100U);
}

TEST(FrameBuffer, AFrameWithoutVersionAndTypeIsTooShort) {
    for (const auto* length : {"00000000", "00000001"}) {
        FrameBuffer buffer;
        feed(buffer, unhex(length));
        EXPECT_EQ(buffer.next(100).error(), Error::frame_too_short);
    }
}

TEST(FrameBuffer, CutsARandomStreamIntoTheFramesThatWereWritten) {
    constexpr std::uint64_t kSeed = 7;
    SCOPED_TRACE("seed " + std::to_string(kSeed));
    summary::test::Random random(kSeed);
    std::vector<Bytes> frames;
    Bytes stream;
    for (unsigned i = 0; i < 60; ++i) {
        const auto size = random.one_in(6) ? 50000 + random.below(300000) : 2 + random.below(2000);
        frames.push_back(raw_frame(size, i));
        stream.insert(stream.end(), frames.back().begin(), frames.back().end());
    }
    FrameBuffer buffer;
    std::size_t got = 0;
    auto rest = base::ByteView(stream);
    while (!rest.empty()) {
        const auto size = std::min<std::size_t>(rest.size(), 1 + random.below(30000));
        feed(buffer, rest.first(size));
        rest = rest.subspan(size);
        for (;;) {
            const auto frame = buffer.next(kMaxFrameBytes);
            ASSERT_TRUE(frame);
            if (!*frame) break;
            ASSERT_TRUE(std::ranges::equal(**frame, without_length(frames.at(got)))) << got;
            ++got;
        }
    }
    EXPECT_EQ(got, frames.size());
}

class Tagged : public ::testing::Test {
protected:
    boost::system::error_code error_of(const Bytes& frame) {
        const auto message = opener.open(without_length(frame));
        return message ? boost::system::error_code() : message.error();
    }
    Sealer sealer{counting<LinkKey>(1)};
    Opener opener{counting<LinkKey>(1)};
};

TEST_F(Tagged, FramesComeBackInOrder) {
    for (unsigned i = 0; i < 5; ++i) {
        const auto frame = sealed(sealer, Heartbeat{i, 2, 3});
        const auto message = opener.open(without_length(frame));
        ASSERT_TRUE(message);
        EXPECT_EQ(*message, Message(Heartbeat{i, 2, 3}));
    }
}

TEST_F(Tagged, TheLengthPrefixCountsWhatFollows) {
    const auto frame = sealed(sealer, Goodbye{});
    EXPECT_EQ(frame.size(), kTaggedOverheadBytes);
    EXPECT_EQ(base::hex(base::ByteView(frame).first(kLengthBytes)), "0000001a");
}

TEST_F(Tagged, AnyBitFlippedIsNoticed) {
    const auto good = sealed(sealer, CheckHash{1, 2, 3});
    for (std::size_t bit = kLengthBytes * 8; bit < good.size() * 8; ++bit) {
        auto bad = good;
        bad[bit / 8] ^= std::byte{1} << (bit % 8);
        const auto expected = bit / 8 == kLengthBytes ? Error::wrong_version : Error::bad_tag;
        EXPECT_EQ(error_of(bad), expected) << "bit " << bit;
    }
    EXPECT_EQ(error_of(good), boost::system::error_code());  // nothing was used up
}

TEST_F(Tagged, AnotherKeyDoesNotOpenIt) {
    Opener other(counting<LinkKey>(2));
    const auto frame = sealed(sealer, Goodbye{});
    EXPECT_EQ(other.open(without_length(frame)).error(), Error::bad_tag);
}

TEST_F(Tagged, RepeatedLostAndReorderedFramesAreNoticed) {
    const auto first = sealed(sealer, Heartbeat{1, 1, 1});
    const auto second = sealed(sealer, Heartbeat{2, 2, 2});
    EXPECT_EQ(error_of(second), Error::bad_sequence);
    EXPECT_EQ(error_of(first), boost::system::error_code());
    EXPECT_EQ(error_of(first), Error::bad_sequence);
    EXPECT_EQ(error_of(second), boost::system::error_code());
}

TEST_F(Tagged, AFrameWithoutRoomForSequenceAndTagIsTooShort) {
    const auto frame = sealed(sealer, Goodbye{});
    for (std::size_t size = 0; size < frame.size() - kLengthBytes; ++size) {
        EXPECT_EQ(opener.open(without_length(frame).first(size)).error(), Error::frame_too_short);
    }
}

TEST_F(Tagged, AnAuthenticFrameOfAnUnknownTypeIsStillRefused) {
    Bytes frame = unhex("03 30 0000000000000000");
    base::HmacSha256 mac(counting<LinkKey>(1));
    const auto tag = mac({frame});
    frame.insert(frame.end(), tag.begin(), tag.begin() + kTagBytes);
    EXPECT_EQ(opener.open(frame).error(), Error::unknown_frame);
}

TEST_F(Tagged, TheLargestDeltaAndSnapshotPartFitTheLimit) {
    const Bytes payload(kMaxDeltaPayloadBytes);
    EXPECT_LE(sealed(sealer, Delta{1, 2, payload}).size() - kLengthBytes, kMaxFrameBytes);
    const auto part = base::ByteView(payload).first(kSnapshotPartBytes);
    EXPECT_LE(sealed(sealer, SnapshotPart{part}).size() - kLengthBytes, kMaxFrameBytes);
}

TEST(HelloFrame, TheLargestHelloFitsTheLimit) {
    Hello hello;
    hello.keys.assign(kMaxClusterKeys, {});
    hello.from = hello.to = std::string(kMaxNodeIdBytes, 'x');
    EXPECT_LE(sealed(hello).size() - kLengthBytes, kMaxHelloFrameBytes);
}

TEST(HelloFrame, OfAnotherVersionIsRefusedUnlessItIsARefusal) {
    const auto proof = with_byte(sealed(Proof{}), kLengthBytes, 99);
    EXPECT_EQ(open_hello(without_length(proof)).error(), Error::wrong_version);
    const auto refusal = with_byte(sealed(Refusal{Error::wrong_version}), kLengthBytes, 99);
    const auto message = open_hello(without_length(refusal));
    ASSERT_TRUE(message);
    EXPECT_EQ(*message, HelloMessage(Refusal{Error::wrong_version}));
}

TEST(HelloFrame, TaggedTypesAreUnknownThere) {
    EXPECT_EQ(open_hello(unhex("0310")).error(), Error::unknown_frame);
}

}  // namespace frame_test
}  // namespace protocol::test
