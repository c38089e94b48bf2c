#include "proxy/disk/survey.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <xxhash.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cerrno>
#include <limits>

#include "proxy/disk/live_records.hpp"
#include "proxy/disk/super_file.hpp"
#include "proxy/disk/tombstones.hpp"

namespace proxy {
namespace {

namespace fs = std::filesystem;

class Surveyor {
public:
    Surveyor(const SurveyOrder& order, DiskTime now) : order_(order), now_(now) {}

    /// Newest first.
    void look_at(const fs::path& file) {
        std::error_code ignored;
        const auto size = fs::file_size(file, ignored);
        ++result_.files.count;
        result_.files.bytes += ignored ? 0 : size;
        auto segment = open(file);
        if (!segment) {
            if (segment.error() == DiskError::never_begun) {
                ++result_.files.empty;
            } else {
                ++result_.files.unreadable;
                fault({file, 0, {}, segment.error().message()});
            }
        } else {
            look_into(**segment);
        }
        done_ += ignored ? 0 : size;
        report();
    }
    void expect(std::uint64_t bytes) { all_ = bytes; }

    DiskSurvey result() && {
        result_.records.tags = tags_.size();
        if (!stored_.empty()) {
            const auto middle = stored_.begin() + static_cast<std::ptrdiff_t>(stored_.size() / 2);
            std::ranges::nth_element(stored_, middle);
            result_.records.median = *middle;
            const auto [oldest, newest] = std::ranges::minmax(stored_);
            result_.records.oldest = oldest;
            result_.records.newest = newest;
        }
        return std::move(result_);
    }

private:
    /// The header of the file says whose it is; all files of one directory agree.
    DiskResult<SegmentPtr> open(const fs::path& file) {
        auto segment = open_segment(calls_, file, std::nullopt);
        if (!segment) return segment;
        const auto directory = (*segment)->header.home.directory;
        if (directory_ && *directory_ != directory) return DiskError::foreign;
        directory_ = directory;
        return segment;
    }

    void look_into(const Segment& segment) {
        const auto contents = read_contents(segment);
        if (!contents) {
            ++result_.files.unreadable;
            return fault({segment.path, 0, {}, contents.error().message()});
        }
        result_.files.unsealed += contents->sealed ? 0 : 1;
        result_.files.torn += contents->torn ? 1 : 0;
        if (contents->damaged) {
            ++result_.files.damaged;
            fault({segment.path, 0, {}, "something in it that was a record cannot be read"});
        }
        const auto& entries = contents->footer.entries;
        for (const auto& entry : entries) {
            tombstones_.note(entry);
            result_.records.tombstones += is_tombstone(entry.type) ? 1 : 0;
        }
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
            const auto counts = judge(*entry);
            if (is_asked_for(*entry)) find(segment, *entry, counts);
            if (order_.reads_all) prove(segment, *entry);
        }
    }

    /// Counts the record. True if a node would serve it.
    bool judge(const FooterEntry& entry) {
        if (is_tombstone(entry.type)) return false;
        const auto identity =
            XXH3_64bits_withSeed(entry.uri.data(), entry.uri.size(), entry.variant);
        // A purge by URL is recognizable only with the secret.
        const auto is_purged = tombstones_.cover(entry.seq, {}, entry.tags);
        const auto standing = live_records_.judge(identity, is_purged);
        if (standing == LiveRecords::Standing::purged) return ++result_.records.purged, false;
        if (standing == LiveRecords::Standing::superseded)
            return ++result_.records.superseded, false;
        ++(entry.type == RecordType::block ? result_.records.blocks : result_.records.responses);
        result_.records.live_bytes += std::uint64_t{entry.sectors} * kDiskSector;
        result_.records.expired += entry.expires < now_ ? 1 : 0;
        stored_.push_back(entry.stored);
        if (entry.type == RecordType::block) return true;  // a block has its target as a tag
        result_.records.tagged += entry.tags.empty() ? 0 : 1;
        for (const auto& tag : entry.tags) tags_.insert(tag);
        return true;
    }

    bool is_asked_for(const FooterEntry& entry) const {
        if (order_.url.empty() || is_tombstone(entry.type)) return false;
        const std::string_view uri = entry.uri;
        if (!uri.starts_with(order_.url)) return false;
        if (entry.type == RecordType::block)  // its key continues with version and range
            return uri.size() > order_.url.size() && uri[order_.url.size()] == ' ';
        return uri.size() == order_.url.size();
    }

