#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "proxy/storage/fill.hpp"
#include "proxy/storage/store.hpp"
#include "summary/sizing/key.hpp"

namespace proxy {

/// The right of one fetch to store its result for one target URI, and to be the fetch that similar
/// requests wait for. It ends with publish(), with abandon(), or with this object. One thread at a
/// time; the store must outlive it.
class FillLease {
public:
    using Clock = Store::Clock;
    using LeaseResult = FillLeases::LeaseResult;

    /// Prepares a claim. A null `fill` excludes followers. `request` has the fields of the request,
    /// which say who else may get its answer; they must outlive this.
    FillLease(Store& store, summary::KeyHash hash, std::string_view uri, std::shared_ptr<Fill> fill,
              Fields request = {})
        : leases_(store.leases()),
          hash_(hash),
          uri_(uri),
          fill_(std::move(fill)),
          request_(request) {}
    ~FillLease() {
        if (leads_) end({}, {});  // the time matters to unshareable answers only
    }
    FillLease(const FillLease&) = delete;
    FillLease& operator=(const FillLease&) = delete;

    summary::KeyHash hash() const { return hash_; }
    summary::Key key() const { return {hash_, uri_}; }
    const std::string& uri() const { return uri_; }
    /// Requests like the job's wait for its fill.
    bool leads() const { return leads_ && fill_; }
    /// The store's count of invalidations at the look-up.
    std::uint64_t invalidations() const { return invalidations_; }

    /// Makes this the one fetch for the URI and requests of its class (request_class.hpp), unless
    /// there is one. `seen` is the result of Store::find().
    LeaseResult take(const Store::Found& seen);
    /// Requests that miss meanwhile fetch for themselves. `invalidations` as in Store::Found.
    void stay_alone(std::uint64_t invalidations) { invalidations_ = invalidations; }

    /// The response has these tags. An invalidation of one of them ends the claim, so later
    /// requests fetch anew. False if one was invalidated since the look-up: then the response is
    /// only for requests from before the invalidation.
    bool tag(std::span<const summary::KeyHash> tags);

    /// Stores a complete response in the place of the variant that it replaces. Refuses it with
    /// false if the URI or one of its tags was invalidated since the look-up, or if
    /// InvalidationMemory has forgotten.
    bool publish(std::shared_ptr<const StoredResponse> response, Clock::time_point now);
    /// Ends the claim unused. `unshareable`: the answer is for one client, and for this time each
    /// request of this class fetches for itself (hit-for-miss).
    void abandon(std::chrono::seconds unshareable, Clock::time_point now);
    /// The answer that comes is for every client. So the requests of this class share the next
    /// fetches, although this one may have been alone.
    void note_shareable(const StoredResponse& response) {
        if (!leads_) leases_.refute_unshareable(hash_, request_, response);
    }

private:
    void end(std::chrono::seconds unshareable, Clock::time_point now);

    FillLeases& leases_;
    const summary::KeyHash hash_;
    const std::string uri_;
    const std::shared_ptr<Fill> fill_;
    const SelectingFields request_;
    std::uint64_t invalidations_ = 0;
    bool leads_ = false;
};

}  // namespace proxy
