#include "proxy/telemetry/history_file.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <boost/asio/post.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "proxy/disk/disk_error.hpp"
#include "proxy/disk/disk_file.hpp"

namespace proxy {
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;

constexpr std::string_view kHistoryText = "hearsay history\n";  // the same in all versions, as is
constexpr std::uint32_t kHistoryFormat = 2;                     // the offset of this
constexpr std::size_t kChecksumBytes = 8;
constexpr std::uint64_t kMaxHistoryBytes = 256 << 10;
/// Of the lists of a point; 0 for a format that this build cannot read. Format 1 lacks `refused`,
/// which is the last one.
constexpr std::size_t outcomes_in(std::uint32_t format) {
    static_assert(static_cast<std::size_t>(Outcome::refused) == 5 && kEnumSize<Outcome> == 6);
    if (format == 1) return 5;
    return format == kHistoryFormat ? kEnumSize<Outcome> : 0;
}

/// A point, as its numbers follow each other.
constexpr std::size_t point_bytes(std::size_t outcomes) {
    return 8 + 4 + 4 + 3 * 4 * outcomes + 3 * 8;
}

std::uint64_t checksum_of(DiskView bytes) {
    return XXH3_64bits(bytes.data(), bytes.size());
}

milliseconds wall_time_of(std::chrono::steady_clock::time_point time, ClockPair now) {
    return std::chrono::duration_cast<milliseconds>(now.wall.time_since_epoch() -
                                                    (now.steady - time));
}

void put_point(DiskBytes& out, const HistoryPoint& point, ClockPair now) {
    put<std::int64_t>(out, wall_time_of(point.end, now).count());
    put<std::uint32_t>(out, std::bit_cast<std::uint32_t>(point.seconds));
    put<std::uint32_t>(out, point.refused);
    for (const auto count : point.requests) put<std::uint32_t>(out, count);
    for (const auto* times : {&point.p50_ms, &point.p99_ms})
        for (const auto time : *times) put<std::uint32_t>(out, std::bit_cast<std::uint32_t>(time));
    for (const auto bytes : {point.to_clients, point.from_peers, point.from_origins})
        put<std::uint64_t>(out, bytes);
}

/// A number that is none counts as unknown.
float take_float(ByteCursor& in) {
    const auto value = std::bit_cast<float>(in.number<std::uint32_t>());
    return std::isfinite(value) ? value : -1;
}

HistoryPoint take_point(ByteCursor& in, std::size_t outcomes, ClockPair now) {
    HistoryPoint point;
    // Times far off would overflow as nanoseconds; History::restore() leaves such points out.
    constexpr std::int64_t kFarMs = std::int64_t{1} << 42;  // 139 years
    const auto wall_ms = in.number<std::int64_t>();
    const auto now_ms =
        std::chrono::duration_cast<milliseconds>(now.wall.time_since_epoch()).count();
    const auto is_near = wall_ms >= 0 && wall_ms < kFarMs && now_ms >= 0 && now_ms < kFarMs;
    point.end = is_near ? now.steady - milliseconds(now_ms - wall_ms)
                        : std::chrono::steady_clock::time_point::min();
    point.seconds = std::max(take_float(in), 0.0F);  // 0: unknown
    point.refused = in.number<std::uint32_t>();
    for (std::size_t i = 0; i < outcomes; ++i) point.requests[i] = in.number<std::uint32_t>();
    for (auto* times : {&point.p50_ms, &point.p99_ms}) {
        times->fill(-1);
        for (std::size_t i = 0; i < outcomes; ++i) (*times)[i] = take_float(in);
    }
    for (auto* bytes : {&point.to_clients, &point.from_peers, &point.from_origins})
        *bytes = in.number<std::uint64_t>();
    return point;
}

std::optional<DiskBytes> bytes_of_file(DiskCalls& calls, const std::filesystem::path& path) {
    const auto file = DiskFile::open(calls, path, O_RDONLY);
    if (!file) return std::nullopt;
    const auto size = file->size();
    if (!size || *size > kMaxHistoryBytes) return std::nullopt;
    DiskBytes bytes(*size);
    if (file->read(bytes, 0)) return std::nullopt;
    return bytes;
}

/// The end of the last point of any span.
std::chrono::steady_clock::time_point last_of(const HistoryPoints& all) {
    auto last = std::chrono::steady_clock::time_point::min();
    for (const auto& points : all)
        if (!points.empty()) last = std::max(last, points.back().end);
    return last;
}

}  // namespace

