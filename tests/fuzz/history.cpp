// The file in which a node keeps the history of its traffic over a restart.

#include "proxy/telemetry/history.hpp"
#include "proxy/telemetry/history_file.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <xxhash.h>

#include <chrono>
#include <cmath>

namespace {

using namespace proxy;
using namespace std::chrono_literals;

// Whole milliseconds, as in the file.
const ClockPair kNow{std::chrono::steady_clock::time_point(2'000'000s),
                     std::chrono::system_clock::time_point(1'700'000'000s)};

void check_number(float value) {
    FUZZ_CHECK(std::isfinite(value));
}

bool is_same(const HistoryPoint& one, const HistoryPoint& other) {
    return one.end == other.end && one.seconds == other.seconds && one.refused == other.refused &&
           one.requests == other.requests && one.p50_ms == other.p50_ms &&
           one.p99_ms == other.p99_ms && one.to_clients == other.to_clients &&
           one.from_peers == other.from_peers && one.from_origins == other.from_origins;
}

/// A node that takes these points over shows times in order, and writes them as it read them.
void check_points(const HistoryPoints& all) {
    History history(kNow.steady);
    for (const auto span : kSpans) {
        const auto& points = all[static_cast<std::size_t>(span)];
        FUZZ_CHECK(points.size() <= capacity_of(span));
        for (const auto& point : points) {
            FUZZ_CHECK(point.seconds >= 0);
            check_number(point.seconds);
            for (const auto time : point.p50_ms) check_number(time);
            for (const auto time : point.p99_ms) check_number(time);
        }
        history.restore(span, points, kNow.steady);
        auto last = std::chrono::steady_clock::time_point::min();
        for (const auto& point : history.points(span)) {
            FUZZ_CHECK(point.end > last && point.end <= kNow.steady);
            last = point.end;
        }
    }
    const auto again = decode_history(encode_history(history, kNow), kNow);
    FUZZ_CHECK(again);
    for (const auto span : kSpans) {
        const auto kept = history.points(span);
        const auto& read = (*again)[static_cast<std::size_t>(span)];
        FUZZ_CHECK(std::equal(kept.begin(), kept.end(), read.begin(), read.end(), is_same));
    }
}

}  // namespace

/// The bytes of a file without its checksum, which a fuzzer does not guess: they are read as they
/// are, and with a checksum that agrees.
int fuzz_history(const std::uint8_t* data, std::size_t size) {
    const auto* const begin = reinterpret_cast<const std::byte*>(data);
    if (const auto all = decode_history({begin, size}, kNow)) check_points(*all);
    DiskBytes sealed(begin, begin + size);
    put<std::uint64_t>(sealed, XXH3_64bits(data, size));
    if (const auto all = decode_history(sealed, kNow)) check_points(*all);
    return 0;
}
