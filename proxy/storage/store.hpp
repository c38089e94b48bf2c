#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/disk/disk_tier.hpp"
#include "proxy/disk/second_request.hpp"
#include "proxy/http/selecting.hpp"
#include "proxy/http/tags.hpp"
#include "proxy/storage/block_targets.hpp"
#include "proxy/storage/eviction_queue.hpp"
#include "proxy/storage/fill.hpp"
#include "proxy/storage/invalidation_memory.hpp"
#include "proxy/storage/request_class.hpp"
#include "proxy/storage/shards.hpp"
#include "proxy/storage/store_disk_status.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/telemetry/episode.hpp"
#include "summary/key.hpp"

namespace proxy {

inline constexpr std::size_t kMaxFillings = 16;  // per target URI that others can wait for
/// Request classes per shard that are remembered as hit-for-miss.
inline constexpr std::size_t kMaxUnshareableKeys = 4096;
/// How long requests of a class whose answer was not storable do not wait for each other.
inline constexpr std::chrono::seconds kHitForMiss{5};
/// Evicted in one step when the cap is lowered.
inline constexpr std::uint64_t kCapStepBytes = 8 << 20;
/// One part in so many of the cap is left to what is stored and not in use: bodies that come, and
/// those that slow readers hold, do not push out more.
inline constexpr std::uint64_t kShareLeft = 4;

/// A body of which a 304 has made the head new is written to the disk again up to this size.
inline constexpr std::uint64_t kRewrittenBytes = 64 * 1024;
/// What takes longer to be read is fetched instead.
inline constexpr std::chrono::seconds kRecallAtMost{1};
inline constexpr std::size_t kMaxRecallWaiters = 4096;  // for one key
inline constexpr unsigned kMaxOffers = 3;  // of one response to the disk, should it be too busy

/// What a node stores, for all its workers: in memory, and on a disk if it is given one. Any
/// thread; each call locks one shard briefly (invalidations by tag one after the other), none waits
/// for anything else, least of all for a disk, but for use_disk() and close_disk(). With a disk, an
/// invalidation by tag and one of everything hold the locks of all shards for their last step.
///
/// Byte-accurate: heads, bodies (those still filling and those pinned by slow readers too) and the
/// store's own records are charged to one cap. docs/explanation/storage.md has a table of every
/// field and of what charges or bounds it. What is known of the disk is not charged: its index, 20
/// bytes for each response there, what was missed once (SecondRequest), of which targets it has
/// blocks.
///
/// The two are one to the outside. What is published goes to the disk at once if that admits it;
/// what memory evicts is still there. Whatever is asked for comes by way of memory: find() says
/// that the disk has something of the URI, recall() brings it: whole, or without the body if that
/// is large, which is then left where it stands (Body::on_disk()).
class Store final : private DiskOwner {
public:
    using Clock = std::chrono::steady_clock;
    /// Called under a shard's lock, exactly once when a target URI becomes announceable (stored,
    /// complete, reusable) and once when nothing of it is stored any more, in memory and on the
    /// disk. After a disk has lost what it held the same word may come twice, as nobody knows then
    /// what it was. Must be quick and must not call the store.
    using Listener = std::function<void(summary::KeyHash, bool stored)>;

    Store(std::uint64_t memory_cap_bytes, Listener listener);
    ~Store();

    struct DiskUse {
        DiskTier::Config tier;
        DiskAdmission admission = DiskAdmission::second_request;
        std::uint64_t remembered = 1 << 20;  // keys that were missed once, at least
    };
    /// From now on there is a disk; what it holds is read by and by. `hasher`: of the keys. Before
    /// anything is stored, once. Throws as DiskTier does.
    void use_disk(DiskCalls& calls, DiskUse use, const summary::KeyHasher& hasher);
    /// Writes what waits. The last call; after it nothing is found on the disk.
    void close_disk();
    void set_admission(DiskAdmission admission) { admission_.store(admission); }
    /// Of one target URI, in memory. A lower number takes effect when a URI gets its next one.
    void set_max_variants(std::size_t most) { max_variants_.store(most); }
    /// Null without one.
    DiskTier* disk() { return disk_; }
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;

