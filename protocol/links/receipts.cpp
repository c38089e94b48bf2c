#include "protocol/links/receipts.hpp"

namespace protocol {

std::function<void()> Receipts::hand_out(std::uint64_t last) {
    handed_out_ = last;
    return [self = shared_from_this(), last] { self->note(last); };
}

void Receipts::note(std::uint64_t kept) {
    if (kept <= kept_) return;
    kept_ = kept;
    if (listener_ != nullptr) listener_->more_is_kept();
}

}  // namespace protocol
