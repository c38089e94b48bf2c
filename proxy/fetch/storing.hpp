#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/fetch/peer_request_plan.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/received_head.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/storage/fill_lease.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

// The way of a received head into the store, and the permission for it.

/// The request of a response, as far as it bears on storing. All must outlive this.
struct StoringRequest {
    const summary::KeyHasher& key_hasher;
    const RequestSnapshot& request;
    const RequestDirectives& directives;
    /// So far the clock of this node is ahead of those of all its peers (RFC 9111 §4.2.3).
    std::chrono::seconds clock_ahead{0};
};

/// A response on its way to the store, not charged yet. Its readers may get it although the verdict
/// is not `store`.
struct StoreCandidate {
    std::shared_ptr<StoredResponse> response;
    StorageVerdict verdict = StorageVerdict::store;
    /// ResponseDirectives::withheld(): views of the received head.
    std::array<std::string_view, 2> withheld = {};
};

/// A stored response without the text of its head, with an empty body.
StoreCandidate candidate(const StoringRequest& storing, const ReceivedHead& from);

/// The stored fields with those of a 304 (RFC 9111 §3.2). Fields about this hop's exchange stay
/// with the 304. Cookies of a 304 are for its own client (`own_lines`), whatever may be stored.
/// Vary of a 304 can add to the fields that select the response. It takes none away, because a
/// server may leave it out (one that compresses does). A missing Date is the time of arrival. Views
/// into both, and into itself.
class UpdatedFields {
public:
    UpdatedFields(Fields stored, const ReceivedHead& not_modified);
    UpdatedFields(const UpdatedFields&) = delete;
    UpdatedFields& operator=(const UpdatedFields&) = delete;
    const std::vector<Field>& merged() const { return merged_; }
    const std::string& own_lines() const { return own_lines_; }
    /// The limits of a received head hold for the fields of several responses together, too.
    bool fit(const LimitsConfig& limits) const;

private:
    std::string date_, vary_, own_lines_;
    std::vector<Field> merged_;
};

/// The result of refreshed(): the draft that replaces the stored response, and the fields for the
/// client of the validation alone.
struct RefreshedResponse {
    bool too_large = false;  // the fields exceed the limits of a head; the rest is unset then
    StoreCandidate candidate;
    std::shared_ptr<LiveFields> live;
};

/// The stored response, good again by a 304 or its equivalent (RFC 9111 §4.3.4, §4.3.5). `fields`:
/// those of `stored`.
RefreshedResponse refreshed(const StoringRequest& storing, const StoredResponse& stored,
                            Fields fields, const ReceivedHead& not_modified);

/// The verdict on a response whose head may be stored, by its size. `length`: of its body; a body
/// of unknown length shows it later.
StorageVerdict fits(StorageVerdict verdict, const std::optional<std::uint64_t>& length,
                    std::uint64_t object_max);

/// The requests that get a response, beside the one that fetched it.
enum class Sharing : std::uint8_t {
    stored,           // all: it is on its way into the store
    passed_on,        // none, and none of them waits for the next one (hit-for-miss)
    not_copied,       // none, as this node keeps no copy of a peer's object; it may be shareable
    not_copied_once,  // none; a later request may bring the copy that is stored
    awaited,          // those that wait for it: it is too old for the store since its arrival
};
/// `use`: of the sender's responses at this node.
Sharing sharing_of(StorageVerdict verdict, CopyUse use);

/// The same for a response whose charge is paid: from now on an invalidation of one of its tags
/// ends the lease. After an earlier one the verdict says so.
Sharing share(FillLease& lease, StoreCandidate& made, CopyUse use);

/// Charges a response that is to be stored, once its head has come. Without room, or as share() has
/// it, the verdict changes. Returns the requests that get it.
Sharing admit(Store& store, FillLease& lease, StoreCandidate& made, CopyUse use,
              Store::Clock::time_point now);

/// Keeps the stored response, but not as a stand-in for another response once it is stale. For a
/// client that identifies itself and whose own page is not to be stored. False: it could not be
/// kept so.
bool stand_in_for_nothing(Store& store, summary::KeyHash hash, std::string_view uri,
                          const StoredResponse& stored, Store::Clock::time_point now);

/// The verdict on a response that did not come whole.
StorageVerdict verdict_of(FetchError end);

/// Charges the head and the store's records; false without room. `uri`: the store's key.
bool charge(Store& store, StoredResponse& response, std::string_view uri,
            Store::Clock::time_point now);

}  // namespace proxy
