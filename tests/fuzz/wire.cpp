// The bytes of peers: frames, and the summaries in them.

#include "protocol/wire/frame.hpp"
#include "proxy/admin/node_report.hpp"
#include "summary/bits/rice.hpp"
#include "summary/coding/coding.hpp"
#include "summary/coding/judge.hpp"
#include "summary/coding/snapshot_reader.hpp"
#include "summary/directory/replica.hpp"
#include "summary/sizing/kind.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace {

using base::ByteView;
using protocol::Bytes;

ByteView as_bytes(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const std::byte*>(data), size};
}

void check_hello(std::uint8_t type, ByteView body) {
    const auto message = protocol::decode_hello(type, body);
    if (!message) return;
    Bytes again;
    protocol::encode_body(*message, again);
    // A refusal of a later version is read as a plain one.
    const bool refusal = std::holds_alternative<protocol::Refusal>(*message);
    FUZZ_CHECK(refusal || std::ranges::equal(again, body));
    const auto reread = protocol::decode_hello(type, again);
    FUZZ_CHECK(reread && *reread == *message);
    Bytes frame;
    protocol::seal_hello(*message, frame);
    const auto opened = protocol::open_hello(ByteView(frame).subspan(protocol::kLengthBytes));
    FUZZ_CHECK(opened && *opened == *message);
}

void check_message(std::uint8_t type, ByteView body) {
    const auto message = protocol::decode(type, body);
    if (!message) return;
    FUZZ_CHECK(static_cast<std::uint8_t>(protocol::type_of(*message)) == type);
    Bytes again;
    protocol::encode_body(*message, again);
    FUZZ_CHECK(std::ranges::equal(again, body));

    const protocol::LinkKey key{};
    protocol::Sealer sealer(key);
    protocol::Opener opener(key);
    Bytes frame;
    sealer.seal(*message, frame);
    const auto sealed = ByteView(frame).subspan(protocol::kLengthBytes);
    const auto opened = opener.open(sealed);
    FUZZ_CHECK(opened && *opened == *message);
    FUZZ_CHECK(!opener.open(sealed));  // the same sequence number again
    frame[frame.size() - 1 - body.size() % 16] ^= std::byte{1};
    protocol::Opener other(key);
    FUZZ_CHECK(!other.open(ByteView(frame).subspan(protocol::kLengthBytes)));
}

/// The frames of a stream that comes in pieces of `step` bytes, one after another, and whether it
/// ended in an error.
struct Cut {
    Bytes frames;
    std::size_t count = 0;
    bool broken = false;
    bool operator==(const Cut&) const = default;
};
Cut cut_stream(ByteView stream, std::size_t step, std::size_t max_bytes) {
    Cut out;
    protocol::FrameBuffer buffer;
    while (!stream.empty() && !out.broken) {
        const auto room = buffer.prepare();
        FUZZ_CHECK(!room.empty());
        const auto taken = std::min({step, stream.size(), room.size()});
        std::memcpy(room.data(), stream.data(), taken);
        buffer.commit(taken);
        stream = stream.subspan(taken);
        for (;;) {
            const auto frame = buffer.next(max_bytes);
            if (!frame) {
                out.broken = true;
                break;
            }
            if (!*frame) break;
            FUZZ_CHECK((*frame)->size() >= protocol::kHeadBytes && (*frame)->size() <= max_bytes);
            out.frames.insert(out.frames.end(), (*frame)->begin(), (*frame)->end());
            ++out.count;
        }
    }
    return out;
}

void check_delta(const summary::Delta& delta, std::uint64_t bits) {
    FUZZ_CHECK(is_valid(delta, bits));
    summary::Bytes coded;
    encode_delta(delta, bits, coded);
    FUZZ_CHECK(summary::decode_delta(coded, bits) == delta);
    summary::BitArray once(bits);
    apply(delta, once);
    auto twice = once;
    apply(delta, twice);
    FUZZ_CHECK(once == twice && once.count_ones() == delta.set.size());

    summary::Replica replica;
    using summary::ApplyResult;
    FUZZ_CHECK(replica.apply_snapshot(1, 1, summary::BloomFilter({bits, 4})) == ApplyResult::ok);
    const auto done = replica.apply_delta(1, 2, coded);
    FUZZ_CHECK(done.what == ApplyResult::ok && done.change == summary::Change(delta));
    FUZZ_CHECK(check_hash(replica.filter()) == once.check_hash());
    FUZZ_CHECK(replica.check(1, 2, once.check_hash()) == ApplyResult::ok);
    FUZZ_CHECK(replica.apply_delta(1, 4, coded).what == ApplyResult::gap && !replica.in_sync());
}

