#include "proxy/storage/fill_lease.hpp"

#include <cassert>
#include <utility>

namespace proxy {

FillLease::LeaseResult FillLease::take(const Store::Found& seen) {
    assert(!leads_);
    invalidations_ = seen.invalidations;
    auto taken = leases_.take(hash_, uri_, seen, fill_, request_);
    leads_ = taken.leads;
    return taken;
}

bool FillLease::tag(std::span<const summary::KeyHash> tags) {
    return leases_.tag(hash_, fill_.get(), invalidations_, tags);
}

bool FillLease::publish(std::shared_ptr<const StoredResponse> response, Clock::time_point now) {
    leads_ = false;
    return leases_.publish(hash_, uri_, fill_.get(), invalidations_, std::move(response), request_,
                           now);
}

void FillLease::abandon(std::chrono::seconds unshareable, Clock::time_point now) {
    if (leads_ || unshareable > std::chrono::seconds(0)) end(unshareable, now);
}

void FillLease::end(std::chrono::seconds unshareable, Clock::time_point now) {
    leads_ = false;
    leases_.abandon(hash_, fill_.get(), unshareable, request_, now);
}

}  // namespace proxy