DiskBytes encode_history(const History& history, ClockPair now) {
    DiskBytes out;
    put_text(out, kHistoryText);
    put<std::uint32_t>(out, kHistoryFormat);
    for (const auto span : kSpans) {
        const auto points = history.points(span);
        put<std::uint32_t>(out, static_cast<std::uint32_t>(points.size()));
        for (const auto& point : points) put_point(out, point, now);
    }
    put<std::uint64_t>(out, checksum_of(out));
    return out;
}

std::optional<HistoryPoints> decode_history(DiskView bytes, ClockPair now) {
    if (bytes.size() < kChecksumBytes || bytes.size() > kMaxHistoryBytes) return std::nullopt;
    const auto content = bytes.first(bytes.size() - kChecksumBytes);
    ByteCursor end(bytes.last(kChecksumBytes));
    if (end.number<std::uint64_t>() != checksum_of(content)) return std::nullopt;
    ByteCursor in(content);
    if (in.text(kHistoryText.size()) != kHistoryText) return std::nullopt;
    const auto outcomes = outcomes_in(in.number<std::uint32_t>());
    if (outcomes == 0) return std::nullopt;
    HistoryPoints all;
    for (const auto span : kSpans) {
        const std::size_t count = in.number<std::uint32_t>();
        if (!in.ok() || count > capacity_of(span) ||
            count * point_bytes(outcomes) > in.rest().size())
            return std::nullopt;
        auto& points = all[static_cast<std::size_t>(span)];
        for (std::size_t i = 0; i < count; ++i) points.push_back(take_point(in, outcomes, now));
    }
    if (!in.ok() || !in.rest().empty()) return std::nullopt;
    return all;
}

HistoryFile::HistoryFile(std::vector<std::filesystem::path> directories)
    : directories_(std::move(directories)) {}

std::optional<HistoryPoints> HistoryFile::load(ClockPair now) {
    std::optional<HistoryPoints> latest;
    for (const auto& directory : directories_) {
        const auto bytes = bytes_of_file(calls_, directory / kName);
        if (!bytes) continue;
        auto read = decode_history(*bytes, now);
        if (read && (!latest || last_of(*read) > last_of(*latest))) latest = std::move(read);
    }
    return latest;
}

void HistoryFile::save(DiskBytes bytes) {
    if (!is_used() || is_writing_.exchange(true)) return;
    const auto shared = std::make_shared<const DiskBytes>(std::move(bytes));
    boost::asio::post(writer_, [this, shared] {
        write(*shared);
        is_writing_ = false;
    });
}

void HistoryFile::write(const DiskBytes& bytes) {
    error_code first;
    for (const auto& directory : directories_) {
        const auto error = write_to(directory, bytes);
        if (!error) {
            has_failed_ = false;
            return;
        }
        if (!first) first = error;
    }
    if (!std::exchange(has_failed_, true))
        spdlog::warn(
            "disk {}: cannot write the history of the traffic, which a restart would lose: {}",
            directories_.front().string(), first.message());
}

/// The file appears complete, or stays as it was. A loss of power may take it, as nothing depends
/// on it.
error_code HistoryFile::write_to(const std::filesystem::path& directory, const DiskBytes& bytes) {
    const auto path = directory / kName;
    auto fresh = path;
    fresh += ".new";
    {
        const auto file = DiskFile::open(calls_, fresh, O_WRONLY | O_CREAT | O_TRUNC);
        if (!file) return file.error();
        if (const auto error = file->write(DiskView(bytes), 0)) return error;
    }
    std::error_code error;
    std::filesystem::rename(fresh, path, error);
    return error ? of_system(error.value()) : error_code();
}

}  // namespace proxy
