#include "proxy/disk/disk_reader.hpp"

#include <algorithm>

namespace proxy {
DiskReader::DiskReader(Config config, Judge judge) : config_(config), judge_(std::move(judge)) {
    for (unsigned i = 0; i < config_.threads; ++i) threads_.emplace_back([this] { run(); });
}

DiskReader::~DiskReader() {
    std::deque<Question> left;
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
        left.swap(queue_);
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
    for (auto& question : left) question.answer(DiskError::ending);
}

std::optional<DiskResult<LoadedRecord>> DiskReader::read_now(const SegmentPtr& segment,
                                                             std::uint32_t sector,
                                                             std::uint32_t sectors,
                                                             std::string_view uri) {
    const auto at = std::uint64_t{sector} * kDiskSector;
    auto bytes = std::uint64_t{sectors} * kDiskSector;
    if (bytes < kDiskSector || bytes > config_.at_once_bytes || at > segment->header.bytes)
        return std::nullopt;
    bytes = std::min(bytes, segment->header.bytes - at);
    DiskBytes buffer(bytes);
    if (!segment->file.read_now(buffer, at)) return std::nullopt;
    auto loaded = load_record(std::move(buffer), segment->header.home);
    if (!loaded && loaded.error() == DiskError::cut_off) return std::nullopt;  // it is longer
    at_once_.fetch_add(1, std::memory_order_relaxed);
    return judged(std::move(loaded), uri);
}

DiskResult<LoadedRecord> DiskReader::judged(DiskResult<LoadedRecord> loaded, std::string_view uri) {
    if (!loaded) failed_.fetch_add(1, std::memory_order_relaxed);
    if (loaded && loaded->record.uri != uri) loaded = DiskError::other_key;
    return judge_ ? judge_(std::move(loaded)) : std::move(loaded);
}

bool DiskReader::read(SegmentPtr segment, std::uint32_t sector, std::uint32_t sectors,
                      std::string uri, Answer answer) {
    {
        const std::lock_guard lock(mutex_);
        if (ending_ || queue_.size() >= config_.queue) {
            ++stats_.refused;
            return false;
        }
        queue_.push_back({std::move(segment), sector, sectors, std::move(uri), std::move(answer)});
    }
    changed_.notify_one();
    return true;
}

DiskReader::Stats DiskReader::stats() const {
    const std::lock_guard lock(mutex_);
    auto stats = stats_;
    stats.waiting = queue_.size();
    stats.at_once = at_once_.load(std::memory_order_relaxed);
    stats.failed = failed_.load(std::memory_order_relaxed);
    return stats;
}

void DiskReader::run() {
    for (;;) {
        Question question;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return ending_ || !queue_.empty(); });
            if (ending_) return;
            question = std::move(queue_.front());
            queue_.pop_front();
            ++stats_.by_threads;
        }
        if (!question.segment) {
            question.answer(DiskError::no_record);  // gone since it was looked up
            continue;
        }
        question.answer(judged(load_record(*question.segment, question.sector, question.sectors),
                               question.uri));
    }
}

}  // namespace proxy
