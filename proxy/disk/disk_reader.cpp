#include "proxy/disk/disk_reader.hpp"

#include <algorithm>

namespace proxy {
namespace {

constexpr std::uint64_t kHeadBytes = 4096;  // longer than most heads

}  // namespace

DiskReader::DiskReader(Config config, Judge judge)
    : config_(config), judge_(std::move(judge)), threads_(config.threads, config.queue) {}

std::optional<DiskResult<LoadedRecord>> DiskReader::read_now(const SegmentPtr& segment,
                                                             const RecordRequest& wanted,
                                                             std::string_view uri) {
    const auto at = std::uint64_t{wanted.place.sector} * kDiskSector;
    auto bytes = std::uint64_t{wanted.sectors} * kDiskSector;
    if (bytes < kDiskSector || at > segment->header.bytes) return std::nullopt;
    if (wanted.proved && bytes > config_.in_place_from) {
        if (auto head = read_head_now(segment, wanted)) {
            at_once_.fetch_add(1, std::memory_order_relaxed);
            return judged(std::move(*head), uri);
        }
    }
    if (bytes > config_.at_once_bytes) return std::nullopt;
    bytes = std::min(bytes, segment->header.bytes - at);
    DiskBytes buffer(bytes);
    if (!segment->file.read_now(buffer, at)) return std::nullopt;
    auto loaded = load_record(std::move(buffer), segment->header.home);
    if (!loaded && loaded.error() == DiskError::cut_off) return std::nullopt;  // it is longer
    at_once_.fetch_add(1, std::memory_order_relaxed);
    if (loaded) leave_in_place_if_large(*loaded, segment, wanted.place);
    return judged(std::move(loaded), uri);
}

/// Empty if the head cannot be read now, or its body does not stay in place. The read of the whole
/// record shows its errors.
std::optional<DiskResult<LoadedRecord>> DiskReader::read_head_now(const SegmentPtr& segment,
                                                                  const RecordRequest& wanted) {
    const auto at = std::uint64_t{wanted.place.sector} * kDiskSector;
    const auto room = segment->header.bytes - at;
    DiskBytes bytes(std::min(kHeadBytes, room));
    const auto& file = segment->file;
    if (!file.read_now(bytes, at)) return std::nullopt;
    const auto sizes = peek_sizes(bytes);
    if (!sizes || sizes->body < config_.in_place_from || sizes->prefix + sizes->body > room)
        return std::nullopt;
    if (sizes->prefix > bytes.size()) {
        bytes.resize(sizes->prefix);
        if (!file.read_now(bytes, at)) return std::nullopt;
    }
    // The head came from the page cache, but the file system may be unable to answer for bodies.
    if (!file.is_cached(at, sizes->prefix)) return std::nullopt;
    auto record = decode_record(bytes, segment->header.home);
    if (!record) return std::nullopt;
    LoadedRecord loaded;
    loaded.bytes = std::move(bytes);
    loaded.record = std::move(*record);
    leave_in_place(loaded, segment, wanted.place, at + sizes->prefix, sizes->body);
    return loaded;
}

void DiskReader::leave_in_place(LoadedRecord& loaded, const SegmentPtr& segment,
                                RecordLocation place, std::uint64_t at, std::uint64_t bytes) {
    loaded.in_place = std::make_shared<RecordBody>(
        RecordBody::RecordSource{segment, place, at, bytes}, loaded.record.slices, threads_,
        [this](const boost::system::error_code& why) { note_failed(why); });
}

/// Leaves a large body in place, if the file system can answer whether sending it has to wait.
void DiskReader::leave_in_place_if_large(LoadedRecord& loaded, const SegmentPtr& segment,
                                         RecordLocation place) {
    const auto bytes = loaded.body.size();
    if (bytes < config_.in_place_from) return;
    const auto at = std::uint64_t{place.sector} * kDiskSector +
                    static_cast<std::uint64_t>(loaded.body.data() - loaded.bytes.data());
    if (segment->file.is_cached(at, bytes)) leave_in_place(loaded, segment, place, at, bytes);
}

void DiskReader::note_failed(const boost::system::error_code& why) {
    failed_.fetch_add(1, std::memory_order_relaxed);
    if (judge_) judge_(why);
}

DiskResult<LoadedRecord> DiskReader::judged(DiskResult<LoadedRecord> loaded, std::string_view uri) {
    if (!loaded) failed_.fetch_add(1, std::memory_order_relaxed);
    if (loaded && loaded->record.uri != uri) loaded = DiskError::other_key;
    return judge_ ? judge_(std::move(loaded)) : std::move(loaded);
}

bool DiskReader::read(SegmentPtr segment, const RecordRequest& wanted, std::string uri,
                      Answer answer) {
    return threads_.try_run([this, segment = std::move(segment), wanted, uri = std::move(uri),
                             answer = std::move(answer)](bool ending) {
        if (ending) return answer(DiskError::ending);
        if (!segment) return answer(DiskError::no_record);  // removed since the look-up
        auto loaded = load_record(*segment, wanted.place.sector, wanted.sectors);
        if (loaded) leave_in_place_if_large(*loaded, segment, wanted.place);
        answer(judged(std::move(loaded), uri));
    });
}

DiskReader::Stats DiskReader::stats() const {
    const auto threads = threads_.stats();
    Stats stats;
    stats.read_by_threads = threads.begun;
    stats.read_refused = threads.refused;
    stats.waiting = threads.waiting;
    stats.oldest = threads.oldest;
    stats.read_at_once = at_once_.load(std::memory_order_relaxed);
    stats.read_failed = failed_.load(std::memory_order_relaxed);
    return stats;
}

}  // namespace proxy
