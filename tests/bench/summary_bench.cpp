// What the summaries cost: the look-up that every local miss pays, the upkeep that every stored
// object pays, and the rare whole-filter operations. A million objects per peer; errors are those
// of the default budget for so many peers.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "summary/coding.hpp"
#include "summary/counting_bloom_filter.hpp"
#include "summary/counting_bloom_own.hpp"
#include "summary/directory.hpp"
#include "summary/replica.hpp"
#include "summary/sizing.hpp"

namespace summary {
namespace {

constexpr std::uint64_t kObjects = 1'000'000;

/// Uniform words from a counter (SplitMix64).
std::uint64_t mix(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

KeyHash key(std::uint64_t number) {
    constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
    return {mix((2 * number + 1) * kStep), mix((2 * number + 2) * kStep)};
}

Shape shape_for_peers(std::uint64_t peers, std::uint64_t objects = kObjects) {
    return shape_for(objects, error_per_summary(kDefaultFalseHitBudget, peers));
}

BloomFilter filled(Shape shape, std::uint64_t first_key, std::uint64_t objects = kObjects) {
    BloomFilter filter(shape);
    for (auto number = first_key; number < first_key + objects; ++number)
        filter.insert(key(number));
    return filter;
}

Directory::Member member(unsigned peer, const Filter& filter) {
    return {peer, descriptor_of(filter), &filter};
}

/// As it is asked for, by kinds that need no URI.
Key asked(std::uint64_t number) {
    return {key(number), {}};
}

/// A thousand directories' worth of a million objects is more than most machines have.
std::uint64_t objects_for(unsigned peers) {
    return peers <= 256 ? kObjects : kObjects / 2;
}

/// A directory of `peers` peers with objects_for() objects each, all different.
const Directory& directory_of(unsigned peers) {
    static unsigned built_for = 0;
    static std::unique_ptr<Directory> directory;
    if (built_for == peers) return *directory;
    directory.reset();
    const auto objects = objects_for(peers);
    const auto shape = shape_for_peers(peers, objects);
    std::vector<Filter> filters;
    for (unsigned peer = 0; peer < peers; ++peer) {
        filters.push_back(filled(shape, peer * objects, objects));
    }
    std::vector<Directory::Member> members;
    for (unsigned peer = 0; peer < peers; ++peer) members.push_back(member(peer, filters[peer]));
    directory = std::make_unique<Directory>(members);
    built_for = peers;
    return *directory;
}

/// Keys that nobody holds: the usual local miss. One look-up need not wait for the one before.
void candidates_of_absent_keys(benchmark::State& state) {
    const auto& directory = directory_of(static_cast<unsigned>(state.range(0)));
    auto number = 2'000 * kObjects;
    std::uint64_t false_hits = 0;
    for (auto _ : state) {
        false_hits += directory.candidates(asked(++number)).size();
    }
    state.counters["false_hits"] =
        benchmark::Counter(static_cast<double>(false_hits), benchmark::Counter::kAvgIterations);
    state.counters["MB"] = static_cast<double>(directory.memory_bytes()) / 1e6;
}
BENCHMARK(candidates_of_absent_keys)->Arg(1)->Arg(4)->Arg(16)->Arg(64)->Arg(256)->Arg(1024);

/// Keys that somebody holds, each chosen by the answer for the one before: all of the waiting
/// shows.
void candidates_one_after_the_other(benchmark::State& state) {
    const auto& directory = directory_of(static_cast<unsigned>(state.range(0)));
    const auto peers = static_cast<unsigned>(state.range(0));
    const auto keys = peers * objects_for(peers);
    std::uint64_t number = 0;
    for (auto _ : state) number += 1 + directory.candidates(asked(mix(number) % keys)).size();
    benchmark::DoNotOptimize(number);
}
BENCHMARK(candidates_one_after_the_other)->Arg(16)->Arg(64)->Arg(256)->Arg(1024);

/// Sixteen peers of sixteen shapes, the case that the ladder of shapes makes rare.
void candidates_when_no_shape_is_shared(benchmark::State& state) {
    std::vector<Filter> filters;
    for (unsigned peer = 0; peer < 16; ++peer) {
        auto shape = shape_for_peers(16);
        shape.bits += peer * 64;
        filters.push_back(filled(shape, peer * kObjects));
    }
    std::vector<Directory::Member> members;
    for (unsigned peer = 0; peer < 16; ++peer) members.push_back(member(peer, filters[peer]));
    const Directory directory(members);
    filters.clear();
    std::uint64_t number = 1'000 * kObjects;
    for (auto _ : state) number += 1 + directory.candidates(asked(number)).contains(0);
}
BENCHMARK(candidates_when_no_shape_is_shared);

CountingBloomOwn own_with_a_million(std::uint64_t peers) {
    CountingBloomOwn own({error_per_summary(kDefaultFalseHitBudget, peers), 1, kObjects});
    for (std::uint64_t number = 0; number < kObjects; ++number) own.stored(key(number));
    own.take_delta();
    return own;
}

/// One object stored, the oldest removed; the delta taken every thousand objects is part of it.
void replace_one_object(benchmark::State& state) {
    auto own = own_with_a_million(static_cast<std::uint64_t>(state.range(0)));
    std::uint64_t number = kObjects;
    for (auto _ : state) {
        own.stored(key(number));
        own.removed(key(number - kObjects));
        ++number;
        if (own.changed_since_announced() >= kObjects / 1000)
            benchmark::DoNotOptimize(own.take_delta());
    }
}
BENCHMARK(replace_one_object)->Arg(2)->Arg(15);

void regrow_of_a_million(benchmark::State& state) {
    auto own = own_with_a_million(15);
    for (auto _ : state) own.regrow();
}
BENCHMARK(regrow_of_a_million)->Unit(benchmark::kMillisecond);

/// The delta of 0.1 % replaced objects.
Delta delta_of_a_thousand(CountingBloomOwn& own) {
    for (std::uint64_t number = 0; number < kObjects / 1000; ++number) {
        own.stored(key(kObjects + number));
        own.removed(key(number));
    }
    return *own.take_delta();
}

void encode_a_delta(benchmark::State& state) {
    auto own = own_with_a_million(15);
    const auto delta = delta_of_a_thousand(own);
    Bytes payload;
    for (auto _ : state) {
        payload.clear();
        encode_delta(delta, own.shape().bits, payload);
    }
    state.counters["bytes"] = static_cast<double>(payload.size());
}
BENCHMARK(encode_a_delta)->Unit(benchmark::kMicrosecond);

void encode_the_smaller_of_delta_and_snapshot(benchmark::State& state) {
    auto own = own_with_a_million(15);
    const auto delta = delta_of_a_thousand(own);
    Bytes payload;
    for (auto _ : state) {
        payload.clear();
        benchmark::DoNotOptimize(encode_update(&delta, own.snapshot(), payload));
    }
}
BENCHMARK(encode_the_smaller_of_delta_and_snapshot)->Unit(benchmark::kMicrosecond);

void decode_a_delta(benchmark::State& state) {
    auto own = own_with_a_million(15);
    const auto delta = delta_of_a_thousand(own);
    Bytes payload;
    encode_delta(delta, own.shape().bits, payload);
    for (auto _ : state) benchmark::DoNotOptimize(decode_delta(payload, own.shape().bits));
}
BENCHMARK(decode_a_delta)->Unit(benchmark::kMicrosecond);

/// Decoded, into the replica and, beside fifteen others, into the directory.
void apply_a_delta(benchmark::State& state) {
    auto own = own_with_a_million(15);
    Replica replica;
    replica.apply_snapshot(1, 0, BloomFilter(own.shape(), own.snapshot()));
    std::vector<Directory::Member> members;
    for (unsigned peer = 0; peer < 16; ++peer) members.push_back(member(peer, replica.filter()));
    Directory directory(members);
    const auto delta = delta_of_a_thousand(own);
    Bytes there, back;
    encode_delta(delta, own.shape().bits, there);
    encode_delta({delta.clear, delta.set}, own.shape().bits, back);
    std::uint64_t generation = 0;
    for (auto _ : state) {
        const auto& payload = generation % 2 == 0 ? there : back;
        directory.apply(7, *replica.apply_delta(1, ++generation, payload).change);
    }
}
BENCHMARK(apply_a_delta)->Unit(benchmark::kMicrosecond);

void encode_a_snapshot(benchmark::State& state) {
    const auto filter = filled(shape_for_peers(15), 0);
    Bytes payload;
    for (auto _ : state) {
        payload.clear();
        encode_snapshot(filter.bits(), payload);
    }
    state.counters["MB"] = static_cast<double>(payload.size()) / 1e6;
}
BENCHMARK(encode_a_snapshot)->Unit(benchmark::kMillisecond);

void decode_a_snapshot(benchmark::State& state) {
    const auto shape = shape_for_peers(15);
    Bytes payload;
    encode_snapshot(filled(shape, 0).bits(), payload);
    for (auto _ : state) benchmark::DoNotOptimize(decode_snapshot(payload, shape.bits));
}
BENCHMARK(decode_a_snapshot)->Unit(benchmark::kMillisecond);

void check_hash_of_a_million(benchmark::State& state) {
    const auto filter = filled(shape_for_peers(15), 0);
    for (auto _ : state) benchmark::DoNotOptimize(filter.bits().check_hash());
}
BENCHMARK(check_hash_of_a_million)->Unit(benchmark::kMicrosecond);

void build_a_directory(benchmark::State& state) {
    const auto peers = static_cast<unsigned>(state.range(0));
    const auto shape = shape_for_peers(peers);
    const Filter filter = filled(shape, 0);
    std::vector<Directory::Member> members;
    for (unsigned peer = 0; peer < peers; ++peer) members.push_back(member(peer, filter));
    for (auto _ : state) benchmark::DoNotOptimize(Directory(members).memory_bytes());
}
BENCHMARK(build_a_directory)->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);

void load_one_peer_into_a_directory(benchmark::State& state) {
    const auto peers = static_cast<unsigned>(state.range(0));
    const auto shape = shape_for_peers(peers);
    const Filter contents[] = {filled(shape, 0), filled(shape, kObjects)};
    std::vector<Directory::Member> members;
    for (unsigned peer = 0; peer < peers; ++peer) members.push_back(member(peer, contents[0]));
    Directory directory(members);
    unsigned next = 1;
    for (auto _ : state) directory.load(3, contents[next++ % 2]);
}
BENCHMARK(load_one_peer_into_a_directory)->Arg(16)->Arg(64)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace summary