    struct Found {
        std::shared_ptr<const StoredResponse>
            response;                 // complete, matches the request; maybe stale
        std::shared_ptr<Fill> fill;   // in progress for this URI and requests like this one
        bool other_variants = false;  // there are responses, none for this request
        bool on_disk = false;         // none, but the disk may have one: see recall()
        /// Hit-for-miss: requests like this one do not wait for each other. False of what is fresh.
        bool unshareable = false;
        std::uint64_t invalidations = 0;  // so many there had been; a Claim wants it
        Clock::time_point at{};           // the `now` of find()
    };
    /// Counts as a use, which keeps the object: a client's request, and a peer's question too.
    Found find(summary::KeyHash hash, std::string_view uri, const Selecting& request,
               Clock::time_point now);
    enum class Recall : std::uint8_t {
        done,     // what there was is in memory now, or is no more: look again
        waiting,  // it is being read; the wakeup is notified when that is over
        refused,  // too much is being read, or there is no room: go on as if it were not stored
    };
    /// Brings into memory what the disk has of the URI and memory lacks.
    Recall recall(summary::KeyHash hash, std::string_view uri,
                  const std::shared_ptr<Wakeup>& wakeup);
    enum class Where : std::uint8_t {
        nowhere,
        memory,  // or on its way, as a fill
        disk,    // or perhaps: of what memory lacks nobody knows before it is read
    };
    /// Where find() would give a response from, or a fill. No use, and nothing is held: by the time
    /// it is asked for it may be gone.
    Where peek(summary::KeyHash hash, std::string_view uri, const Selecting& request);

    enum class Replaced : std::uint8_t {
        done,
        gone,         // `old` is not stored any more
        invalidated,  // what is said of it now was since `asked`, by its key or a tag
    };
    /// Puts `response`, which selects as `old` does, in its place if that is still stored. `asked`:
    /// before what it says was asked for.
    Replaced replace(summary::KeyHash hash, const StoredResponse* old,
                     std::shared_ptr<const StoredResponse> response, Clock::time_point asked,
                     Clock::time_point now);
    /// Removes all variants, and keeps what is being fetched from being stored. True if there was
    /// one.
    bool invalidate(summary::KeyHash hash, Clock::time_point now);
    /// From now on some entries are blocks of a body, which carry the hash of its URI as a tag:
    /// invalidate() of that ends them too.
    void will_hold_blocks() { has_blocks_.store(true, std::memory_order_relaxed); }
    /// The same for all that carries this tag; how many target URIs that were.
    std::size_t invalidate_tag(summary::KeyHash tag, Clock::time_point now);
    /// The same for all there is. Takes each shard's lock for as long as its entries ask for.
    void invalidate_all(Clock::time_point now);
    /// Grows by kNotesEach with each key and each tag that is invalidated, and with each body in
    /// blocks that goes by a tag; what Found says, for who looks nothing up.
    std::uint64_t invalidations() const { return invalidated_.invalidations(); }
    /// Whether one of these keys or tags was invalidated after that count stood at `invalidations`.
    bool any_noted_since(std::span<const summary::KeyHash> names,
                         std::uint64_t invalidations) const;
    /// Once when it begins, and once more when the disk gives nothing of it any longer: what is
    /// read in between is not stored either.
    static constexpr std::uint64_t kNotesEach = 2;
    /// When the key or one of the tags was last invalidated, or may have been: what peers made
    /// before is not to be used.
    std::optional<Clock::time_point> invalidated_at(
        summary::KeyHash hash, std::span<const summary::KeyHash> tags = {}) const;

    /// Grows when the disk is told to forget something: until that is written, the end of the
    /// process may bring it back (DiskTier::end()).
    std::uint64_t told_disk() const { return told_disk_.load(std::memory_order_relaxed); }

