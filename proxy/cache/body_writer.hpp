#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/cache/storing.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/storage/claim.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/memory.hpp"
#include "proxy/storage/store.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

/// Of what is stored in one piece: it pushes out no more than half of all.
inline std::uint64_t object_max(const SitePolicy& policy) {
    return std::min(policy.cache->object_max, policy.cache->memory / 2);
}

/// The reason why a fetch brought no response, or no whole one.
struct FetchFailure {
    FetchError error = FetchError::none;
    unsigned upstream_status = 0;  // of the response; 0: there was none
    bool unshareable = false;      // the next request does not wait for another's (hit-for-miss)
    ParseError malformed = {};
};

/// The one way by which a response comes into the store: its body is charged to the store block by
/// block, bounded by `object_max`, and published when it is complete. It is written into a fill, so
/// that whoever waits for it reads it as it comes. What is not stored, or proves too large, comes
/// in a window that is charged to `windows`, and is not worth waiting for (hit-for-miss). No I/O,
/// no clock, and nothing waits; one thread.
class BodyWriter {
public:
    using Clock = Store::Clock;

    /// All must outlive this.
    BodyWriter(Store& store, MemoryBudget& windows, Claim& claim, Fill& fill,
               std::uint64_t object_max)
        : store_(store), windows_(windows), claim_(claim), fill_(fill), object_max_(object_max) {}

    /// Shows the head to the readers, and lets those go whom it is not for.
    void begin(Fill::Answer answer, Sharing sharing, Clock::time_point now);
    /// It is still on its way into the store.
    bool storing() const { return response_ != nullptr; }
    /// Of the head; and from when on it is not stored, why.
    StorageVerdict verdict() const { return verdict_; }

    /// Bytes that append() takes at the moment.
    std::size_t room() const { return fill_.room(); }
    enum class Room {
        made,
        after_readers,  // call again when they have taken some
        unwanted,       // nobody reads any more
    };
    /// A new block; `exact`: the bytes still to come, if that is known (else 0). What turns out too
    /// large for the store, or has no room there, goes on without it, for the readers at hand.
    Room make_room(std::uint64_t exact, Clock::time_point now);
    /// The next bytes of the body, at most room().
    void append(std::string_view data) { fill_.append(data); }
    /// All of `data`, in new blocks as it takes; while it is being stored, else nothing of it.
    void append_if_storing(std::string_view data, Clock::time_point now);

    /// The body is complete: publishes it, if it is being stored, and ends the fill. Returns what
    /// became of it: `invalidated` when the store did not take it.
    StorageVerdict finish(Clock::time_point now);
    /// Ends the claim and the fill without a whole response.
    void fail(const FetchFailure& failure, Clock::time_point now);

private:
    bool grow_in_store(std::uint64_t exact, Clock::time_point now);
    Room grow_in_window(std::uint64_t exact);
    void stop_storing(StorageVerdict why);
    void not_worth_waiting_for(Clock::time_point now);

    Store& store_;
    MemoryBudget& windows_;
    Claim& claim_;
    Fill& fill_;
    const std::uint64_t object_max_;
    std::shared_ptr<const StoredResponse> response_;  // as long as it is being stored
    StorageVerdict verdict_ = StorageVerdict::store;
};

}  // namespace proxy
