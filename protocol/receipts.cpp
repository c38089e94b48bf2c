#include "protocol/receipts.hpp"

namespace protocol {

std::function<void()> Receipts::hand_out(std::uint64_t last) {
    if (groups_.size() < kMaxGroups) groups_.emplace_back();
    handed_out_ = groups_.back().last = last;
    ++groups_.back().waits;
    return [self = shared_from_this(), group = first_ + groups_.size() - 1] { self->count(group); };
}

void Receipts::count(std::uint64_t group) {
    --groups_[static_cast<std::size_t>(group - first_)].waits;
    if (groups_.front().waits > 0) return;
    for (; !groups_.empty() && groups_.front().waits == 0; ++first_) {
        kept_ = groups_.front().last;
        groups_.pop_front();
    }
    if (listener_ != nullptr) listener_->more_is_kept();
}

}  // namespace protocol