    /// Room for `bytes` under the cap, made by evicting what nobody reads at the moment, as long as
    /// more than one part in kShareLeft can be evicted; nothing else.
    std::optional<Charge> reserve(std::uint64_t bytes, Clock::time_point now);
    /// Whether nothing has to go for what is stored next.
    bool has_room() const { return proxy::has_room(budget_.used(), budget_.cap()); }
    /// A client reads this slowly: it is not to be counted among what can be evicted. Costs nothing
    /// but time when it is not there, or is done with meanwhile.
    void hold(summary::KeyHash hash);
    /// What Claim::publish() needs to be charged for one response beyond its body: all texts of its
    /// metadata, and the store's records of it.
    static std::uint64_t charge_for(std::string_view uri, const StoredMetadata& metadata);
    /// The part of that for the records alone.
    static std::uint64_t overhead_bytes(std::string_view uri, std::size_t tags);

    /// One step towards another cap; true when it is reached. A step down evicts what holds at most
    /// kCapStepBytes or so, that neither the caller nor the workers stand still: call again soon.
    bool step_cap_to(std::uint64_t bytes);

    /// A peer believed that this was here: if that was told once and could not be taken back, it
    /// is now.
    void deny(summary::KeyHash hash);

    struct Stats {
        std::uint64_t objects = 0, memory_bytes = 0, evictions = 0;
        std::uint64_t disk_evictions = 0;
        StoreDiskStatus disk;
    };
    Stats stats() const;

private:
    friend class Claim;  // what stands in claim.hpp, by the calls below

    struct Claimed {
        std::shared_ptr<Fill> fill;  // null: something was stored since find()
        bool leader = false;
    };
    /// `request`: of whoever claims it; also of publish() and abandon().
    Claimed claim(summary::KeyHash hash, std::string_view uri, const Found& seen,
                  const std::shared_ptr<Fill>& fill, const Selecting& request);
    bool tag_fill(summary::KeyHash hash, const Fill* fill, std::uint64_t invalidations,
                  std::span<const summary::KeyHash> tags);
    bool publish(summary::KeyHash hash, std::string_view uri, const Fill* fill,
                 std::uint64_t invalidations, std::shared_ptr<const StoredResponse> response,
                 const Selecting& request, Clock::time_point now);
    void abandon(summary::KeyHash hash, const Fill* fill, bool unshareable,
                 const Selecting& request, Clock::time_point now);

    using Dropped = std::vector<std::shared_ptr<const StoredResponse>>;
    struct Variant {
        std::shared_ptr<const StoredResponse> response;
        DiskPlace place{};                        // of its record; none while the sector is 0
        const StoredResponse* writing = nullptr;  // what is on its way to the disk, if anything
        std::uint8_t offers = 0;                  // to the disk
        std::uint8_t uses = 0;                    // lately, see variant_choice.hpp
        bool supersedes = false;  // something older on the disk, which must not come back

        explicit Variant(std::shared_ptr<const StoredResponse> what) : response(std::move(what)) {}
        bool on_disk() const { return place.sector != 0; }
    };
    /// A fetch that requests of one class can wait for.
    struct Filling {
        std::shared_ptr<Fill> fill;
        RequestClass asked;                  // by what was known of the URI when it began
        std::vector<summary::KeyHash> tags;  // of what it brings
    };
    struct Entry : EvictionQueue::Node {
        std::string uri;
        std::vector<Variant> variants;       // newest last
        std::uint32_t displaced = 0;         // variants that went for others
        std::vector<Filling> fillings;       // newest last, at most kMaxFillings
        std::vector<summary::KeyHash> tags;  // of all of it, as indexed; sorted
        /// The listener was told of it. Without variants it is the disk's entries that say so.
        bool announced = false;

