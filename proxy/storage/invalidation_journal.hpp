#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "protocol/publishing/kept_invalidations.hpp"
#include "protocol/wire/invalidation.hpp"
#include "proxy/disk/disk_error.hpp"
#include "proxy/disk/disk_file.hpp"

namespace proxy {

/// What this node has invalidated and some peer has not confirmed, in a file (disk/FORMAT.md), so
/// that its next run tells them. A thread of its own writes; no call but the constructor and the
/// destructor waits for the disk. Bounded: the file is to be written anew when wants_rewrite(),
/// which is when as much was added as it had, and at least kMinAdded; what waits for the disk is
/// kMaxWaiting bytes at most, and given up beyond, for then the file is written anew. Who waits to
/// be told is not bounded here: those are requests, each of which waits a second at most, and what
/// peers have sent.
///
/// A loss of power may take what was added since the last rewrite() with it; the end of the process
/// takes nothing that was written. Control thread, but for what says otherwise.
class InvalidationJournal {
public:
    static constexpr std::size_t kMinAdded = std::size_t{1} << 20;
    static constexpr std::size_t kMaxWaiting = std::size_t{4} << 20;

    /// Reads what an earlier run has left in `file`, as far as it is whole, and begins a new one
    /// with that. `secret_mark` as of SuperFile: what was hashed under another one says nothing.
    InvalidationJournal(DiskCalls& calls, std::filesystem::path file, std::uint64_t secret_mark);
    /// Writes what waits.
    ~InvalidationJournal();
    InvalidationJournal(const InvalidationJournal&) = delete;
    InvalidationJournal& operator=(const InvalidationJournal&) = delete;

    /// For Cluster::go_on_from(); gives it away.
    protocol::KeptInvalidations take_earlier() { return std::move(earlier_); }
    /// Why there was nothing to be read, or not all; none: there was, or there was no file.
    const std::optional<boost::system::error_code>& trouble_reading() const { return trouble_; }

    /// What Cluster::invalidate() was given, and the number that it returned.
    void add(std::uint64_t last, const protocol::Invalidation& what);
    /// Cluster::confirmed_by_node(), now and then. What is not known at the next start is told
    /// again.
    void confirmed(const protocol::KeptInvalidations::ConfirmedByNode& by_node);

    /// To be asked now and then: the file has grown, or could not be written.
    bool wants_rewrite() const;
    /// Cluster::kept_invalidations(), in place of all there is.
    void rewrite(protocol::KeptInvalidations all);

    using Done = std::function<void(bool written)>;
    /// `done` is called once, on the thread of the journal, when all that was added before has been
    /// written, or could not be. Any thread.
    void when_written(Done done);

    /// Why the file is not complete at the moment. Any thread.
    std::optional<boost::system::error_code> trouble() const;

private:
    struct Work {
        std::optional<protocol::KeptInvalidations> all;  // first this, instead of what there is
        DiskBytes more;                                  // then this
        std::vector<Done> done;
        bool empty() const { return !all && more.empty() && done.empty(); }
    };

    void push(const DiskBytes& record);
    void run();
    boost::system::error_code perform(const Work& work);
    void note(const boost::system::error_code& error, const Work& work);  // under the mutex
    boost::system::error_code replace(const protocol::KeptInvalidations& all);

    DiskCalls& calls_;
    const std::filesystem::path file_;
    const std::uint64_t secret_mark_;
    protocol::KeptInvalidations earlier_;
    std::optional<boost::system::error_code> trouble_;
    protocol::KeptInvalidations::ConfirmedByNode noted_;  // of confirmed()

    // The journal's thread.
    DiskFile open_;
    std::uint64_t written_bytes_ = 0;

    mutable std::mutex mutex_;
    std::condition_variable wakes_;
    Work waiting_;
    std::uint64_t added_bytes_ = 0, base_bytes_ = 0;   // since, and in, what replaced all
    bool incomplete_ = false;                          // until it is written anew
    std::optional<boost::system::error_code> broken_;  // why
    bool ends_ = false;
    std::thread thread_;
};

/// Bytes of the file, apart from it.
DiskBytes journal_of(const protocol::KeptInvalidations& all, std::uint64_t secret_mark);
struct ReadJournal {
    protocol::KeptInvalidations kept;
    std::optional<DiskError> trouble;  // where reading stopped before the end
};
ReadJournal read_journal(DiskView bytes, std::uint64_t secret_mark);

}  // namespace proxy
