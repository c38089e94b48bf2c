#include "proxy/telemetry/history_file.hpp"

#include <gtest/gtest.h>
#include <xxhash.h>

#include <array>
#include <bit>
#include <fstream>

#include "proxy/disk/disk_bytes.hpp"
#include "tests/proxy/disk/disk_folder.hpp"

namespace proxy {
namespace history_file_test {

using namespace std::chrono_literals;

constexpr ClockPair kNow{std::chrono::steady_clock::time_point(100'000s),
                         std::chrono::system_clock::time_point(1'800'000'000s)};

History some_history() {
    History history(kNow.steady - 5000s);
    TrafficTotals totals;
    for (int i = 1; i <= 1000; ++i) {
        totals.requests[Outcome::peer_hit] += static_cast<unsigned>(i);
        totals.durations[1].observe(3ms);
        totals.to_clients += 1000;
        history.add(totals, kNow.steady - 5000s + i * 5s);
    }
    return history;
}

TEST(HistoryFile, ComesBackAsItWasAlsoAfterTheClocksWereSetAnew) {
    const auto history = some_history();
    const auto bytes = encode_history(history, kNow);
    // After a start of the machine the steady clock begins again; a minute has passed.
    const ClockPair later{std::chrono::steady_clock::time_point(20'000s), kNow.wall + 60s};
    const auto read = decode_history(bytes, later);
    ASSERT_TRUE(read);
    for (const auto span : kSpans) {
        const auto points = history.points(span);
        const auto& again = (*read)[static_cast<std::size_t>(span)];
        ASSERT_EQ(again.size(), points.size());
        for (std::size_t i = 0; i < points.size(); ++i) {
            EXPECT_EQ(later.steady - again[i].end, kNow.steady - points[i].end + 60s);
            EXPECT_EQ(again[i].requests, points[i].requests);
            EXPECT_EQ(again[i].p50_ms, points[i].p50_ms);
            EXPECT_EQ(again[i].to_clients, points[i].to_clients);
            EXPECT_EQ(again[i].seconds, points[i].seconds);
        }
    }
}

TEST(HistoryFile, ReadsAFileOfTheFormatThatLacksARefusedOutcome) {
    DiskBytes old;
    put_text(old, "hearsay history\n");
    put<std::uint32_t>(old, 1);
    put<std::uint32_t>(old, 1);  // one interval of 5 s
    put<std::int64_t>(old, 1'800'000'000'000 - 5000);
    put<std::uint32_t>(old, std::bit_cast<std::uint32_t>(5.0F));
    put<std::uint32_t>(old, 9);
    for (const auto count : {1u, 2u, 3u, 4u, 5u}) put<std::uint32_t>(old, count);
    for (int i = 0; i < 10; ++i) put<std::uint32_t>(old, std::bit_cast<std::uint32_t>(7.5F));
    for (const auto bytes : {10u, 20u, 30u}) put<std::uint64_t>(old, bytes);
    put<std::uint32_t>(old, 0);
    put<std::uint32_t>(old, 0);
    put<std::uint64_t>(old, XXH3_64bits(old.data(), old.size()));
    const auto read = decode_history(old, kNow);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->front().size(), 1u);
    const auto& point = read->front().front();
    EXPECT_EQ(point.end, kNow.steady - 5s);
    EXPECT_EQ(point.refused, 9u);
    EXPECT_EQ(point.requests, (std::array<std::uint32_t, 6>{1, 2, 3, 4, 5, 0}));
    EXPECT_EQ(point.p99_ms[4], 7.5F);
    EXPECT_LT(point.p50_ms[5], 0) << "no such request";
    EXPECT_EQ(point.from_origins, 30u);
}

TEST(HistoryFile, RefusesOtherBytes) {
    const auto whole = encode_history(some_history(), kNow);
    EXPECT_FALSE(decode_history({}, kNow));
    EXPECT_FALSE(decode_history(DiskBytes(100'000), kNow));
    for (std::size_t size = 0; size < whole.size(); size += 97)
        EXPECT_FALSE(decode_history(DiskView(whole).first(size), kNow)) << size;
    for (std::size_t at = 0; at < whole.size(); at += 997) {
        auto flipped = whole;
        flipped[at] ^= std::byte{1};
        EXPECT_FALSE(decode_history(flipped, kNow)) << at;
    }
}

TEST(HistoryFile, TimesFromAnotherAgeAreLeftOut) {
    const auto bytes = encode_history(some_history(), kNow);
    const ClockPair long_after{kNow.steady, kNow.wall + 24h * 365};
    const auto read = decode_history(bytes, long_after);
    ASSERT_TRUE(read);
    History fresh(long_after.steady);
    for (const auto span : kSpans)
        fresh.restore(span, (*read)[static_cast<std::size_t>(span)], long_after.steady);
    for (const auto span : kSpans) EXPECT_TRUE(fresh.points(span).empty());
    const ClockPair before{kNow.steady, kNow.wall - 24h * 365 * 10};
    const auto of_the_future = decode_history(bytes, before);
    ASSERT_TRUE(of_the_future);
    fresh.restore(Span::days_7, (*of_the_future)[2], before.steady);
    EXPECT_TRUE(fresh.points(Span::days_7).empty());
}

TEST(HistoryFile, UsesADirectoryThatWorksAndReadsTheLatest) {
    const test::DiskFolder first, second;
    const auto bytes = encode_history(some_history(), kNow);
    const auto missing = first.path() / "missing";
    {
        HistoryFile file({missing, second.path()});
        EXPECT_FALSE(file.load(kNow));
        file.save(bytes);
    }
    EXPECT_TRUE(std::filesystem::exists(second.path() / HistoryFile::kName));
    EXPECT_FALSE(std::filesystem::exists(second.path() / "hearsay.history.new"));
    std::ofstream(first.path() / HistoryFile::kName) << "garbage";
    HistoryFile file({first.path(), second.path()});
    const auto read = file.load(kNow);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->front().size(), 180u);
    HistoryFile none({});
    EXPECT_FALSE(none.is_used());
    EXPECT_FALSE(none.load(kNow));
}

}  // namespace history_file_test
}  // namespace proxy
