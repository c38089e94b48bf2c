#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/publishing/invalidation_backlog.hpp"
#include "protocol/wire/invalidation.hpp"
#include "proxy/disk/disk_error.hpp"
#include "proxy/disk/disk_file.hpp"

namespace proxy {

/// A file that grows at its end and is sometimes written anew. One thread.
class AppendedFile {
public:
    AppendedFile(DiskCalls& calls, std::filesystem::path path)
        : calls_(calls), path_(std::move(path)) {}

    /// As content_of().
    DiskResult<DiskBytes> content(std::uint64_t most) const {
        return content_of(calls_, path_, most);
    }
    /// As replace_file(). An error may leave the former content.
    boost::system::error_code replace(DiskView content);
    /// Precondition: replace() has succeeded once. An error may leave a part of `more`.
    boost::system::error_code append(DiskView more);
    std::uint64_t bytes() const { return bytes_; }

private:
    DiskCalls& calls_;
    const std::filesystem::path path_;
    DiskFile file_;
    std::uint64_t bytes_ = 0;
};

/// The invalidations of this node that some peer has yet to confirm, in a file (disk/FORMAT.md).
/// After a restart the node sends them to these peers. A thread of its own writes; only the
/// constructor and the destructor wait for the disk.
///
/// The file has to be rewritten when wants_rewrite() says so: when as much was added as it had, and
/// at least kMinAdded. At most kMaxWaiting bytes wait for the disk. Beyond that they are dropped,
/// and the file is rewritten. The callers bound the number of `done` functions: these belong to
/// requests, each of which waits a second at most, and to messages of peers.
///
/// Written additions survive the end of the process. A loss of power may take those since the last
/// rewrite(). Control thread, except where a comment says otherwise.
class InvalidationJournal {
public:
    static constexpr std::size_t kMinAdded = std::size_t{1} << 20;
    static constexpr std::size_t kMaxWaiting = std::size_t{4} << 20;

    /// Reads the complete part of the `file` of an earlier instance, and starts a new file with it.
    /// `secret_id` as in SuperFile; hashes under another secret are useless.
    InvalidationJournal(DiskCalls& calls, std::filesystem::path file, std::uint64_t secret_id);
    /// Writes the waiting additions.
    ~InvalidationJournal();
    InvalidationJournal(const InvalidationJournal&) = delete;
    InvalidationJournal& operator=(const InvalidationJournal&) = delete;

    /// For Cluster::go_on_from(); moves it out.
    protocol::InvalidationBacklog take_earlier() { return std::move(earlier_); }
    /// The error that ended the reading early. Empty if the file was complete or absent.
    const std::optional<boost::system::error_code>& trouble_reading() const { return trouble_; }

    /// Adds an invalidation: the argument of Cluster::invalidate(), and the number that it
    /// returned.
    void add(std::uint64_t last, const protocol::Invalidation& what);
    /// Takes Cluster::confirmed_by_node(), now and then. Peers get later invalidations again after
    /// a restart.
    void confirmed(const protocol::InvalidationBacklog::ConfirmedByNode& by_node);

    /// The file has grown, or a write has failed. To be asked now and then.
    bool wants_rewrite() const;
    /// Replaces the content by Cluster::kept_invalidations().
    void rewrite(protocol::InvalidationBacklog all);

    using WriteHandler = std::function<void(bool written)>;
    /// Calls `done` once, on the thread of the journal, when all earlier additions have been
    /// written or have failed. Any thread.
    void when_written(WriteHandler done);

    /// The reason why the file is incomplete at the moment. Any thread.
    std::optional<boost::system::error_code> trouble() const;

private:
    struct Work {
        std::optional<protocol::InvalidationBacklog>
            all;         // first this, in the place of the content
        DiskBytes more;  // then this
        std::vector<WriteHandler> done;
        bool empty() const { return !all && more.empty() && done.empty(); }
    };

    void push(const DiskBytes& record);
    void run();
    boost::system::error_code perform(const Work& work);
    void note(const boost::system::error_code& error, const Work& work);  // under the mutex

    const std::uint64_t secret_mark_;
    AppendedFile file_;  // of the constructor, then of thread_
    protocol::InvalidationBacklog earlier_;
    std::optional<boost::system::error_code> trouble_;
    protocol::InvalidationBacklog::ConfirmedByNode noted_;  // of confirmed()

    mutable std::mutex mutex_;
    std::condition_variable wakes_;
    Work waiting_;
    std::uint64_t added_bytes_ = 0, base_bytes_ = 0;   // since the last rewrite, and in it
    bool incomplete_ = false;                          // until the next rewrite
    std::optional<boost::system::error_code> broken_;  // its reason
    bool ends_ = false;
    std::thread thread_;
};

/// The bytes of the file.
DiskBytes journal_of(const protocol::InvalidationBacklog& all, std::uint64_t secret_id);
struct ReadJournal {
    protocol::InvalidationBacklog kept;
    std::optional<DiskError> trouble;  // the reason to stop before the end
};
ReadJournal read_journal(DiskView bytes, std::uint64_t secret_id);

}  // namespace proxy
