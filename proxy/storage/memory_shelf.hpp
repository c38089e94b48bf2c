#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/disk/disk_index.hpp"
#include "proxy/http/selecting_fields.hpp"
#include "proxy/storage/eviction_queue.hpp"
#include "proxy/storage/stored_response.hpp"
#include "proxy/storage/tag_index.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// Responses that left memory. The caller destroys them after it has released the shard's lock.
using DroppedResponses = std::vector<std::shared_ptr<const StoredResponse>>;

/// The disk's copy of a variant that is in memory. ShelfWriter and ShelfKeeper maintain it.
struct DiskCopy {
    RecordLocation place{};                   // of the record; the sector is 0 if there is none
    const StoredResponse* writing = nullptr;  // identifies the response in the disk's queue
    std::uint8_t offers = 0;                  // attempts to write it
    bool supersedes = false;                  // an older record must stay dead after a restart

    bool is_stored() const { return place.sector != 0; }
};

/// The part of the memory tier that one shard has: the variants of each key, their tags and the
/// order of eviction. The lock of the shard guards it.
///
/// An entry has at least one variant. Only between entry_for() and the end of the call that made it
/// may an entry be empty.
class MemoryShelf {
public:
    /// One of the stored responses of a key.
    struct Variant {
        std::shared_ptr<const StoredResponse> response;
        [[no_unique_address]] DiskCopy disk;
        std::uint8_t uses = 0;  // lately, see variant_choice.hpp

        explicit Variant(std::shared_ptr<const StoredResponse> stored)
            : response(std::move(stored)) {}
    };
    static_assert(sizeof(Variant) == 40, "every stored response pays for it");

    struct Entry : EvictionQueue::Node {
        bool announced = false;                               // the mark of AnnouncementLedger
        std::uint32_t displaced = 0;                          // variants that made room for others
        std::string uri;                                      // or the key of a block
        boost::container::small_vector<Variant, 1> variants;  // newest last; most have one
        std::vector<summary::KeyHash> tags;                   // of all variants, as indexed

        /// Erases the variants that `goes` selects. False if it selects none.
        template <class Goes>
        bool erase_if(Goes goes) {
            const auto rest = std::remove_if(variants.begin(), variants.end(), goes);
            const auto any = rest != variants.end();
            variants.erase(rest, variants.end());
            return any;
        }
        /// One of the variants has its record at this place.
        bool has_record_at(RecordLocation place) const {
            return std::ranges::any_of(
                variants, [&](const auto& variant) { return variant.disk.place == place; });
        }
    };
    using Entries =
        boost::unordered_flat_map<summary::KeyHash, std::unique_ptr<Entry>, summary::HashOfKeyHash>;

    /// The entry of the hash, or null. A caller that has the URI compares it, as two URIs may have
    /// one hash.
    [[gnu::always_inline]] Entry* find(summary::KeyHash hash) {  // for the sake of hits
        const auto it = entries_.find(hash);
        return it == entries_.end() ? nullptr : it->second.get();
    }
    const Entry* find(summary::KeyHash hash) const {
        const auto it = entries_.find(hash);
        return it == entries_.end() ? nullptr : it->second.get();
    }
    /// Finds or makes the entry. Null if another URI of the same hash has it.
    Entry* entry_for(summary::KeyHash hash, std::string_view uri);
    /// The newest variant that the request selects, or null.
    Variant* select(Entry& entry, const SelectingFields& request);
    /// The variant that makes room for one more: the least used that the disk is not about to
    /// write. A record that arrives on the disk after its variant left would escape later purges.
    /// Empty if all are about to be written.
    static std::optional<std::size_t> next_to_displace(Entry& entry);
    /// Indexes the tags of the entry and queues it for eviction by its present size. To be called
    /// after each addition of a variant.
    void weigh(Entry& entry);
    /// Moves the variants that `goes` selects to `out`; false if it selects zero variants. The
    /// caller erases an entry that is empty then.
    template <class Goes>
    bool drop_if(Entry& entry, Goes goes, DroppedResponses& out) {
        const auto dropped = entry.erase_if([&](Variant& variant) {
            if (!goes(std::as_const(variant))) return false;
            out.push_back(std::move(variant.response));
            return true;
        });
        if (dropped && !entry.variants.empty()) weigh(entry);
        return dropped;
    }
    void erase(Entry& entry);
    /// Removes all entries and returns them, for destruction outside the lock.
    Entries take_all();
    /// Leaves all entries to the end of the process. The last call.
    void leave();
    /// An entry with this tag, or null.
    Entry* first_tagged(summary::KeyHash tag);
    template <class Visit>
    void for_each(Visit visit) {
        for (auto& [hash, entry] : entries_) visit(*entry);
    }

    /// Somebody outside the shelf reads a response of the entry or its body. Readers get both from
    /// the store under the shard's lock, so an unread entry stays unread while the caller has it.
    static bool in_use(const Entry& entry);
    /// Excludes an entry in use from eviction until unpin_unused() finds it unused.
    void pin(Entry& entry) { queue_.pin(entry); }
    void unpin_unused() {
        queue_.unpin_unless(
            [](const auto& node) { return in_use(static_cast<const Entry&>(node)); });
    }
    /// Takes the next entry to evict, or null, out of the queue. The caller erases or pins it. See
    /// EvictionQueue::pop_victim().
    Entry* pop_victim(std::optional<std::uint32_t> most) {
        return static_cast<Entry*>(queue_.pop_victim(most));
    }
    /// See EvictionQueue::least().
    std::uint32_t least() const { return queue_.least(); }
    /// See EvictionQueue::count_into().
    void count_evictable_into(std::atomic<std::uint64_t>& total) { queue_.count_into(total); }
    void favour(Favour what, std::atomic<std::uint32_t>& clock) { queue_.favour(what, clock); }
    std::uint64_t evictable_bytes() const { return queue_.bytes(); }

    std::uint64_t objects() const { return entries_.size(); }
    std::uint64_t evictions = 0;  // entries that left for want of room

private:
    Entries entries_;
    TagIndex tagged_;
    EvictionQueue queue_;
    std::string scratch_;  // of select()
};

/// The newest stored response of the entry. Null for a null entry.
inline const std::shared_ptr<const StoredResponse>& newest_of(const MemoryShelf::Entry* entry) {
    static const std::shared_ptr<const StoredResponse> none;
    return entry && !entry->variants.empty() ? entry->variants.back().response : none;
}

}  // namespace proxy
