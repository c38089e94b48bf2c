#pragma once

#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "proxy/storage/invalidation_journal.hpp"

namespace proxy {

/// An InvalidationJournal with the same content in each directory of the disk, so that a directory
/// may fail, or be replaced by an empty one. The control thread owns it; each journal has a thread
/// of its own for the disk. Bounds as in InvalidationJournal.
class InvalidationJournals {
public:
    using WriteHandler = InvalidationJournal::WriteHandler;

    /// The latest of the earlier journals becomes the content of all of them.
    InvalidationJournals(DiskCalls& calls, std::span<const std::filesystem::path> directories,
                         std::uint64_t secret_id);

    /// For Cluster::go_on_from(); moves it out.
    protocol::InvalidationBacklog take_earlier() { return std::move(earlier_); }
    struct Trouble {
        std::filesystem::path directory;
        boost::system::error_code error;
    };
    /// The reasons why earlier invalidations may be missing. Empty if one journal was read to its
    /// end.
    const std::vector<Trouble>& trouble_reading() const { return trouble_; }

    void add(std::uint64_t last, const protocol::Invalidation& what);
    void confirmed(const protocol::InvalidationBacklog::ConfirmedByNode& by_node);
    bool wants_rewrite() const;
    /// Rewrites the journals that want it.
    void rewrite(const protocol::InvalidationBacklog& all);

    /// Calls `done` once, on a thread of a journal, when all earlier additions have been written to
    /// each journal or have failed. Its argument is true if one journal has all of them. Any
    /// thread.
    void when_written(WriteHandler done);

    /// The journals that are incomplete at the moment.
    std::vector<Trouble> trouble() const;

private:
    struct JournalFile {
        JournalFile(DiskCalls& calls, const std::filesystem::path& in, std::uint64_t secret_id);
        std::filesystem::path directory;
        InvalidationJournal journal;
    };
    std::deque<JournalFile> all_;  // 1 at least
    protocol::InvalidationBacklog earlier_;
    std::vector<Trouble> trouble_;
};

}  // namespace proxy
