#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "proxy/storage/fill.hpp"
#include "proxy/storage/store.hpp"
#include "summary/key.hpp"

namespace proxy {

/// One fetch's right to store what it brings for one target URI, and to be the one that others like
/// it wait for. Ends once: when the response is published, when it is abandoned, or with this
/// value. One thread at a time; the store must outlive it.
class Claim {
public:
    using Clock = Store::Clock;

    /// Nothing is claimed yet. `fill` may be null: then nobody can wait for it. `request`: the
    /// fields of the request, which say who else its answer may be for; they must outlive this.
    Claim(Store& store, summary::KeyHash hash, std::string_view uri, std::shared_ptr<Fill> fill,
          Fields request = {})
        : store_(store), hash_(hash), uri_(uri), fill_(std::move(fill)), request_(request) {}
    ~Claim() {
        if (held_) end(false, {});  // the time is for what is unshareable
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    summary::KeyHash hash() const { return hash_; }
    summary::Key key() const { return {hash_, uri_}; }
    const std::string& uri() const { return uri_; }
    /// How many the store had seen when it was looked into.
    std::uint64_t invalidations() const { return invalidations_; }

    struct Taken {
        bool leads = false;           // others like it may wait for it now
        std::shared_ptr<Fill> other;  // or else the one that is under way; null: something was
                                      // stored since find(), look again
    };
    /// Makes this the one fetch for the URI and requests of its class (request_class.hpp), if there
    /// is none. `seen`: what find() said.
    Taken take(const Store::Found& seen);
    /// Whoever misses meanwhile fetches for itself. `invalidations`: as find() said.
    void stay_alone(std::uint64_t invalidations) { invalidations_ = invalidations; }

    /// What comes will have these tags: whoever invalidates one ends the claim, so that newcomers
    /// fetch anew. False when one was invalidated since find(): who has begun to wait after that
    /// must not get it either.
    bool tag(std::span<const summary::KeyHash> tags);

    /// Stores a complete response in place of the variant it replaces. False when the URI or one of
    /// its tags was invalidated since find(), or so many others were that this cannot be told any
    /// more: then nothing is stored.
    bool publish(std::shared_ptr<const StoredResponse> response, Clock::time_point now);
    /// Nothing will be stored. `unshareable`: the answer may not be shared, and for a while no
    /// request of this class waits for another's (hit-for-miss).
    void abandon(bool unshareable, Clock::time_point now);

private:
    void end(bool unshareable, Clock::time_point now);

    Store& store_;
    const summary::KeyHash hash_;
    const std::string uri_;
    const std::shared_ptr<Fill> fill_;
    const Selecting request_;
    std::uint64_t invalidations_ = 0;
    bool held_ = false;
};

}  // namespace proxy
