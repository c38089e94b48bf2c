// The disk tier without the device: the costs of its index in time and memory, and the time of a
// restart with a warm page cache.

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <random>

#include "proxy/disk/disk_index.hpp"
#include "proxy/disk/segment_log.hpp"
#include "tests/proxy/disk/recovery_kit.hpp"

namespace proxy {
namespace {

constexpr std::uint64_t kObjects = 1'000'000;

DiskEntry entry(std::uint64_t number) {
    DiskEntry made;
    made.place = {1, static_cast<std::uint32_t>(number % 500'000) + 1};
    made.sectors = 3;
    return made;
}

void fill(DiskIndex& index, std::mt19937_64& keys, std::uint64_t until) {
    while (index.size() < until) index.insert({0, keys()}, entry(index.size()));
}

/// Over one growth of all tables: sizes evenly on a logarithmic scale.
void BM_IndexInsert(benchmark::State& state) {
    for (auto _ : state) {
        DiskIndex index;
        std::mt19937_64 keys(1);
        double sum = 0;
        int samples = 0;
        for (double size = kObjects; size < 1.125 * kObjects; size *= 1.01, ++samples) {
            fill(index, keys, static_cast<std::uint64_t>(size));
            sum += static_cast<double>(index.memory_bytes()) / static_cast<double>(index.size());
        }
        state.counters["bytes_each"] = sum / samples;
        state.SetItemsProcessed(static_cast<std::int64_t>(index.size()));
    }
}
BENCHMARK(BM_IndexInsert)->Iterations(1)->Unit(benchmark::kMillisecond);

/// 0: keys that are there, 1: others.
void BM_IndexLookUp(benchmark::State& state) {
    DiskIndex index;
    std::mt19937_64 keys(1);
    fill(index, keys, kObjects);
    keys.seed(state.range(0) == 0 ? 1 : 2);
    std::uint64_t left = kObjects;
    for (auto _ : state) {
        benchmark::DoNotOptimize(index.contains({0, keys()}));
        if (--left == 0 && state.range(0) == 0) {
            keys.seed(1);
            left = kObjects;
        }
    }
}
BENCHMARK(BM_IndexLookUp)->Arg(0)->Arg(1);

/// The time of all threads of the process.
double cpu_ms() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return ms(used.ru_utime) + ms(used.ru_stime);
}

/// A million small responses with two tags each, in sealed segments, into an index; by how many
/// threads the files are read. cpu_ms: of all of them.
void BM_Recovery(benchmark::State& state) {
    const test::TemporaryDirectory directory;
    DiskCalls calls;
    constexpr std::uint64_t kSegment = 64 << 20;
    ReclaimHooks reclaiming;
    SegmentLog log(calls, {directory.path(), 1, 64 * kSegment, kSegment, 1}, reclaiming);
    const std::string body(600, 'x');
    const iovec part = test::part(body);
    for (std::uint64_t i = 0; i < kObjects; ++i) {
        const auto uri = "http://www.example.org/some/path/to/an/object/" + std::to_string(i);
        const auto record = test::response(uri, i + 1, body);
        if (log.make_room(*sizes_of(record), footer_bytes(record))) return;
        log.add(record, {&part, 1});
        if (i % 1'000 == 0 && log.flush()) return;
    }
    if (log.seal()) return;
    double cpu = 0;
    for (auto _ : state) {
        DiskIndex index;
        Tombstones tombstones;
        RecoveryHooks hooks;
        hooks.hash_of = test::hash_of;
        hooks.opened = [](const SegmentPtr&) { return true; };
        hooks.tombstone = [](const FooterEntry&) {};
        hooks.counts = [&](const FooterEntry& entry, summary::KeyHash key) {
            return !tombstones.cover(entry.seq, key, entry.tags);
        };
        hooks.recovered = [&](std::span<RecoveredKey> batch) {
            for (const auto& record : batch) {
                DiskEntry made;
                made.place = record.place;
                made.sectors = record.entry.sectors;
                index.insert(record.key, made);
            }
        };
        hooks.stopped = [] { return false; };
        const auto before = cpu_ms();
        const auto found =
            recover(calls, directory.path(), 1, static_cast<unsigned>(state.range(0)), hooks);
        cpu += cpu_ms() - before;
        if (!found || found->recovered != kObjects) state.SkipWithError("not all were found");
    }
    state.counters["cpu_ms"] = cpu / static_cast<double>(state.iterations());
}
BENCHMARK(BM_Recovery)->Arg(1)->Arg(2)->Arg(4)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace proxy
