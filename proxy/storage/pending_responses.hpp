#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/http/selecting_fields.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/request_class.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/storage/tag_index.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The responses that are being fetched for one shard, each with the class of requests that may
/// wait for it, and the unshareable classes, whose requests fetch each for itself (hit-for-miss).
/// The lock of the shard guards it; it takes the mutex of a Fill for a moment.
///
/// The `stored` parameters are the newest stored response of the target, or null. That response and
/// those that are coming say how the target varies, and so which class a request belongs to.
class PendingResponses {
public:
    using Clock = std::chrono::steady_clock;
    using Stored = std::shared_ptr<const StoredResponse>;
    using Fills = std::vector<std::shared_ptr<Fill>>;

    /// Fetches of one target URI that others can wait for.
    static constexpr std::size_t kMaxPerTarget = 16;
    /// Classes that are noted as unshareable.
    static constexpr std::size_t kMaxUnshareable = 4096;
    /// A class is unshareable for this long after a response that its origin means for one client.
    /// Each such response begins the time anew, so users of one slow page never wait in a row.
    static constexpr std::chrono::seconds kHitForMiss{120};
    /// The same after trouble that may pass, of the origin or of this node.
    static constexpr std::chrono::seconds kHitForMissInTrouble{5};

    bool empty() const { return targets_.empty(); }
    /// No fetch is in progress, and no class is unshareable.
    bool is_idle() const { return targets_.size() + unshareable_.size() == 0; }
    bool has(summary::KeyHash target, std::string_view uri) const { return of(target, uri); }
    /// The fill whose answer is for this request, or will be as far as that can be foreseen, or
    /// null.
    ///
    /// Requests with credentials and requests that lack them are kept apart while the target is
    /// unknown, and also at a target where requests with a cookie got answers of their own.
    std::shared_ptr<Fill> find(summary::KeyHash target, std::string_view uri,
                               const SelectingFields& request, const Stored& stored,
                               Clock::time_point now);
    /// Lets requests of the class of `request` wait for `fill` until end(). `uri` must stay valid
    /// until then. A target with kMaxPerTarget fills gets no further ones.
    void add(summary::KeyHash target, std::string_view uri, std::shared_ptr<Fill> fill,
             const SelectingFields& request, const Stored& stored);
    /// The response that `fill` receives has these tags.
    void tag(summary::KeyHash target, const Fill* fill, std::span<const summary::KeyHash> tags);

    // The functions below return fills for destruction outside the lock. The requests that wait
    // for these fills still get their answers; later requests fetch anew.

    /// Null if `fill` was not there.
    std::shared_ptr<Fill> end(summary::KeyHash target, const Fill* fill);
    void end_target(summary::KeyHash target, Fills& out);
    void end_all(Fills& out);

    /// A target whose pending response has this tag, if there is any.
    std::optional<summary::KeyHash> first_tagged(summary::KeyHash tag) const {
        return tagged_.first(tag);
    }

    /// Calls `visit` with the hash and the URI of each target.
    template <class Visit>
    void for_each(const Visit& visit) const {
        for (const auto& [key, target] : targets_) visit(key, target.fetches.front().uri);
    }

    /// Requests like this one fetch each for itself.
    bool is_unshareable(summary::KeyHash target, const SelectingFields& request,
                        const Stored& stored, Clock::time_point now);
    /// Notes that for `time`, unless a longer time was noted before.
    void note_unshareable(summary::KeyHash target, const SelectingFields& request,
                          const Stored& stored, std::chrono::seconds time, Clock::time_point now);
    /// `request` brought `stored`, which every client may have.
    void refute_unshareable(summary::KeyHash target, const SelectingFields& request,
                            const StoredResponse& stored);

private:
    struct PendingResponse {
        std::shared_ptr<Fill> fill;
        std::string_view uri;
        RequestClass of_class;  // as far as it was known at the start of the fetch
        std::vector<summary::KeyHash> tags;
    };
    struct Target {
        std::vector<PendingResponse> fetches;  // newest last, 1 to kMaxPerTarget
        std::vector<summary::KeyHash> tags;    // of all of them, as indexed
    };
    template <class Value>
    using ByKey = boost::unordered_flat_map<summary::KeyHash, Value, summary::HashOfKeyHash>;

    /// Null also if the fetches are for another URI of the same hash.
    const Target* of(summary::KeyHash target, std::string_view uri) const;
    static Stored newest(const Target* target, const Stored& stored);
    RequestClass class_now(summary::KeyHash target, const SelectingFields& request,
                           const Stored& stored);
    void index_tags(summary::KeyHash key, Target& target);
    void make_room(Clock::time_point now);

    ByKey<Target> targets_;
    TagIndex tagged_;
    /// The end of the time for which a class is unshareable, by class_name(). An entry whose time
    /// is over stays until it is refuted or makes room.
    ByKey<Clock::time_point> unshareable_;
    std::string scratch_;  // for the comparison of variants
};

}  // namespace proxy