summary::Bytes coded_snapshot(const summary::BitArray& snapshot) {
    summary::Bytes coded;
    summary::SnapshotEncoder encoder(snapshot, snapshot.count_ones(), coded);
    while (!encoder.step(snapshot.words().size())) continue;
    return coded;
}

std::optional<summary::BitArray> read_snapshot(ByteView payload, std::uint64_t bits) {
    summary::SnapshotDecoder decoder(bits);
    if (!decoder.take(payload)) return std::nullopt;
    return decoder.finish();
}

void check_snapshot(const summary::BitArray& snapshot, std::uint64_t bits) {
    FUZZ_CHECK(snapshot.size() == bits);
    const auto coded = coded_snapshot(snapshot);
    FUZZ_CHECK(coded.size() <= summary::max_snapshot_bytes(bits));
    FUZZ_CHECK(read_snapshot(coded, bits) == snapshot);
    // Without its last byte it is no snapshot.
    FUZZ_CHECK(!read_snapshot(std::span(coded).first(coded.size() - 1), bits));
}

/// The statements of a peer about its summary: each accepted one is small enough, and its snapshots
/// can be read.
void check_descriptor(ByteView bytes) {
    constexpr std::uint64_t kLimit = 4096;
    const auto of = summary::Descriptor::from(bytes);
    FUZZ_CHECK(of.has_value() == (!bytes.empty() && bytes.size() <= summary::kMaxDescriptorBytes));
    if (!of) return;
    FUZZ_CHECK(std::ranges::equal(of->bytes(), bytes));
    const auto verdict = judge(*of, kLimit);
    const auto kept = summary::replica_bytes(*of);
    FUZZ_CHECK(!kept || summary::kind_named(describe(*of).kind));
    FUZZ_CHECK((verdict == summary::DescriptorVerdict::accepted) == (kept && *kept <= kLimit));
    if (verdict != summary::DescriptorVerdict::accepted) return;
    summary::SnapshotReader reader(*of);
    if (!reader.take(bytes)) return;
    const auto filter = reader.finish();
    FUZZ_CHECK(!filter || descriptor_of(*filter) == *of);
}

void check_rice(unsigned parameter, std::uint64_t universe, ByteView bytes) {
    summary::RiceReader reader(parameter, universe, bytes);
    std::uint64_t lowest = 0;
    for (std::size_t count = 0; count <= bytes.size() * 8; ++count) {
        const auto position = reader.next();
        if (!position) return;
        FUZZ_CHECK(*position >= lowest && *position < universe);
        lowest = *position + 1;
        const auto rest = reader.rest();
        FUZZ_CHECK(!rest || rest->size() <= bytes.size());
    }
    FUZZ_CHECK(false);  // each code takes at least one bit
}

}  // namespace

/// A report that is read and written again is the same report, as far as it has room.
int fuzz_report(const std::uint8_t* data, std::size_t size) {
    const auto report = proxy::decode_report(as_bytes(data, size));
    if (!report) return 0;
    FUZZ_CHECK(size <= protocol::kMaxReportBytes);
    const auto again = proxy::encode_report(*report);
    FUZZ_CHECK(again.size() <= protocol::kMaxReportBytes);
    const auto reread = proxy::decode_report(again);
    FUZZ_CHECK(reread && reread->numbers == report->numbers && reread->version == report->version);
    FUZZ_CHECK(reread->links.size() <= report->links.size());
    FUZZ_CHECK(reread->links.size() + reread->links_left_out ==
               report->links.size() + report->links_left_out);
    return 0;
}

/// First byte: the kind of the rest, and the pieces in which it comes.
int fuzz_frame(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const auto rest = as_bytes(data + 2, size - 2);
    if (data[0] < 32) {
        check_hello(data[0], rest);
        check_message(data[0], rest);
        return 0;
    }
    const std::size_t limit = data[0] < 128 ? protocol::kMaxHelloFrameBytes : 4096;
    const auto stream = as_bytes(data + 1, size - 1);
    const auto whole = cut_stream(stream, stream.size(), limit);
    FUZZ_CHECK(whole == cut_stream(stream, data[0] % 7 + 1u, limit));
    return 0;
}

/// First two bytes: how many bits the filter has; then a payload.
int fuzz_summary(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const std::uint64_t bits = data[0] * 16u + data[1] + 1u;
    const auto payload = as_bytes(data + 2, size - 2);
    if (const auto delta = summary::decode_delta(payload, bits)) check_delta(*delta, bits);
    if (const auto snapshot = read_snapshot(payload, bits)) check_snapshot(*snapshot, bits);
    check_descriptor(payload);
    check_rice(data[0] % (summary::kMaxRiceParameter + 1), bits, payload);
    check_rice(data[0] % (summary::kMaxRiceParameter + 1), bits << 20, payload);
    return 0;
}
