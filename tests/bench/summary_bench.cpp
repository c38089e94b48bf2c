// The costs of the summaries: the look-up that every local miss pays, the upkeep that every stored
// object pays, and the rare whole-filter operations. A million objects per peer; errors are those
// of the default budget for so many peers.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "summary/coding/coding.hpp"
#include "summary/coding/fingerprint_coding.hpp"
#include "summary/directory/directory.hpp"
#include "summary/directory/replica.hpp"
#include "summary/filters/counting_bloom_filter.hpp"
#include "summary/own/own_bloom_summary.hpp"
#include "summary/own/own_fingerprints.hpp"
#include "summary/sizing/sizing.hpp"
#include "tests/summary/bloom.hpp"

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

Shape shape_for_peers(std::uint64_t peers) {
    return shape_for(kObjects, error_per_summary(kDefaultFalseHitBudget, peers));
}

BloomFilter filled(Shape shape, std::uint64_t first_key) {
    BloomFilter filter(shape);
    for (auto number = first_key; number < first_key + kObjects; ++number)
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

/// As a receiver would have it after a snapshot of kObjects keys.
Filter filter_for_peers(Kind kind, unsigned peers, std::uint64_t first_key) {
    const auto error = error_per_summary(kDefaultFalseHitBudget, peers);
    if (kind == Kind::counting_bloom) return filled(shape_for(kObjects, error), first_key);
    FingerprintShape shape = quotient_shape_for(kObjects, error);
    if (kind == Kind::cuckoo) shape = cuckoo_shape_for(kObjects, error);
    std::vector<std::uint64_t> numbers;
    for (auto number = first_key; number < first_key + kObjects; ++number) {
        numbers.push_back(fingerprint(key(number), shape));
    }
    if (kind == Kind::quotient) {
        std::sort(numbers.begin(), numbers.end());
        QuotientFilter::Builder builder(std::get<QuotientShape>(shape), kObjects);
        for (const auto number : numbers) builder.append(number);
        return builder.finish().value();
    }
    CuckooFilter filter(std::get<CuckooShape>(shape));
    for (const auto number : numbers) filter.insert(number);
    return filter;
}

/// A directory of `peers` peers with kObjects objects each, all different.
const Directory& directory_of(Kind kind, unsigned peers) {
    static std::pair<Kind, unsigned> built_for{kind, 0};
    static std::unique_ptr<Directory> directory;
    if (built_for == std::pair(kind, peers)) return *directory;
    directory.reset();
    std::vector<Directory::Member> members;
    const auto of = descriptor_of(filter_for_peers(kind, peers, 0));
    for (unsigned peer = 0; peer < peers; ++peer) members.push_back({peer, of, nullptr});
    directory = std::make_unique<Directory>(members);
    for (unsigned peer = 0; peer < peers; ++peer) {
        directory->load(peer, filter_for_peers(kind, peers, peer * kObjects));
    }
    built_for = {kind, peers};
    return *directory;
}

/// Keys that nobody holds: the usual local miss. One look-up need not wait for the one before.
template <Kind kind>
void candidates_of_absent_keys(benchmark::State& state) {
    const auto& directory = directory_of(kind, static_cast<unsigned>(state.range(0)));
    auto number = 2'000 * kObjects;
    std::uint64_t false_hits = 0;
    for (auto _ : state) {
        false_hits += directory.candidates(asked(++number)).size();
    }
    state.counters["false_hits"] =
        benchmark::Counter(static_cast<double>(false_hits), benchmark::Counter::kAvgIterations);
    state.counters["MB"] = static_cast<double>(directory.memory_bytes()) / 1e6;
}

/// Keys that somebody holds, each chosen by the answer for the one before: all of the waiting
/// shows.
template <Kind kind>
void candidates_one_after_the_other(benchmark::State& state) {
    const auto peers = static_cast<unsigned>(state.range(0));
    const auto& directory = directory_of(kind, peers);
    const auto keys = peers * kObjects;
    std::uint64_t number = 0;
    for (auto _ : state) number += 1 + directory.candidates(asked(mix(number) % keys)).size();
    benchmark::DoNotOptimize(number);
}

/// Both of one directory, which is built once.
template <Kind kind>
void candidates_for_peers(std::initializer_list<std::int64_t> numbers_of_peers) {
    const auto name = [](const char* what) {
        return std::string(what) + '/' + std::string(summary::name(kind));
    };
    for (const auto peers : numbers_of_peers) {
        benchmark::RegisterBenchmark(name("candidates_of_absent_keys").c_str(),
                                     candidates_of_absent_keys<kind>)
            ->Arg(peers);
        benchmark::RegisterBenchmark(name("candidates_one_after_the_other").c_str(),
                                     candidates_one_after_the_other<kind>)
            ->Arg(peers);
    }
}
const bool registered = [] {
    candidates_for_peers<Kind::counting_bloom>({1, 4, 16, 64, 256, 1024});
    candidates_for_peers<Kind::quotient>({1, 4, 16, 64, 256, 1024});
    candidates_for_peers<Kind::cuckoo>({1, 4, 16, 64, 256, 1024});
    return true;
}();

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

OwnBloomSummary own_with_a_million(std::uint64_t peers) {
    OwnBloomSummary own({error_per_summary(kDefaultFalseHitBudget, peers), 1, kObjects});
    for (std::uint64_t number = 0; number < kObjects; ++number) own.stored(key(number));
    own.take_delta(test::kNoLimit);
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
            benchmark::DoNotOptimize(own.take_delta(test::kNoLimit));
    }
}
BENCHMARK(replace_one_object)->Arg(2)->Arg(15);

