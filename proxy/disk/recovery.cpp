#include "proxy/disk/recovery.hpp"

#include <xxhash.h>

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>

#include "proxy/disk/tombstones.hpp"

namespace proxy {
namespace {

struct Found {
    std::filesystem::path path;
    std::uint32_t number = 0;
};

DiskResult<std::vector<Found>> segment_files(const std::filesystem::path& directory) {
    std::vector<Found> files;
    std::error_code error;
    std::filesystem::directory_iterator at(directory, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error))
        if (const auto number = segment_number(at->path().filename().string()))
            files.push_back({at->path(), *number});
    if (error) return boost::system::error_code(error.value(), boost::system::system_category());
    std::ranges::sort(files, {}, &Found::number);
    return files;
}

/// Nothing in it will ever be found again, and it is nobody else's.
bool is_unusable(const boost::system::error_code& error) {
    return error == DiskError::never_begun || error == DiskError::cut_off ||
           error == DiskError::no_record || error == DiskError::bad_checksum;
}

std::uint64_t identity(const FooterEntry& entry) {
    return XXH3_64bits_withSeed(entry.uri.data(), entry.uri.size(), entry.variant);
}

}  // namespace

DiskResult<Recovered> recover(DiskCalls& calls, const std::filesystem::path& directory,
                              std::uint64_t directory_id,
                              const std::function<void(const RecoveredRecord&)>& take) {
    const auto files = segment_files(directory);
    if (!files) return files.error();
    Recovered result;
    Tombstones tombstones;
    boost::unordered_flat_set<std::uint64_t> taken;
    bool doubtful = false;
    for (auto file = files->rbegin(); file != files->rend(); ++file) {
        result.next_segment = std::max(result.next_segment, file->number + 1);
        const auto lost = [&] {
            ++result.unreadable;
            doubtful = true;
        };
        auto segment = open_segment(calls, file->path, {directory_id, file->number});
        if (!segment) {
            const auto error = segment.error();
            // A process that is killed may leave a file that it had just made.
            if (error != DiskError::never_begun) lost();
            if (is_unusable(error)) calls.remove(file->path.c_str());
            continue;
        }
        const auto contents = read_contents(**segment);
        if (!contents) {
            lost();
            continue;
        }
        result.scanned += contents->sealed ? 0 : 1;
        result.damaged += contents->damaged ? 1 : 0;
        doubtful = doubtful || contents->damaged;
        for (const auto& entry : contents->entries) {
            result.next_seq = std::max(result.next_seq, entry.seq + 1);
            tombstones.note(entry);
        }
        for (auto entry = contents->entries.rbegin(); entry != contents->entries.rend(); ++entry) {
            if (is_tombstone(entry->type)) continue;
            if (tombstones.cover(*entry)) {
                ++result.purged;
            } else if (!taken.insert(identity(*entry)).second) {
                ++result.superseded;
            } else {
                ++result.records;
                const auto number = file->number & ((1u << kSegmentBits) - 1);
                take({*entry, {number, entry->sector}, doubtful});
            }
        }
        result.segments.push_back(std::move(*segment));
    }
    std::ranges::reverse(result.segments);
    return result;
}

}  // namespace proxy
