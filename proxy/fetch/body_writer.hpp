#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/memory/memory.hpp"
#include "proxy/fetch/storing.hpp"
#include "proxy/http/fetch_error.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/fill_lease.hpp"
#include "proxy/storage/store.hpp"
#include "proxy/upstream/site.hpp"

namespace proxy {

/// Bytes of one body in one piece: it displaces at most half of the memory.
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

/// The only way of a fetched body into the store. The body is charged to the store block by block,
/// up to `object_max`, and published when it is complete. Readers take it from the fill as it
/// comes. A body that is not stored, or proves too large, moves through a window charged to
/// `windows`, and releases its followers (hit-for-miss). No I/O, no clock, no wait; one thread.
class BodyWriter {
public:
    using Clock = Store::Clock;

    /// All must outlive this.
    BodyWriter(Store& store, base::MemoryBudget& windows, FillLease& lease, Fill& fill,
               std::uint64_t object_max)
        : store_(store), windows_(windows), lease_(lease), fill_(fill), object_max_(object_max) {}

    /// Shows the head to the readers, and releases those whom it cannot serve.
    void begin(Fill::Incoming incoming, Sharing sharing, Clock::time_point now);
    /// The response is still on its way into the store.
    bool storing() const { return response_ != nullptr; }
    /// The verdict on the head; once storing has ended, the reason.
    StorageVerdict verdict() const { return verdict_; }

    /// Bytes that append() takes at the moment.
    std::size_t room() const { return fill_.room(); }
    enum class Room {
        made,
        after_readers,  // call again when they have taken some
        unwanted,       // the readers have left
    };
    /// Adds a block; `exact`: the bytes still to come, 0 if unknown. A body that proves too large
    /// for the store, or finds no room there, goes on for its readers alone.
    Room make_room(std::uint64_t exact, Clock::time_point now);
    /// Appends the next bytes of the body, at most room().
    void append(std::string_view data) { fill_.append(data); }
    /// Appends all of `data`, in new blocks as needed, while the body is being stored. Otherwise
    /// drops it.
    void append_if_storing(std::string_view data, Clock::time_point now);

    /// Publishes the complete body, if it is being stored, and ends the fill. Returns the final
    /// verdict: `invalidated` if the store refused it.
    StorageVerdict finish(Clock::time_point now);
    /// Ends the lease and the fill without a whole response.
    void fail(const FetchFailure& failure, Clock::time_point now);

private:
    bool grow_in_store(std::uint64_t exact, Clock::time_point now);
    Room grow_in_window(std::uint64_t exact, Clock::time_point now);
    void stop_storing(StorageVerdict why);
    void not_worth_waiting_for(Clock::time_point now);

    Store& store_;
    base::MemoryBudget& windows_;
    FillLease& lease_;
    Fill& fill_;
    const std::uint64_t object_max_;
    std::shared_ptr<const StoredResponse> response_;  // while it is being stored
    StorageVerdict verdict_ = StorageVerdict::store;
    unsigned status_ = 0;
};

}  // namespace proxy