void regrow_of_a_million(benchmark::State& state) {
    auto own = own_with_a_million(15);
    for (auto _ : state) test::regrow(own);
}
BENCHMARK(regrow_of_a_million)->Unit(benchmark::kMillisecond);

/// The delta of 0.1 % replaced objects.
Delta delta_of_a_thousand(OwnBloomSummary& own) {
    for (std::uint64_t number = 0; number < kObjects / 1000; ++number) {
        own.stored(key(kObjects + number));
        own.removed(key(number));
    }
    return *own.take_delta(test::kNoLimit);
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
    const auto bits = test::bits_of(own);
    Bytes payload;
    for (auto _ : state) {
        payload.clear();
        benchmark::DoNotOptimize(encode_update(delta, bits, payload));
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
    replica.apply_snapshot(1, 0, BloomFilter(own.shape(), test::bits_of(own)));
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
        test::append_snapshot(filter.bits(), payload);
    }
    state.counters["MB"] = static_cast<double>(payload.size()) / 1e6;
}
BENCHMARK(encode_a_snapshot)->Unit(benchmark::kMillisecond);

void decode_a_snapshot(benchmark::State& state) {
    const auto shape = shape_for_peers(15);
    const auto payload = test::payload_of(filled(shape, 0).bits());
    for (auto _ : state) benchmark::DoNotOptimize(test::bits_in(payload, shape.bits));
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

// Operations of each kind of filter at a million keys and the error 2^-12. The filters are as full
// as their shapes allow: the quotient filter to the last fingerprint it is made for, the cuckoo
// filter as far as the next power of two lets it.

constexpr double kError = 1.0 / 4096;
constexpr std::uint64_t kBatch = kObjects / 20;

struct CountingBloom {
    CountingBloomFilter filter{shape_for(kObjects, kError)};
    std::vector<Flip> flips;

    bool insert(std::uint64_t number) {
        flips.clear();
        filter.insert(key(number), flips);
        return true;
    }
    bool erase(std::uint64_t number) {
        flips.clear();
        filter.erase(key(number), flips);
        return true;
    }
    bool contains(std::uint64_t number) const {
        for (const auto position : positions(key(number), filter.shape())) {
            if (!filter.bits().get(position)) return false;
        }
        return true;
    }
    /// The receiver's time, as for the others.
    std::uint64_t memory_bytes() const { return filter.shape().bits / 8; }
};

struct Quotient {
    QuotientFilter filter{quotient_shape(kObjects << 12, kObjects)};

    std::uint64_t of(std::uint64_t number) const {
        return fingerprint(key(number), filter.shape().universe);
    }
    bool insert(std::uint64_t number) { return filter.insert(of(number)); }
    bool erase(std::uint64_t number) { return filter.erase(of(number)); }
    bool contains(std::uint64_t number) const { return filter.contains(of(number)); }
    std::uint64_t memory_bytes() const { return filter.memory_bytes(); }
};

struct Cuckoo {
    CuckooFilter filter{cuckoo_shape(kObjects, kError)};

    std::uint64_t of(std::uint64_t number) const {
        return cuckoo_fingerprint(key(number), filter.shape());
    }
    bool insert(std::uint64_t number) { return filter.insert(of(number)); }
    bool erase(std::uint64_t number) { return filter.erase(of(number)); }
    bool contains(std::uint64_t number) const { return filter.contains(of(number)); }
    std::uint64_t memory_bytes() const { return filter.memory_bytes(); }
};

/// A filter of keys that come at one end and go at the other.
template <class Filter>
class Churned {
public:
    explicit Churned(std::uint64_t objects) : end_(objects) {
        for (std::uint64_t number = 0; number < objects; ++number) filter.insert(number);
    }
    void erase_batch() {
        for (const auto end = first_ + kBatch; first_ < end; ++first_) {
            ok &= filter.erase(first_);
        }
    }
    void insert_batch() {
        for (const auto end = end_ + kBatch; end_ < end; ++end_) ok &= filter.insert(end_);
    }

    Filter filter;
    bool ok = true;

private:
    std::uint64_t first_ = 0;
    std::uint64_t end_;
};

/// Time for one operation, of a batch; work between batches is left out.
template <class Work, class Between>
void in_batches(benchmark::State& state, Work work, Between between) {
    for (auto _ : state) {
        work();
        state.PauseTiming();
        between();
        state.ResumeTiming();
    }
    state.counters["each"] =
        benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(kBatch),
                           benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

template <class Filter>
void insert_into(benchmark::State& state) {
    Churned<Filter> churned(kObjects);
    churned.erase_batch();
    in_batches(
        state, [&] { churned.insert_batch(); }, [&] { churned.erase_batch(); });
    if (!churned.ok) state.SkipWithError("refused");
}

template <class Filter>
void erase_from(benchmark::State& state) {
    Churned<Filter> churned(kObjects);
    in_batches(
        state, [&] { churned.erase_batch(); }, [&] { churned.insert_batch(); });
    if (!churned.ok) state.SkipWithError("refused");
}

template <class Filter>
void look_up_present(benchmark::State& state) {
    const Churned<Filter> churned(kObjects);
    std::uint64_t number = 0;
    bool ok = true;
    for (auto _ : state) ok &= churned.filter.contains(number++ % kObjects);
    if (!ok) state.SkipWithError("missed");
}

template <class Filter>
void look_up_absent(benchmark::State& state) {
    const Churned<Filter> churned(kObjects);
    std::uint64_t number = kObjects;
    std::uint64_t false_hits = 0;
    for (auto _ : state) false_hits += churned.filter.contains(number++) ? 1 : 0;
    state.counters["error_x_4096"] =
        static_cast<double>(false_hits) / static_cast<double>(number - kObjects) / kError;
    state.counters["bits_per_key"] =
        static_cast<double>(churned.filter.memory_bytes()) * 8 / static_cast<double>(kObjects);
}

BENCHMARK_TEMPLATE(insert_into, CountingBloom);
BENCHMARK_TEMPLATE(insert_into, Quotient);
BENCHMARK_TEMPLATE(insert_into, Cuckoo);
BENCHMARK_TEMPLATE(erase_from, CountingBloom);
BENCHMARK_TEMPLATE(erase_from, Quotient);
BENCHMARK_TEMPLATE(erase_from, Cuckoo);
BENCHMARK_TEMPLATE(look_up_present, CountingBloom);
BENCHMARK_TEMPLATE(look_up_present, Quotient);
BENCHMARK_TEMPLATE(look_up_present, Cuckoo);
BENCHMARK_TEMPLATE(look_up_absent, CountingBloom);
BENCHMARK_TEMPLATE(look_up_absent, Quotient);
BENCHMARK_TEMPLATE(look_up_absent, Cuckoo);

/// As replace_one_object, of an owner that announces fingerprints.
void replace_one_object_of_fingerprints(benchmark::State& state) {
    OwnFingerprints own(quotient_shape_for(kObjects, kError), 1);
    for (std::uint64_t number = 0; number < kObjects; ++number) own.stored(key(number));
    own.take_delta(test::kNoLimit);
    std::uint64_t number = kObjects;
    for (auto _ : state) {
        own.stored(key(number));
        own.removed(key(number - kObjects));
        ++number;
        if (own.changed_since_announced() >= kObjects / 1000) {
            benchmark::DoNotOptimize(own.take_delta(test::kNoLimit));
        }
    }
}
BENCHMARK(replace_one_object_of_fingerprints);

void snapshot_of_a_million_fingerprints(benchmark::State& state) {
    OwnFingerprints own(quotient_shape_for(kObjects, kError), 1);
    for (std::uint64_t number = 0; number < kObjects; ++number) own.stored(key(number));
    own.take_delta(test::kNoLimit);
    Bytes payload;
    for (auto _ : state) {
        payload.clear();
        own.begin_snapshot(payload);
        own.write_some(std::numeric_limits<std::uint64_t>::max());
    }
    state.counters["MB"] = static_cast<double>(payload.size()) / 1e6;
}
BENCHMARK(snapshot_of_a_million_fingerprints)->Unit(benchmark::kMillisecond);

void quotient_filter_from_a_snapshot(benchmark::State& state) {
    const auto shape = quotient_shape_for(kObjects, kError);
    OwnFingerprints own(shape, 1);
    for (std::uint64_t number = 0; number < kObjects; ++number) own.stored(key(number));
    own.take_delta(test::kNoLimit);
    Bytes payload;
    own.begin_snapshot(payload);
    own.write_some(std::numeric_limits<std::uint64_t>::max());
    for (auto _ : state) {
        QuotientSnapshotDecoder decoder(shape);
        decoder.take(payload);
        benchmark::DoNotOptimize(decoder.finish());
    }
}
BENCHMARK(quotient_filter_from_a_snapshot)->Unit(benchmark::kMillisecond);

/// 0.1 % replaced: decoded, ranks looked up, applied.
void quotient_filter_follows_a_delta(benchmark::State& state) {
    const auto shape = quotient_shape_for(kObjects, kError);
    OwnFingerprints own(shape, 1);
    QuotientFilter filter(shape);
    for (std::uint64_t number = 0; number < kObjects; ++number) {
        own.stored(key(number));
        filter.insert(fingerprint(key(number), shape.universe));
    }
    own.take_delta(test::kNoLimit);
    std::uint64_t number = kObjects;
    Bytes payload;
    bool ok = true;
    for (auto _ : state) {
        state.PauseTiming();
        for (std::uint64_t i = 0; i < kObjects / 1000; ++i, ++number) {
            own.stored(key(number));
            own.removed(key(number - kObjects));
        }
        const auto change = own.take_delta(test::kNoLimit);
        payload.clear();
        encode_ranked_delta(change->delta.added, change->ranks, shape.universe, change->objects,
                            payload);
        state.ResumeTiming();
        const auto delta = decode_ranked_delta(payload, filter);
        ok = ok && delta && apply(*delta, filter);
    }
    state.counters["bytes"] = static_cast<double>(payload.size());
    if (!ok) state.SkipWithError("out of step");
}
BENCHMARK(quotient_filter_follows_a_delta)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace summary
