#include "summary/filter.hpp"

#include <utility>

#include "summary/bloom_descriptor.hpp"
#include "summary/coding.hpp"

namespace summary {

namespace {

// What each kind of filter answers.

Descriptor sort_of(const BloomFilter& filter) {
    return descriptor_of(filter.shape());
}

bool claims(const BloomFilter& filter, const Key& key) {
    return filter.contains(key.hash);
}

std::uint64_t hash_of(const BloomFilter& filter) {
    return filter.bits().check_hash();
}

std::optional<Change> apply_to(BloomFilter& filter, std::span<const std::byte> payload) {
    auto delta = decode_delta(payload, filter.shape().bits);
    if (!delta) return std::nullopt;
    filter.apply(*delta);
    return Change(std::move(*delta));
}

}  // namespace

Descriptor descriptor_of(const Filter& filter) {
    return std::visit([](const auto& kind) { return sort_of(kind); }, filter);
}

bool contains(const Filter& filter, const Key& key) {
    return std::visit([&](const auto& kind) { return claims(kind, key); }, filter);
}

std::uint64_t check_hash(const Filter& filter) {
    return std::visit([](const auto& kind) { return hash_of(kind); }, filter);
}

std::optional<Change> apply_delta(std::span<const std::byte> payload, Filter& filter) {
    return std::visit([&](auto& kind) { return apply_to(kind, payload); }, filter);
}

}  // namespace summary
