#include "proxy/storage/store_disk.hpp"

#include <algorithm>
#include <utility>

namespace proxy {

void StoreDisk::start(DiskCalls& calls, DiskTier::Config config, const summary::KeyHasher& hasher,
                      DiskOwner& owner) {
    hasher_.emplace(hasher);
    begun_ = {Clock::now(), std::chrono::system_clock::now()};
    owned_ = std::make_unique<DiskTier>(calls, std::move(config), owner);
    tier_ = owned_.get();
    tier_->start();
}

void StoreDisk::close() {
    closing_ = true;
    owned_.reset();
    tier_ = nullptr;
}

ClockReading StoreDisk::present(Clock::time_point now) const {
    const auto counted =
        begun_.wall + std::chrono::ceil<ClockReading::Wall::duration>(now - begun_.steady);
    return {now, std::max(std::chrono::system_clock::now(), counted)};
}

void StoreDisk::end(summary::KeyHash key_or_tag) {
    if (closing_) return;
    ends_.fetch_add(1, std::memory_order_relaxed);
    tier_->end({&key_or_tag, 1}, {});
}

void StoreDisk::end_all() {
    if (closing_) return;
    ends_.fetch_add(1, std::memory_order_relaxed);
    tier_->end_all(nullptr);
}

}  // namespace proxy
