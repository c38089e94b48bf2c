#include "summary/coding/judge.hpp"

#include <algorithm>

#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/fingerprint_descriptor.hpp"

namespace summary {

namespace {

bool is_known(const Descriptor& of) {
    return std::find(kKinds.begin(), kKinds.end(), of.kind()) != kKinds.end();
}

}  // namespace

std::optional<std::uint64_t> replica_bytes(const Descriptor& of) {
    switch (of.kind()) {
        case Kind::counting_bloom:
            if (const auto shape = shape_of(of)) return replica_bytes(*shape);
            break;
        case Kind::quotient:
        case Kind::cuckoo:
            if (const auto shape = fingerprint_shape_of(of)) return replica_bytes(*shape);
            break;
    }
    return std::nullopt;
}

DescriptorVerdict judge(const Descriptor& of, std::uint64_t max_bytes) {
    if (!is_known(of)) return DescriptorVerdict::unknown_kind;
    const auto bytes = replica_bytes(of);
    if (!bytes) return DescriptorVerdict::malformed;
    return *bytes > max_bytes ? DescriptorVerdict::too_large : DescriptorVerdict::accepted;
}

DescriptorVerdict judge(const SnapshotHead& head, std::uint64_t max_bytes) {
    const auto verdict = judge(head.of, max_bytes);
    if (verdict != DescriptorVerdict::accepted) return verdict;
    switch (head.of.kind()) {
        case Kind::counting_bloom:
            return judge_snapshot(*shape_of(head.of), head.objects, head.payload_bytes);
        case Kind::quotient:
        case Kind::cuckoo:
            return judge_snapshot(*fingerprint_shape_of(head.of), head.objects, head.payload_bytes);
    }
    return DescriptorVerdict::unknown_kind;
}

Description describe(const Descriptor& of) {
    switch (of.kind()) {
        case Kind::counting_bloom: {
            const auto shape = shape_of(of).value_or(Shape{});
            return {name(of.kind()), shape.bits, shape.hashes};
        }
        case Kind::quotient:
        case Kind::cuckoo:
            return {name(of.kind()), replica_bytes(of).value_or(0) * 8, 1};
    }
    return {name(of.kind())};
}

}  // namespace summary
