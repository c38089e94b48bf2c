#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "proxy/config/config.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/storage/claim.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/store.hpp"

namespace proxy {

/// No single object pushes out more than half of what is stored.
inline std::uint64_t object_max(const Config& config) {
    return std::min(config.cache.object_max, config.cache.memory / 2);
}

/// The one way by which a response comes into the store: its body is charged to the store block by
/// block, bounded by `object_max`, and published when it is complete. It is written into a fill, so
/// that whoever waits for it reads it as it comes. No I/O, no clock, and nothing waits; one thread.
class BodyWriter {
public:
    using Clock = Store::Clock;

    /// All must outlive this.
    BodyWriter(Store& store, Claim& claim, Fill& fill, std::uint64_t object_max)
        : store_(store), claim_(claim), fill_(fill), object_max_(object_max) {}

    /// Shows the head to the readers. `answer.shared`: what comes is to be stored.
    void begin(Fill::Answer answer);
    /// It is still on its way into the store.
    bool storing() const { return response_ != nullptr; }
    /// Of the head; and from when on it is not stored, why.
    StorageVerdict verdict() const { return verdict_; }

    /// Bytes that append() takes at the moment.
    std::size_t room() const { return fill_.room(); }
    /// A new block; `exact`: the bytes still to come, if that is known (else 0). False: it is not
    /// being stored, or from now on no more, as it is too large or there is no room. Then the
    /// readers at hand go on without the store, and what comes for them is the caller's to pay.
    bool grow(std::uint64_t exact, Clock::time_point now);
    /// The next bytes of the body, at most room().
    void append(std::string_view data) { fill_.append(data); }
    /// All of it that is stored, be there room or not; what is not being stored is left.
    void keep(std::string_view data, Clock::time_point now);

    /// The body is complete: publishes it, if it is being stored, and ends the fill. Returns what
    /// became of it: `invalidated` when the store did not take it.
    StorageVerdict finish(Clock::time_point now);

private:
    void stop_storing(StorageVerdict why);

    Store& store_;
    Claim& claim_;
    Fill& fill_;
    const std::uint64_t object_max_;
    std::shared_ptr<const StoredResponse> response_;  // as long as it is being stored
    StorageVerdict verdict_ = StorageVerdict::store;
};

}  // namespace proxy