    void find(const Segment& segment, const FooterEntry& entry, bool counts) {
        const auto loaded = load_record(segment, entry.sector, entry.sectors);
        if (entry.type == RecordType::block) {
            if (!counts || !loaded) return;
            ++result_.block_finds;
            result_.block_bytes += loaded->record.body_bytes;
            return;
        }
        if (result_.finds.size() >= kMaxFinds) return;
        DiskSurvey::Find found;
        found.file = segment.path;
        found.offset = std::uint64_t{entry.sector} * kDiskSector;
        found.bytes = std::uint64_t{entry.sectors} * kDiskSector;
        found.stored = entry.stored;
        found.expires = entry.expires;
        found.current = counts;
        if (loaded) {
            const auto head = loaded->record.head;
            found.status_line = head.substr(0, head.find_first_of("\r\n"));
            found.vary = loaded->record.vary_names;
            found.body_bytes = loaded->record.body_bytes;
        }
        result_.finds.push_back(std::move(found));
    }

    void prove(const Segment& segment, const FooterEntry& entry) {
        const auto loaded = load_record(segment, entry.sector, entry.sectors);
        const auto offset = std::uint64_t{entry.sector} * kDiskSector;
        if (!loaded)
            fault({segment.path, offset, std::string(entry.uri), loaded.error().message()});
        else if (loaded->record.uri != entry.uri || loaded->record.seq != entry.seq)
            fault({segment.path, offset, std::string(entry.uri),
                   "another record than the table of contents says"});
        else
            ++result_.proved;
        if (order_.progress && ++since_report_ % kReportEach == 0)
            order_.progress(done_ + offset, all_);
    }

    void fault(DiskSurvey::Fault fault) {
        ++result_.fault_count;
        if (result_.faults.size() < kMaxFaults) result_.faults.push_back(std::move(fault));
    }
    void report() const {
        if (order_.progress) order_.progress(done_, all_);
    }

    static constexpr unsigned kReportEach = 64;  // records

    const SurveyOrder& order_;
    const DiskTime now_;
    ReadOnlyCalls calls_;
    DiskSurvey result_;
    std::optional<std::uint64_t> directory_;
    std::uint64_t done_ = 0, all_ = 0;
    unsigned since_report_ = 0;
    Tombstones tombstones_{std::numeric_limits<std::size_t>::max()};
    LiveRecords live_records_;
    boost::unordered_flat_set<summary::KeyHash, summary::HashOfKeyHash> tags_;
    std::vector<DiskTime> stored_;
};

int refused() {
    errno = EROFS;
    return -1;
}

}  // namespace

int ReadOnlyCalls::open(const char* path, int flags, unsigned mode) {
    return DiskCalls::open(path, (flags & ~(O_ACCMODE | O_CREAT | O_TRUNC | O_EXCL)) | O_RDONLY,
                           mode);
}
int ReadOnlyCalls::reserve(int, std::uint64_t) {
    return refused();
}
ssize_t ReadOnlyCalls::write(int, std::span<const iovec>, std::uint64_t) {
    return refused();
}
int ReadOnlyCalls::sync(int) {
    return refused();
}
int ReadOnlyCalls::remove(const char*) {
    return refused();
}

DiskResult<DiskSurvey> survey(const fs::path& place, const SurveyOrder& order, DiskTime now) {
    std::error_code error;
    const auto status = fs::status(place, error);
    if (!fs::exists(status)) return of_system(error ? error.value() : ENOENT);
    Surveyor surveyor(order, now);
    if (!fs::is_directory(status)) {
        const auto size = fs::file_size(place, error);
        if (error) return of_system(error.value());
        surveyor.expect(size);
        surveyor.look_at(place);
        return std::move(surveyor).result();
    }
    ReadOnlyCalls calls;
    const auto found = look_into(calls, place);
    if (!found) return found.error();
    if (found->whose == DirectoryContents::DirectoryOwner::others) return DiskError::foreign;
    const auto super = DiskFile::open(calls, place / SuperFile::kName, O_RDONLY);
    if (!super) {
        const bool none = super.error() == boost::system::errc::no_such_file_or_directory;
        return none ? make_error_code(DiskError::foreign) : super.error();
    }
    // The lock keeps other processes away until the survey ends.
    if (::flock(super->fd(), LOCK_SH | LOCK_NB) != 0)
        return errno == EWOULDBLOCK ? make_error_code(DiskError::in_use) : last_error();
    const auto files = segment_files(place);
    if (!files) return files.error();
    std::uint64_t all = 0;
    for (const auto& file : *files)
        if (const auto size = fs::file_size(file.path, error); !error) all += size;
    surveyor.expect(all);
    for (const auto& file : *files) surveyor.look_at(file.path);
    return std::move(surveyor).result();
}

}  // namespace proxy
