#include "proxy/storage/first_sight_file.hpp"

#include <xxhash.h>

#include <exception>
#include <string_view>

#include "proxy/disk/disk_file.hpp"
#include "proxy/disk/super_file.hpp"
#include "proxy/http/http_date.hpp"
#include "proxy/http/wall_clock.hpp"

namespace proxy {
namespace {

using boost::system::error_code;

constexpr std::string_view kTitle = "hearsay first sights\n";  // the same in all versions
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kBytesOfSight = kHashBytes + 2 * sizeof(std::uint64_t);
constexpr std::uint64_t kMaxBytes = 128 + FirstSights::kMost * kBytesOfSight;

std::uint64_t checksum_of(DiskView bytes, std::uint64_t secret_id) {
    return XXH3_64bits_withSeed(bytes.data(), bytes.size(), secret_id);
}

std::uint64_t seconds_of(WallTime time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

/// A time beyond the year 9999 is wrong, and counts as the latest one.
WallTime time_of(std::uint64_t seconds) {
    constexpr std::uint64_t kLatest = 253'402'300'799;
    return WallTime(std::chrono::seconds(static_cast<std::int64_t>(std::min(seconds, kLatest))));
}

}  // namespace

DiskBytes first_sight_bytes(std::span<const FirstSights::Sight> sights, std::uint64_t secret_id) {
    DiskBytes out;
    out.reserve(128 + sights.size() * kBytesOfSight);
    put_text(out, kTitle);
    put<std::uint32_t>(out, kVersion);
    put<std::uint64_t>(out, secret_id);
    put<std::uint32_t>(out, static_cast<std::uint32_t>(sights.size()));
    for (const auto& sight : sights) {
        put_hash(out, sight.content);
        put<std::uint64_t>(out, seconds_of(sight.first));
        put<std::uint64_t>(out, seconds_of(sight.last));
    }
    put<std::uint64_t>(out, checksum_of(out, secret_id));
    return out;
}

DiskResult<std::vector<FirstSights::Sight>> read_first_sights(DiskView bytes,
                                                              std::uint64_t secret_id) {
    ByteCursor in(bytes);
    if (in.text(kTitle.size()) != kTitle) return DiskError::foreign;
    if (in.number<std::uint32_t>() != kVersion)
        return in.ok() ? DiskError::newer_format : DiskError::cut_off;
    const auto mark = in.number<std::uint64_t>();
    const auto count = in.number<std::uint32_t>();
    if (!in.ok()) return DiskError::cut_off;
    if (mark != secret_id) return DiskError::other_secret;
    const auto left = in.rest().size();
    if (count > FirstSights::kMost) return DiskError::bad_length;
    if (left != count * kBytesOfSight + sizeof(std::uint64_t)) return DiskError::cut_off;
    std::vector<FirstSights::Sight> sights(count);
    for (auto& sight : sights) {
        sight.content = in.hash();
        sight.first = time_of(in.number<std::uint64_t>());
        sight.last = time_of(in.number<std::uint64_t>());
    }
    const auto sum = in.number<std::uint64_t>();
    if (sum != checksum_of(bytes.first(bytes.size() - sizeof sum), secret_id))
        return DiskError::bad_checksum;
    return sights;
}

FirstSightFiles::FirstSightFiles(DiskCalls& calls, std::vector<std::filesystem::path> directories,
                                 std::uint64_t secret_id, FirstSights& sights)
    : calls_(calls),
      directories_(std::move(directories)),
      secret_mark_(secret_id),
      sights_(sights) {
    for (const auto& directory : directories_) read(directory);
    written_ = sights_.changes();
}

FirstSightFiles::~FirstSightFiles() {
    if (writer_.joinable()) writer_.join();
    if (sights_.changes() != written_) write();
}

void FirstSightFiles::read(const std::filesystem::path& directory) {
    const auto bytes = content_of(calls_, directory / SuperFile::kFirstSightsName, kMaxBytes);
    if (!bytes) {
        if (bytes.error() != boost::system::errc::no_such_file_or_directory)
            note_trouble(directory, bytes.error());
        return;
    }
    const auto sights = read_first_sights(*bytes, secret_mark_);
    if (sights)
        sights_.restore(*sights, wall_now());
    else
        note_trouble(directory, sights.error());
}

void FirstSightFiles::maintain(Clock::time_point now) {
    const auto changes = sights_.changes();
    if (writes_ || changes == written_ || (wrote_at_ && now - *wrote_at_ < kEvery)) return;
    if (writer_.joinable()) writer_.join();  // it has ended
    written_ = changes;
    wrote_at_ = now;
    writes_ = true;
    try {
        writer_ = std::thread([this] {
            write();
            writes_ = false;
        });
    } catch (...) {
        writes_ = false;
        throw;
    }
}

/// A fault leaves the files as they are; the next change tries again.
void FirstSightFiles::write() noexcept {
    try {
        const auto bytes = first_sight_bytes(sights_.all(), secret_mark_);
        for (const auto& directory : directories_)
            if (const auto file =
                    replace_file(calls_, directory / SuperFile::kFirstSightsName, bytes);
                !file)
                note_trouble(directory, file.error());
    } catch (const std::exception&) {
        // No memory: what is lost begins its wait anew.
    }
}

void FirstSightFiles::note_trouble(const std::filesystem::path& directory, error_code error) {
    const std::lock_guard lock(mutex_);
    if (troubles_.size() < directories_.size()) troubles_.emplace_back(directory, error);
}

FirstSightFiles::Troubles FirstSightFiles::take_troubles() {
    const std::lock_guard lock(mutex_);
    return std::exchange(troubles_, {});
}

}  // namespace proxy
