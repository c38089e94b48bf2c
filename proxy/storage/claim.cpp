#include "proxy/storage/claim.hpp"

#include <utility>

namespace proxy {

Claim::Taken Claim::take(const Store::Found& seen) {
    invalidations_ = seen.invalidations;
    auto taken = store_.claim(hash_, uri_, seen, fill_, request_);
    held_ = taken.leader;
    return {taken.leader, taken.leader ? nullptr : std::move(taken.fill)};
}

bool Claim::tag(std::span<const summary::KeyHash> tags) {
    return store_.tag_fill(hash_, fill_.get(), invalidations_, tags);
}

bool Claim::publish(std::shared_ptr<const StoredResponse> response, Clock::time_point now) {
    held_ = false;
    return store_.publish(hash_, uri_, fill_.get(), invalidations_, std::move(response), request_,
                          now);
}

void Claim::abandon(bool unshareable, Clock::time_point now) {
    if (held_ || unshareable) end(unshareable, now);
}

void Claim::end(bool unshareable, Clock::time_point now) {
    held_ = false;
    store_.abandon(hash_, fill_.get(), unshareable, request_, now);
}

}  // namespace proxy
