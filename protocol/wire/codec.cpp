#include "protocol/wire/codec.hpp"

#include <algorithm>
#include <utility>

#include "protocol/wire/heartbeat.hpp"
#include "protocol/wire/invalidation.hpp"
#include "protocol/wire/keys.hpp"
#include "protocol/wire/wire.hpp"

#include "summary/sizing/prefix_tag.hpp"

namespace protocol {
namespace {

template <class... Handlers>
struct Overloaded : Handlers... {
    using Handlers::operator()...;
};
template <class... Handlers>  // clang before 17 does not deduce aggregates by itself
Overloaded(Handlers...)->Overloaded<Handlers...>;

/// The first byte of a heartbeat's generation has the features. A generation never grows that far.
constexpr unsigned kFeaturesShift = 56;
constexpr std::uint64_t kGenerationMask = (std::uint64_t{1} << kFeaturesShift) - 1;

std::string node_id(WireReader& in, bool& valid) {
    auto id = in.text();
    valid = valid && !id.empty() && id.size() <= kMaxNodeIdBytes;
    return id;
}

/// The descriptor takes the body up to the last `bytes_after` bytes.
summary::Descriptor descriptor(WireReader& in, std::size_t bytes_after, bool& valid) {
    const auto left = in.left();
    const auto value = summary::Descriptor::from(in.bytes(left - std::min(left, bytes_after)));
    valid = valid && value;
    return value.value_or(summary::Descriptor());
}

void put(WireWriter& out, summary::KeyHash hash) {
    out.u64(hash.low);
    out.u64(hash.high);
}

/// Returns the message if the reader took the whole body and `valid` is true.
template <typename Variant, typename T>
base::Result<Variant> complete(const WireReader& in, T message, bool valid = true) {
    if (!valid || !in.done()) return make_error_code(Error::malformed_frame);
    return Variant(std::move(message));
}

/// `with_rules`: the body begins with the hash of rules. A node without such rules leaves it out,
/// so that earlier versions understand its hello.
base::Result<HelloMessage> decode_first(WireReader in, bool with_rules) {
    Hello hello;
    bool valid = true;
    if (with_rules) hello.rules = in.u64();
    if (with_rules && hello.rules == 0) return make_error_code(Error::malformed_frame);
    const auto keys = in.u8();
    valid = keys >= 1 && keys <= kMaxClusterKeys;
    for (unsigned i = 0; valid && i < keys; ++i) hello.keys.push_back(in.array<sizeof(KeyId)>());
    hello.from = node_id(in, valid);
    hello.to = in.text();
    valid = valid && hello.to.size() <= kMaxNodeIdBytes;
    hello.instance = in.array<sizeof(Instance)>();
    hello.nonce = in.array<sizeof(Nonce)>();
    hello.summary = descriptor(in, 0, valid);
    return complete<HelloMessage>(in, std::move(hello), valid);
}

base::Result<HelloMessage> decode_challenge(WireReader in) {
    Challenge challenge;
    bool valid = true;
    challenge.key = in.array<sizeof(KeyId)>();
    challenge.from = node_id(in, valid);
    challenge.instance = in.array<sizeof(Instance)>();
    challenge.nonce = in.array<sizeof(Nonce)>();
    challenge.mac = in.array<sizeof(base::Mac)>();
    return complete<HelloMessage>(in, std::move(challenge), valid);
}

base::Result<HelloMessage> decode_refusal(WireReader in) {
    // Only refusals are accepted from the wire; a later version may have more of them.
    const auto code = in.u8();
    const bool known = code >= static_cast<int>(Error::first_refusal) &&
                       code <= static_cast<int>(Error::last_refusal);
    return complete<HelloMessage>(in, Refusal{known ? static_cast<Error>(code) : Error::refused});
}

base::Result<Message> decode_snapshot_begin(WireReader in) {
    SnapshotBegin begin;
    bool valid = true;
    begin.epoch = in.u64();
    begin.generation = in.u64();
    begin.objects = in.u64();
    begin.summary = descriptor(in, sizeof(begin.payload_bytes), valid);
    begin.payload_bytes = in.u64();
    return complete<Message>(in, begin, valid && begin.payload_bytes > 0);
}

summary::KeyHash key_hash(WireReader& in) {
    summary::KeyHash hash;
    hash.low = in.u64();
    hash.high = in.u64();
    return hash;
}

base::Result<Message> decode_invalidate(WireReader in, std::size_t body_bytes, bool soft) {
    Invalidate order;
    order.soft = soft;
    order.last = in.u64();
    const std::size_t keys = in.u32();
    const auto hashes = (body_bytes - std::min(body_bytes, kInvalidateHeadBytes)) / kKeyHashBytes;
    const auto valid =
        hashes >= 1 && hashes <= kMaxInvalidatedAtOnce && keys <= hashes && order.last >= hashes;
    for (std::size_t i = 0; valid && i < hashes; ++i)
        (i < keys ? order.keys : order.tags).push_back(key_hash(in));
    return complete<Message>(in, std::move(order), valid);
}

base::Result<Message> decode_renewals(WireReader in, std::size_t body_bytes) {
    Renewals all;
    all.sent_ms = in.u64();
    const auto count = (body_bytes - std::min(body_bytes, kRenewalsHeadBytes)) / kRenewalBytes;
    const auto valid = count >= 1 && count <= kMaxRenewalsAtOnce;
    for (std::size_t i = 0; valid && i < count; ++i) {
        auto& one = all.list.emplace_back();
        one.key = key_hash(in);
        for (auto* number : {&one.version, &one.date, &one.expires}) *number = in.u64();
        one.age_ms = in.u32();
    }
    return complete<Message>(in, std::move(all), valid);
}

/// Appends the fields of a message.
class BodyWriter {
public:
    explicit BodyWriter(Bytes& bytes) : out_(bytes) {}

