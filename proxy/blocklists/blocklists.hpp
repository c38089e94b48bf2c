#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "proxy/blocklists/entry_index.hpp"
#include "proxy/config/config.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {

/// The state of a file by which a change of its content shows.
struct ListStamp {
    std::uint64_t device = 0, inode = 0, bytes = 0;
    std::int64_t modified_ns = 0, changed_ns = 0;
    bool operator==(const ListStamp&) const = default;
};

/// One list, as it was read.
struct BlocklistFacts {
    BlocklistConfig config;
    ListStamp stamp;
    std::uint64_t entries = 0;              // lines with a host; of hosts files, their hosts
    std::uint64_t malformed = 0;            // lines, which are left out
    std::vector<std::string> complaints{};  // about the first of them: `line 7: no host name`
};

/// An entry that covers a target: where a person finds it.
struct ListedAt {
    std::uint8_t list = 0;  // index of the setting
    std::uint32_t line = 0;
};

/// The verdict of the lists on one target, and the work that it took.
struct ListedTarget {
    std::optional<ListedAt> refused, logged;  // the first of each
    std::uint32_t queries = 0;                // of the filter
    std::uint32_t positives = 0;              // of these, answers that the file had to confirm
    std::uint32_t confirmed = 0;
    std::uint32_t unreadable = 0;  // of the positives, those that the file could not confirm
    std::error_code error{};       // why not
};

/// The lists of `forward.blocklists` together. They never change, so any number of threads may ask
/// them; a reload makes others. The faults of files that could not renew them are beside. The first
/// entry of a list that refuses is reported; lists that log count if no list refuses. A path counts
/// in every reading of proxy/http/path_readings.hpp. With more readings than can be judged, it
/// counts as listed at a host with listed paths.
///
/// Names are hashed by a secret of this object (XXH3-128), so that nobody can choose names that the
/// filter takes for others.
class Blocklists {
public:
    /// `least_labels`: of all names in the lists; shorter names are not looked up.
    Blocklists(std::vector<BlocklistFacts> lists, const summary::KeyHasher& hasher,
               std::unique_ptr<EntryIndex> index, unsigned least_labels);

    /// `host` and `path` as in CacheKey. No path: it is unknown (CONNECT), and entries with a path
    /// do not apply. May wait for a disk; see EntryIndex.
    ListedTarget find(std::string_view host, std::optional<std::string_view> path) const;

    /// One of the lists refuses. Then a target whose entry is unreadable is refused as well.
    bool any_refuses() const;

    const std::vector<BlocklistFacts>& lists() const { return lists_; }
    /// For each list, why its file could not renew it, at the last try; empty where it did.
    std::vector<std::string> faults() const;
    void note_faults(std::vector<std::string> faults) const;
    /// `FILE, line N`
    std::string place(ListedAt entry) const;
    const EntryIndex& index() const { return *index_; }
    static constexpr double error() { return EntryIndex::EntryFilter::kError; }

private:
    /// A target under judgement.
    struct LookupInput {
        std::string_view host;
        std::optional<std::string_view> path;
        std::vector<std::string> urls{};  // the normal forms of the readings of the path
        bool has_all_urls = true;         // false: nobody knows all readings
        ListedTarget result{};
    };

    /// A text with its hash.
    struct Query {
        std::string_view text;
        std::uint64_t hash;
    };

    Query query(std::string_view text) const;
    template <class Take>
    void look_up(const Query& query, ListedTarget& result, const Take& take) const;
    void take(const EntryRecord& entry, ListedTarget& result) const;
    bool ask_name(const Query& name, LookupInput& asked) const;
    void ask_paths(std::string_view name, LookupInput& asked) const;
    void ask_url(std::string_view name, std::string_view path, LookupInput& asked) const;

    std::vector<BlocklistFacts> lists_;
    summary::KeyHasher hasher_;
    std::unique_ptr<EntryIndex> index_;
    unsigned least_labels_;
    mutable std::mutex faults_mutex_;
    mutable std::vector<std::string> faults_;  // empty: there are none
};

}  // namespace proxy