        /// Has memory what is written there?
        bool holds(DiskPlace place) const {
            return std::ranges::any_of(variants, [&](const auto& v) { return v.place == place; });
        }
    };
    /// Records of one key that are being read for those who wait, at most kMaxRecallWaiters.
    struct Recalling {
        std::size_t pending = 0;
        std::vector<std::shared_ptr<Wakeup>> waiting;
    };
    /// The index from tags to entries.
    struct Tagged {
        summary::KeyHash tag, key;
    };
    struct TaggedOrder {
        bool operator()(const Tagged& a, const Tagged& b) const {
            return a.tag != b.tag ? precedes(a.tag, b.tag) : precedes(a.key, b.key);
        }
    };
    struct alignas(64) Shard {
        mutable std::mutex mutex;
        boost::unordered_flat_map<summary::KeyHash, std::unique_ptr<Entry>, summary::HashOfKeyHash>
            entries;
        /// By of_class(), and until when. What is over stays until it is refuted or pushed out.
        boost::unordered_flat_map<summary::KeyHash, Clock::time_point, summary::HashOfKeyHash>
            unshareable;
        std::set<Tagged, TaggedOrder> tagged;
        EvictionQueue queue;
        std::uint64_t objects = 0;
        std::uint64_t evictions = 0;
        std::string scratch;  // for variant matching

        DiskIndex disk;
        boost::unordered_flat_map<summary::KeyHash, Recalling, summary::HashOfKeyHash> recalls;
        std::optional<SecondRequest> second_request;
        std::uint64_t recalled = 0, declined = 0, disk_evictions = 0;
    };

    Shard& shard(summary::KeyHash hash) { return shards_[shard_of(hash)]; }
    const Shard& shard(summary::KeyHash hash) const { return shards_[shard_of(hash)]; }
    /// The newest that the request selects; null when there is none. The lock is held.
    static const Variant* select(Shard& shard, const Entry& entry, const Selecting& request);
    static Variant* select(Shard& shard, Entry& entry, const Selecting& request) {
        return const_cast<Variant*>(select(shard, std::as_const(entry), request));
    }
    Entry* entry_for(Shard& shard, summary::KeyHash hash, std::string_view uri);  // lock held
    /// Tells the listener of what memory has, each time with the other word; of what the disk alone
    /// has it is told in store_disk.cpp.
    void announce(Entry& entry, bool stored);
    /// Those that `goes` takes. What is left is weighed; an empty entry stays where it is.
    template <class Goes>
    bool drop_if(Shard& shard, Entry& entry, Goes goes, Dropped& out);
    void drop_responses(Shard& shard, Entry& entry, Dropped& out);
    /// True when what the disk has of the key was given up with it.
    bool drop_one_variant(Shard& shard, Entry& entry, Dropped& out);
    /// After a variant was added: announces the entry if need be, and weighs it.
    void settle(Shard& shard, Entry& entry, Clock::time_point now);
    static void index_tags(Shard& shard, Entry& entry);
    static void weigh(Shard& shard, Entry& entry);
    void erase_if_empty(Shard& shard, Entry& entry);
    struct Ended;
    /// For the last step of an invalidation that concerns several shards, in their order: whoever
    /// holds one lock takes no other.
    std::array<std::unique_lock<std::mutex>, kShards> lock_all();
    // The lock of `shard` is held.
    bool drop_key(Shard& shard, summary::KeyHash hash, Ended& ended);
    void drop_tagged(Shard& shard, summary::KeyHash tag, Ended& ended);
    void drop_all(Shard& shard, Ended& ended);
    void drop_tagged_in_turn(summary::KeyHash tag, Ended& ended);
    static bool in_use(const Entry& entry);
    /// One step. False when nothing here can be evicted, or no more than `left` anywhere.
    bool evict_one(Shard& shard, std::uint64_t left);
    /// False when it cannot be had.
    template <class Enough>
    bool evict_until(Enough enough, std::uint64_t left);

    // Who may wait for what is fetched, in store_fillings.cpp. The lock is held.
    static std::shared_ptr<const StoredResponse> newest(const Entry& entry);
    static std::shared_ptr<Fill> fill_for(Shard& shard, const Entry& entry,
                                          const Selecting& request, Clock::time_point now);
    static bool is_unshareable(Shard& shard, summary::KeyHash hash, const Entry* entry,
                               const Selecting& request, Clock::time_point now);
    static void refute_unshareable(Shard& shard, const Entry& entry, const Selecting& request);
    static Filling end_fill(Entry& entry, const Fill* fill);
    static std::vector<Filling> end_fills(Entry& entry);

