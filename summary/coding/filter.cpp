#include "summary/coding/filter.hpp"

#include <algorithm>
#include <utility>

#include "summary/coding/bloom_descriptor.hpp"
#include "summary/coding/coding.hpp"
#include "summary/coding/fingerprint_descriptor.hpp"

namespace summary {

namespace {

// The operations of each kind of filter.

Descriptor sort_of(const BloomFilter& filter) {
    return descriptor_of(filter.shape());
}

template <class Fingerprints>
Descriptor sort_of(const Fingerprints& filter) {
    return descriptor_of(FingerprintShape(filter.shape()));
}

bool matches(const BloomFilter& filter, const Key& key) {
    return filter.contains(key.hash);
}

template <class Fingerprints>
bool matches(const Fingerprints& filter, const Key& key) {
    return filter.contains(fingerprint(key.hash, FingerprintShape(filter.shape())));
}

std::uint64_t hash_of(const BloomFilter& filter) {
    return filter.bits().check_hash();
}

template <class Fingerprints>
std::uint64_t hash_of(const Fingerprints& filter) {
    return filter.check_hash();
}

std::optional<Change> apply_to(BloomFilter& filter, std::span<const std::byte> payload) {
    auto delta = decode_delta(payload, filter.shape().bits);
    if (!delta) return std::nullopt;
    filter.apply(*delta);
    return Change(std::move(*delta));
}

std::optional<Change> apply_to(QuotientFilter& filter, std::span<const std::byte> payload) {
    auto delta = decode_ranked_delta(payload, filter);
    if (!delta || !apply(*delta, filter)) return std::nullopt;
    return Change(std::move(*delta));
}

std::optional<Change> apply_to(CuckooFilter& filter, std::span<const std::byte> payload) {
    const auto shape = filter.shape();
    auto delta = decode_fingerprint_delta(payload, universe(shape));
    const auto fits = [&](std::uint64_t number) { return is_fingerprint(number, shape); };
    if (!delta || !std::all_of(delta->added.begin(), delta->added.end(), fits) ||
        !std::all_of(delta->removed.begin(), delta->removed.end(), fits)) {
        return std::nullopt;
    }
    CuckooWrites writes;
    if (!apply(*delta, filter, &writes)) return std::nullopt;
    return Change(std::move(writes));
}

}  // namespace

Descriptor descriptor_of(const Filter& filter) {
    return std::visit([](const auto& kind) { return sort_of(kind); }, filter);
}

bool contains(const Filter& filter, const Key& key) {
    return std::visit([&](const auto& kind) { return matches(kind, key); }, filter);
}

std::uint64_t check_hash(const Filter& filter) {
    return std::visit([](const auto& kind) { return hash_of(kind); }, filter);
}

std::optional<Change> apply_delta(std::span<const std::byte> payload, Filter& filter) {
    return std::visit([&](auto& kind) { return apply_to(kind, payload); }, filter);
}

}  // namespace summary
