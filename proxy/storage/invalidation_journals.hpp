#pragma once

#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "proxy/storage/invalidation_journal.hpp"

namespace proxy {

/// An InvalidationJournal in each directory of the disk, all with the same in it: any of them may
/// fail, or be replaced by an empty one, and the others know. Threads and bounds as there.
class InvalidationJournals {
public:
    using Done = InvalidationJournal::Done;

    /// What of those of earlier runs is the latest counts from now on, in all of them.
    InvalidationJournals(DiskCalls& calls, std::span<const std::filesystem::path> directories,
                         std::uint64_t secret_mark);

    /// For Cluster::go_on_from(); gives it away.
    protocol::KeptInvalidations take_earlier() { return std::move(earlier_); }
    struct Trouble {
        std::filesystem::path directory;
        boost::system::error_code error;
    };
    /// Why something of earlier runs may be missing; empty: one of them was read to its end.
    const std::vector<Trouble>& trouble_reading() const { return trouble_; }

    void add(std::uint64_t last, const protocol::Invalidation& what);
    void confirmed(const protocol::KeptInvalidations::ConfirmedByNode& by_node);
    bool wants_rewrite() const;
    /// Of those that want it.
    void rewrite(const protocol::KeptInvalidations& all);

    /// `done` is called once, on a thread of a journal, when what was added before has been written
    /// to each of them, or could not be: with true when one has all of it. Any thread.
    void when_written(Done done);

    /// The journals that are not complete at the moment.
    std::vector<Trouble> trouble() const;

private:
    struct Kept {
        Kept(DiskCalls& calls, const std::filesystem::path& in, std::uint64_t secret_mark);
        std::filesystem::path directory;
        InvalidationJournal journal;
    };
    std::deque<Kept> all_;  // 1 at least
    protocol::KeptInvalidations earlier_;
    std::vector<Trouble> trouble_;
};

}  // namespace proxy
