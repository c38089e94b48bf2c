// Binary fuse filters by fingerprint and places per key: the construction, and the question for a
// key that is not there, which nearly all URLs are.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#include "summary/filters/binary_fuse_filter.hpp"

namespace summary {
namespace {

constexpr std::size_t kAsked = 1 << 16;

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
    std::vector<std::uint64_t> keys(count);
    for (auto& key : keys) key = mix(first++);
    return keys;
}

template <class Filter>
void build(benchmark::State& state) {
    const auto keys = keys_from(0, static_cast<std::size_t>(state.range(0)));
    double bytes = 0;
    std::uint64_t seed = 0;
    for (auto _ : state) {
        auto copy = keys;
        const auto filter = Filter::build(copy, ++seed);
        if (!filter) return state.SkipWithError("not built");
        bytes = static_cast<double>(filter->bytes());
    }
    const auto count = static_cast<double>(keys.size());
    state.counters["bytes/key"] = bytes / count;
    state.counters["s/key"] = benchmark::Counter(
        count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class Filter>
void ask(benchmark::State& state) {
    auto keys = keys_from(0, static_cast<std::size_t>(state.range(0)));
    const auto filter = Filter::build(keys, 1);
    const auto asked = keys_from(1'000'000'000, kAsked);
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(filter->contains(asked[i++ % kAsked]));
}

#define BENCH_FUSE(bits, arity)                                    \
    BENCHMARK(build<BinaryFuseFilter<std::uint##bits##_t, arity>>) \
        ->Arg(300'000)                                             \
        ->Unit(benchmark::kMillisecond);                           \
    BENCHMARK(ask<BinaryFuseFilter<std::uint##bits##_t, arity>>)->Arg(300'000)->Arg(5'000'000)
BENCH_FUSE(8, 3);
BENCH_FUSE(8, 4);
BENCH_FUSE(16, 3);
BENCH_FUSE(16, 4);

}  // namespace
}  // namespace summary
