#include "proxy/storage/claim.hpp"

#include <cassert>
#include <utility>

namespace proxy {

Claim::Taken Claim::take(const Store::Found& seen) {
    assert(!leads_);
    invalidations_ = seen.invalidations;
    auto taken = claims_.take(hash_, uri_, seen, fill_, request_);
    leads_ = taken.leads;
    return taken;
}

bool Claim::tag(std::span<const summary::KeyHash> tags) {
    return claims_.tag(hash_, fill_.get(), invalidations_, tags);
}

bool Claim::publish(std::shared_ptr<const StoredResponse> response, Clock::time_point now) {
    leads_ = false;
    return claims_.publish(hash_, uri_, fill_.get(), invalidations_, std::move(response), request_,
                           now);
}

void Claim::abandon(std::chrono::seconds unshareable, Clock::time_point now) {
    if (leads_ || unshareable > std::chrono::seconds(0)) end(unshareable, now);
}

void Claim::end(std::chrono::seconds unshareable, Clock::time_point now) {
    leads_ = false;
    claims_.abandon(hash_, fill_.get(), unshareable, request_, now);
}

}  // namespace proxy