    // The disk's half, in store_disk.cpp and store_recall.cpp. Where a shard is given its lock is
    // held.
    using Loaded = DiskResult<LoadedRecord>;
    struct AtHand;  // one record that is read
    static bool disk_has_more(const Shard& shard, summary::KeyHash hash, const Entry* entry);
    static bool has_lost_its_body(const Shard& shard, summary::KeyHash hash,
                                  const StoredResponse& response);
    static std::vector<DiskEntry> lacking(const Shard& shard, summary::KeyHash hash);
    bool take_back(const AtHand& asked, Loaded loaded);
    void recalled(summary::KeyHash hash);
    void spoilt(summary::KeyHash hash, DiskPlace place);
    void let_go(Shard& shard, summary::KeyHash hash, DiskPlace place, Dropped& out);
    void offer(Shard& shard, Entry& entry, Variant& variant);
    void write(Shard& shard, Entry& entry, Variant& variant);
    void admit(Shard& shard, Entry& entry, Variant& variant);
    void written(summary::KeyHash hash, const StoredResponse* response, std::uint32_t sectors,
                 const DiskResult<DiskPlace>& where);
    bool supersede(Shard& shard, Entry& entry);
    void renew_on_disk(Shard& shard, Entry& entry, const Variant& old, Variant& renewed);
    void bury(Shard& shard, Entry& entry);
    /// `entry`: the key's, may be null.
    static std::size_t erase_records(Shard& shard, summary::KeyHash hash, Entry* entry);
    void end_on_disk(summary::KeyHash hash);
    static void erase_from_index(Shard& shard, summary::KeyHash hash, const Variant& variant);
    static void adopt(Shard& shard, Entry& entry);
    static bool hand_over(Shard& shard, Entry& entry);
    bool drop_from_disk(Shard& shard, summary::KeyHash hash);
    bool forget(Shard& shard, summary::KeyHash hash, DiskPlace place);
    Present present(Clock::time_point now) const;

    summary::KeyHash hash_of(std::string_view uri) const override { return (*hasher_)(uri); }
    void recovered(std::span<const RecoveredKey> batch) override;
    void recovered(Shard& shard, std::span<const RecoveredKey* const> records, DiskTime wall);
    std::optional<unsigned> uses(const FooterEntry& entry, DiskPlace place) override;
    void moved(const FooterEntry& entry, DiskPlace from, DiskPlace to) override;
    void dropped(const FooterEntry& entry, DiskPlace place) override;
    void lost(const LostPlaces& places) override;

    Episode full_;                             // nothing left to evict
    std::atomic<std::uint64_t> evictable_{0};  // of what the shards' queues hold
    MemoryBudget budget_;                      // outlives all charges in the shards
    Listener listener_;
    InvalidationMemory invalidated_;  // its lock may be taken under a shard's
    std::array<Shard, kShards> shards_;
    std::atomic<std::size_t> next_victim_{0};
    std::atomic<bool> has_blocks_{false};

    std::optional<summary::KeyHasher> hasher_;
    std::atomic<DiskAdmission> admission_{DiskAdmission::second_request};
    std::atomic<std::size_t> max_variants_{CacheConfig().variants};
    BlockTargets block_targets_;             // on the disk; its lock may be taken under a shard's
    std::atomic<bool> told_in_vain_{false};  // of what is lost, and nobody knows which
    Present begun_;                          // of this store
    DiskTier* disk_ = nullptr;               // tier_, until that has ended
    std::atomic<bool> closing_{false};       // nothing more is asked of it
    std::atomic<std::uint64_t> told_disk_{0};
    std::unique_ptr<DiskTier> tier_;  // last: its threads use all of the above
};

template <class Goes>
bool Store::drop_if(Shard& in, Entry& entry, Goes goes, Dropped& out) {
    const auto dropped = std::erase_if(entry.variants, [&](Variant& variant) {
        if (!goes(std::as_const(variant))) return false;
        out.push_back(std::move(variant.response));
        return true;
    });
    if (dropped == 0) return false;
    if (!entry.variants.empty()) {
        weigh(in, entry);
        return true;
    }
    in.queue.remove(entry);
    --in.objects;
    if (!hand_over(in, entry)) announce(entry, false);
    return true;
}

}  // namespace proxy