    void operator()(const Hello& hello) {
        if (hello.rules != 0) out_.u64(hello.rules);
        out_.u8(static_cast<std::uint8_t>(hello.keys.size()));
        for (const auto& key : hello.keys) out_.bytes(key);
        out_.text(hello.from);
        out_.text(hello.to);
        out_.bytes(hello.instance);
        out_.bytes(hello.nonce);
        out_.bytes(hello.summary.bytes());
    }
    void operator()(const Challenge& challenge) {
        out_.bytes(challenge.key);
        out_.text(challenge.from);
        out_.bytes(challenge.instance);
        out_.bytes(challenge.nonce);
        out_.bytes(challenge.mac);
    }
    void operator()(const Proof& proof) { out_.bytes(proof.mac); }
    void operator()(const Refusal& refusal) { out_.u8(static_cast<std::uint8_t>(refusal.reason)); }

    void operator()(const Welcome&) {}
    void operator()(const SnapshotRequest&) {}
    void operator()(const Goodbye&) {}
    void operator()(const Heartbeat& beat) {
        out_.u64(beat.epoch);
        out_.u64(beat.generation | std::uint64_t{beat.features} << kFeaturesShift);
        out_.u64(beat.objects);
        out_.u32(static_cast<std::uint32_t>(beat.next.count()));
    }
    void operator()(const SnapshotBegin& begin) {
        out_.u64(begin.epoch);
        out_.u64(begin.generation);
        out_.u64(begin.objects);
        out_.bytes(begin.summary.bytes());
        out_.u64(begin.payload_bytes);
    }
    void operator()(const SnapshotPart& part) { out_.bytes(part.payload); }
    void operator()(const Delta& delta) {
        out_.u64(delta.epoch);
        out_.u64(delta.generation);
        out_.bytes(delta.payload);
    }
    void operator()(const CheckHash& check) {
        out_.u64(check.epoch);
        out_.u64(check.generation);
        out_.u64(check.hash);
    }
    void operator()(const Invalidate& order) {
        out_.u64(order.last);
        out_.u32(static_cast<std::uint32_t>(order.keys.size()));
        for (const auto& key : order.keys) put(out_, key);
        for (const auto& tag : order.tags) put(out_, tag);
    }
    void operator()(const InvalidateAll& order) { out_.u64(order.last); }
    void operator()(const Confirm& confirm) { out_.u64(confirm.last); }
    void operator()(const Report& report) { out_.bytes(report.body); }
    void operator()(const Renewals& all) {
        out_.u64(all.sent_ms);
        for (const auto& one : all.list) {
            put(out_, one.key);
            for (const auto number : {one.version, one.date, one.expires}) out_.u64(number);
            out_.u32(one.age_ms);
        }
    }

private:
    WireWriter out_;
};

}  // namespace

FrameType type_of(const HelloMessage& message) {
    return std::visit(Overloaded{[](const Hello& hello) {
                                     return hello.rules == 0 ? FrameType::hello
                                                             : FrameType::hello_with_rules;
                                 },
                                 [](const Challenge&) { return FrameType::challenge; },
                                 [](const Proof&) { return FrameType::proof; },
                                 [](const Refusal&) { return FrameType::refusal; }},
                      message);
}

FrameType type_of(const Message& message) {
    return std::visit(Overloaded{[](const Welcome&) { return FrameType::welcome; },
                                 [](const SnapshotRequest&) { return FrameType::snapshot_request; },
                                 [](const Heartbeat&) { return FrameType::heartbeat; },
                                 [](const SnapshotBegin&) { return FrameType::snapshot_begin; },
                                 [](const SnapshotPart&) { return FrameType::snapshot_part; },
                                 [](const Delta&) { return FrameType::delta; },
                                 [](const CheckHash&) { return FrameType::check_hash; },
                                 [](const Goodbye&) { return FrameType::goodbye; },
                                 [](const Invalidate& order) {
                                     if (order.soft) return FrameType::invalidate_softly;
                                     return std::ranges::any_of(order.tags, summary::is_prefix_tag)
                                                ? FrameType::invalidate_prefixes
                                                : FrameType::invalidate;
                                 },
                                 [](const InvalidateAll&) { return FrameType::invalidate_all; },
                                 [](const Confirm&) { return FrameType::confirm; },
                                 [](const Report&) { return FrameType::report; },
                                 [](const Renewals&) { return FrameType::renewals; }},
                      message);
}

void encode_body(const HelloMessage& message, Bytes& bytes) {
    std::visit(BodyWriter(bytes), message);
}

void encode_body(const Message& message, Bytes& bytes) {
    std::visit(BodyWriter(bytes), message);
}

base::Result<HelloMessage> decode_hello(std::uint8_t type, base::ByteView body) {
    WireReader in(body);
    switch (static_cast<FrameType>(type)) {
        case FrameType::hello:
            return decode_first(in, false);
        case FrameType::hello_with_rules:
            return decode_first(in, true);
        case FrameType::challenge:
            return decode_challenge(in);
        case FrameType::proof: {
            const Proof proof{in.array<sizeof(base::Mac)>()};
            return complete<HelloMessage>(in, proof);
        }
        case FrameType::refusal:
            return decode_refusal(in);
        default:
            return make_error_code(Error::unknown_frame);
    }
}

base::Result<Message> decode(std::uint8_t type, base::ByteView body) {
    WireReader in(body);
    switch (static_cast<FrameType>(type)) {
        case FrameType::welcome:
            return complete<Message>(in, Welcome{});
        case FrameType::snapshot_request:
            return complete<Message>(in, SnapshotRequest{});
        case FrameType::heartbeat: {
            Heartbeat beat;
            beat.epoch = in.u64();
            const auto generation = in.u64();
            beat.generation = generation & kGenerationMask;
            beat.features = static_cast<std::uint8_t>(generation >> kFeaturesShift);
            beat.objects = in.u64();
            beat.next = std::chrono::milliseconds(in.u32());
            return complete<Message>(in, beat, beat.next <= kMaxBeatInterval);
        }
        case FrameType::snapshot_begin:
            return decode_snapshot_begin(in);
        case FrameType::snapshot_part: {
            const SnapshotPart part{in.rest()};
            return complete<Message>(in, part, !part.payload.empty());
        }
        case FrameType::delta: {
            Delta delta;
            delta.epoch = in.u64();
            delta.generation = in.u64();
            delta.payload = in.rest();
            return complete<Message>(in, delta, !delta.payload.empty());
        }
        case FrameType::check_hash: {
            CheckHash check;
            check.epoch = in.u64();
            check.generation = in.u64();
            check.hash = in.u64();
            return complete<Message>(in, check);
        }
        case FrameType::goodbye:
            return complete<Message>(in, Goodbye{});
        case FrameType::invalidate:
        case FrameType::invalidate_prefixes:
            return decode_invalidate(in, body.size(), false);
        case FrameType::invalidate_softly:
            return decode_invalidate(in, body.size(), true);
        case FrameType::renewals:
            return decode_renewals(in, body.size());
        case FrameType::invalidate_all: {
            const InvalidateAll order{in.u64()};
            return complete<Message>(in, order, order.last > 0);
        }
        case FrameType::confirm: {
            const Confirm confirm{in.u64()};
            return complete<Message>(in, confirm, confirm.last > 0);
        }
        case FrameType::report: {
            const Report report{in.rest()};
            const auto bytes = report.body.size();
            return complete<Message>(in, report, bytes > 0 && bytes <= kMaxReportBytes);
        }
        default:
            return make_error_code(Error::unknown_frame);
    }
}

}  // namespace protocol
