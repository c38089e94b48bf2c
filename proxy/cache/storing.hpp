#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "proxy/cache/peer_request_plan.hpp"
#include "proxy/config/config.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/received.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/storage/claim.hpp"
#include "proxy/upstream/request_snapshot.hpp"

namespace proxy {

// What becomes of a received head in the store, and whether it may.

/// The request that the response answers, as far as it bears on storing. All must outlive this.
struct StoringRequest {
    const summary::KeyHasher& key_hasher;
    const RequestSnapshot& request;
    const RequestDirectives& directives;
};

/// A response on its way to the store, not charged yet. One that is not `store` may still be
/// passed on.
struct Draft {
    std::shared_ptr<StoredResponse> response;
    StorageVerdict verdict = StorageVerdict::store;
};

/// All of a stored response but its head's text, with an empty body.
Draft draft(const StoringRequest& storing, const Received& from);

/// The stored fields with those of a 304 (RFC 9111 §3.2). What the 304 says of this hop's exchange
/// stays with it, as do the cookies that it sets: they are for the client whose request it answers
/// (`own_lines`), and for nobody else, whatever may be stored. By Vary a 304 can add to what
/// selects the response, and takes nothing away: it may well be silent of what selected the bytes
/// (a server that compresses says nothing of that in a 304). A Date that is missing is the time of
/// its arrival. Views into both, and itself.
class UpdatedFields {
public:
    UpdatedFields(Fields stored, const Received& not_modified);
    UpdatedFields(const UpdatedFields&) = delete;
    UpdatedFields& operator=(const UpdatedFields&) = delete;
    const std::vector<Field>& merged() const { return merged_; }
    const std::string& own_lines() const { return own_lines_; }
    /// Whether a response may have so many fields: the limits of a received head hold for what
    /// several answers have brought together, too.
    bool fit(const LimitsConfig& limits) const;

private:
    std::string date_, vary_, own_lines_;
    std::vector<Field> merged_;
};

struct Refreshed {
    bool too_large = false;  // the fields exceed the limits of a head; the rest is unset then
    Draft draft;
    std::shared_ptr<LiveFields> live;
};

/// The stored response, good again by a 304, or by what says as much (RFC 9111 §4.3.4, §4.3.5).
/// `fields`: those of `stored`.
Refreshed refreshed(const StoringRequest& storing, const StoredResponse& stored, Fields fields,
                    const Received& not_modified);

/// Of an answer that may be stored by its head: is it too large? `length`: of its body, if known. A
/// body of which that is not known proves it when it comes.
StorageVerdict fits(StorageVerdict verdict, const std::optional<std::uint64_t>& length,
                    std::uint64_t object_max);

/// Who gets an answer beside the one whose request fetched it.
enum class Sharing : std::uint8_t {
    stored,      // all who ask: it is on its way into the store
    passed_on,   // nobody; others do not wait for the next one either (hit-for-miss)
    not_copied,  // nobody, as this node keeps no copy of what a peer has; that says nothing of it
    not_copied_once,  // likewise; whoever comes meanwhile may bring the one that is stored
};
/// `use`: what this node makes of what that sender gives.
Sharing sharing_of(StorageVerdict verdict, CopyUse use);

/// The same of an answer of which all that it takes was paid for: from now on whoever invalidates
/// one of its tags ends the claim. If one was since it was asked for, its verdict says so.
Sharing share(Claim& claim, Draft& made, CopyUse use);

/// Pays for an answer that is to be stored, once its head has come; where it may not be after all,
/// its verdict says why: there is no room, or as share() has it. Who gets it.
Sharing admit(Store& store, Claim& claim, Draft& made, CopyUse use, Store::Clock::time_point now);

/// What is stored stays, and is not given in place of another answer any more once it is stale. For
/// what the origin says to a client that tells who it is: that its own page is not to be stored.
/// False: it could not be kept so.
bool stand_in_for_nothing(Store& store, summary::KeyHash hash, std::string_view uri,
                          const StoredResponse& stored, Store::Clock::time_point now);

/// How an answer ended that did not come whole, in the words of what the store counts.
StorageVerdict verdict_of(FetchError end);

/// Pays for the head and the store's records; false when there is no room. `uri`: the store's key.
bool charge(Store& store, StoredResponse& response, std::string_view uri,
            Store::Clock::time_point now);

}  // namespace proxy
