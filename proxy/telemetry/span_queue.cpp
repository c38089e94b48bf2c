#include "proxy/telemetry/span_queue.hpp"

#include <algorithm>
#include <utility>

namespace proxy {

void SpanQueue::limit(std::size_t spans, std::size_t batch) {
    const std::lock_guard lock(mutex_);
    most_ = spans;
    batch_ = std::max<std::size_t>(batch, 1);
    if (spans > 0) return;
    dropped_ += spans_.size();
    spans_.clear();
    bytes_ = 0;
}

void SpanQueue::push(std::string span) {
    auto is_news = false;
    {
        const std::lock_guard lock(mutex_);
        if (spans_.size() + taken_ >= most_ || span.size() > kMaxSpanBytes ||
            bytes_ + taken_bytes_ + span.size() > kMaxBytes) {
            ++dropped_;
            return;
        }
        bytes_ += span.size();
        spans_.push_back({std::move(span), Clock::now()});
        is_news = spans_.size() == 1 || spans_.size() == batch_;
    }
    if (is_news && notify_) notify_();
}

std::size_t SpanQueue::size() const {
    const std::lock_guard lock(mutex_);
    return spans_.size();
}

bool SpanQueue::has_batch() const {
    const std::lock_guard lock(mutex_);
    return spans_.size() >= batch_ || bytes_ >= kMaxBatchBytes;
}

SpanQueue::Clock::time_point SpanQueue::oldest() const {
    const std::lock_guard lock(mutex_);
    return spans_.empty() ? Clock::time_point::max() : spans_.front().since;
}

std::vector<std::string> SpanQueue::take() {
    std::vector<std::string> batch;
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    while (!spans_.empty() && batch.size() < batch_) {
        auto& text = spans_.front().text;
        if (!batch.empty() && bytes + text.size() > kMaxBatchBytes) break;
        bytes += text.size();
        batch.push_back(std::move(text));
        spans_.pop_front();
    }
    bytes_ -= bytes;
    taken_ += batch.size();
    taken_bytes_ += bytes;
    return batch;
}

void SpanQueue::end(std::atomic<std::uint64_t>& count, std::uint64_t spans) {
    count += spans;
    const std::lock_guard lock(mutex_);
    taken_ -= std::min<std::size_t>(taken_, spans);
    if (taken_ == 0) taken_bytes_ = 0;
}

SpanCounters SpanQueue::counters() const {
    SpanCounters counters;
    counters.sent = sent_;
    counters.dropped = dropped_;
    counters.refused = refused_;
    counters.failures = failures_;
    const std::lock_guard lock(mutex_);
    counters.waiting = spans_.size() + taken_;
    counters.waiting_bytes = bytes_ + taken_bytes_;
    return counters;
}

}  // namespace proxy
