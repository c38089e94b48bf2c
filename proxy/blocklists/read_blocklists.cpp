#include "proxy/blocklists/read_blocklists.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/memory/free_memory.hpp"
#include "base/tls/crypto.hpp"
#include "proxy/blocklists/entry_index_builder.hpp"
#include "proxy/blocklists/list_line.hpp"
#include "proxy/rewrite/gzip_stream.hpp"
#include "summary/sizing/key_hash.hpp"

namespace proxy {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::uint64_t kGzipRatio = 8;  // of lists, at most
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

std::string setting_of(std::size_t list) {
    return "$.forward.blocklists[" + std::to_string(list) + "]";
}

ListStamp stamp_of(const struct stat& facts) {
    return {facts.st_dev, facts.st_ino, static_cast<std::uint64_t>(facts.st_size),
            facts.st_mtim.tv_sec * kNanosecondsPerSecond + facts.st_mtim.tv_nsec,
            facts.st_ctim.tv_sec * kNanosecondsPerSecond + facts.st_ctim.tv_nsec};
}

/// Why a file with this start is no list of any format, if so. Servers answer with a page where a
/// list was, and tools store it under the name of the list.
std::string_view why_no_list(std::string_view start) {
    if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
    start.remove_prefix(std::min(start.find_first_not_of(" \t\r\n"), start.size()));
    if (start.starts_with('<')) return "it begins with <, as a page of HTML does";
    if (start.find('\0') != std::string_view::npos)
        return "it is no text (of compressed files, gzip alone is read)";
    return {};
}

/// A list's file, open for reading. gzip is undone.
class ListFile {
public:
    ListFile() = default;
    ~ListFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    ListFile(ListFile&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)), stamp_(other.stamp_), gzip_(std::move(other.gzip_)) {}

    /// Empty, or why the file cannot be a list.
    std::string open(const std::string& path) {
        // Without O_NONBLOCK a FIFO would wait for its writer.
        fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct stat facts {};
        if (fd_ < 0 || ::fstat(fd_, &facts) != 0)
            return "cannot read " + path + ": " + std::strerror(errno) +
                   "; put the list there, or take the entry out";
        if (!S_ISREG(facts.st_mode)) return path + " is no regular file";
        stamp_ = stamp_of(facts);
        ::posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);
        std::array<char, kGzip.size()> start{};
        const auto got = ::pread(fd_, start.data(), start.size(), 0);
        if (got == static_cast<ssize_t>(start.size()) && std::ranges::equal(start, kGzip))
            gzip_ = std::make_unique<GzipDecoder>();
        return {};
    }
    /// The number of bytes of text read; 0 at the end, -1 after an error.
    ssize_t read(char* into, std::size_t bytes) {
        if (!gzip_) return read_raw(into, bytes);
        std::string text;
        while (text.empty()) {
            is_damaged_ = !gzip_->decode(rest_, bytes, text);
            if (is_damaged_) return -1;
            if (!text.empty()) break;
            raw_.resize(kChunk);
            const auto got = read_raw(raw_.data(), raw_.size());
            is_damaged_ = got == 0 && !gzip_->ended();
            if (got <= 0) return is_damaged_ ? -1 : got;
            rest_ = std::string_view(raw_).substr(0, static_cast<std::size_t>(got));
        }
        std::ranges::copy(text, into);
        return static_cast<ssize_t>(text.size());
    }
    std::string why_unread() const {
        return is_damaged_ ? "its gzip data is damaged or ends too early" : std::strerror(errno);
    }
    const ListStamp& stamp() const { return stamp_; }
    /// An estimate.
    std::uint64_t text_bytes() const { return stamp_.bytes * (gzip_ ? kGzipRatio : 1); }

private:
    ssize_t read_raw(char* into, std::size_t bytes) const {
        for (;;) {
            const auto got = ::read(fd_, into, bytes);
            if (got >= 0 || errno != EINTR) return got;
        }
    }

    int fd_ = -1;
    ListStamp stamp_;
    std::unique_ptr<GzipDecoder> gzip_;  // null: the file is plain
    std::string raw_;
    std::string_view rest_;  // of `raw_`
    bool is_damaged_ = false;
};

/// Calls `take(line)` for each line of a file, without its end; of a line above kMaxListLine one
/// byte more than that at most. `take` returns false to end. Returns why the file cannot be read,
/// or an empty text.
template <class Take>
std::string each_line(ListFile& file, const Take& take) {
    std::string chunk(kChunk + kMaxListLine + 1, '\0');
    std::size_t kept = 0;  // bytes of a line that goes on
    auto in_long_line = false, is_first = true;
    for (;;) {
        const auto got = file.read(chunk.data() + kept, kChunk);
        if (got < 0) return file.why_unread();
        auto rest = std::string_view(chunk).substr(0, kept + static_cast<std::size_t>(got));
        if (std::exchange(is_first, false))
            if (const auto why = why_no_list(rest); !why.empty()) return std::string(why);
        for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
            if (!std::exchange(in_long_line, false) && !take(rest.substr(0, end))) return {};
            rest.remove_prefix(end + 1);
        }
        if (got == 0) {
            if (!rest.empty() && !in_long_line) take(rest);
            return {};
        }
        if (rest.size() > kMaxListLine) {
            if (!std::exchange(in_long_line, true) && !take(rest.substr(0, kMaxListLine + 1)))
                return {};
            rest = {};
        }
        kept = in_long_line ? 0 : rest.size();
        if (kept > 0) std::memmove(chunk.data(), rest.data(), kept);
    }
}

/// The work on the lists of one configuration.
class ListReading {
public:
    /// `before`: the lists in effect; null: there are none.
    ListReading(const ForwardConfig& forward, const Blocklists* before, const std::stop_token& stop)
        : forward_(forward),
          before_(before),
          stop_(stop),
          folder_(list_folder(forward)),
          hasher_(secret()) {}

    /// Opens all files. False: a file is missing; all of them are reported.
    bool open();
    bool is_as_before() const;
    std::shared_ptr<const Blocklists> read();

    std::vector<ConfigError> errors{};

private:
    static summary::KeyHasher secret() {
        std::array<std::byte, summary::KeyHasher::kSecretBytes> bytes;
        base::random_bytes(bytes);
        return summary::KeyHasher(bytes);
    }
    bool read_list(std::size_t list, EntryIndexBuilder& builder);
    std::string_view why_worse(const BlocklistFacts& list) const;
    void take_line(std::string_view line, std::uint32_t number, std::size_t list,
                   EntryIndexBuilder& builder, std::string& why);

    const ForwardConfig& forward_;
    const Blocklists* before_;
    const std::stop_token& stop_;
    const std::filesystem::path folder_;
    const summary::KeyHasher hasher_;
    std::vector<ListFile> files_;
    std::vector<BlocklistFacts> facts_;
    ListLine line_;
    std::uint64_t entries_ = 0;
    unsigned least_labels_ = kMaxLabels;
};

bool ListReading::open() {
    for (const auto& config : forward_.blocklists) {
        auto& file = files_.emplace_back();
        if (auto why = file.open(config.path); !why.empty())
            errors.push_back({setting_of(facts_.size()) + ".path", std::move(why)});
        facts_.push_back({config, file.stamp()});
    }
    return errors.empty();
}

bool ListReading::is_as_before() const {
    return before_ &&
           std::ranges::equal(facts_, before_->lists(), [](const auto& a, const auto& b) {
               return a.config == b.config && a.stamp == b.stamp;
           });
}

std::shared_ptr<const Blocklists> ListReading::read() {
    std::uint64_t bytes = 0;
    for (const auto& each : files_) bytes += each.text_bytes();
    EntryIndexBuilder builder(hasher_, folder_, bytes);
    // Of equal entries the first one counts, and one that refuses before one that logs.
    for (const auto action : {BlocklistAction::refuse, BlocklistAction::log})
        for (std::size_t list = 0; list < facts_.size(); ++list)
            if (facts_[list].config.action == action && !read_list(list, builder)) return nullptr;
    std::uint64_t seed = 0;
    base::random_bytes(std::as_writable_bytes(std::span(&seed, 1)));
    std::unique_ptr<EntryIndex> index;
    if (auto why = builder.finish(seed, stop_, index); !why.empty()) {
        errors.push_back({"$.forward.blocklist_folder", std::move(why)});
        return nullptr;
    }
    return std::make_shared<const Blocklists>(std::move(facts_), hasher_, std::move(index),
                                              least_labels_);
}

bool ListReading::read_list(std::size_t list, EntryIndexBuilder& builder) {
    std::uint32_t number = 0;
    std::string why;
    auto fault = each_line(files_[list], [&](std::string_view line) {
        if (++number == 1 && line.starts_with(kByteOrderMark))
            line.remove_prefix(kByteOrderMark.size());
        take_line(line, number, list, builder, why);
        if (number % 4096 == 0 && stop_.stop_requested()) why = "stopped";
        return why.empty();
    });
    if (fault.empty()) fault = why;
    if (fault.empty()) fault = why_worse(facts_[list]);
    if (fault.empty()) return true;
    errors.push_back({setting_of(list), facts_[list].config.path + ": " + fault});
    return false;
}

/// Why a list is no successor of its former state, if so. An operator who wants an empty list
/// leaves a comment in the file, or takes the entry out.
std::string_view ListReading::why_worse(const BlocklistFacts& list) const {
    if (!before_) return {};
    const auto& all = before_->lists();
    const auto former = std::ranges::find(all, list.config.path, [](const BlocklistFacts& each) {
        return std::string_view(each.config.path);
    });
    if (former == all.end() || former->entries == 0) return {};
    if (list.stamp.bytes == 0) return "it is empty, and it had entries before";
    const auto was_good = former->malformed <= former->entries;
    if (was_good && list.malformed > list.entries)
        return "most of its lines are malformed, and they were not before";
    return {};
}

void ListReading::take_line(std::string_view line, std::uint32_t number, std::size_t list,
                            EntryIndexBuilder& builder, std::string& why) {
    auto& facts = facts_[list];
    switch (line_.read(facts.config.format, line)) {
        case ListLine::Result::nothing:
            return;
        case ListLine::Result::malformed:
            ++facts.malformed;
            if (facts.complaints.size() < kMaxComplaints)
                facts.complaints.push_back("line " + std::to_string(number) + ": " +
                                           std::string(line_.why()));
            return;
        case ListLine::Result::entries:
            break;
    }
    for (const auto& entry : line_.entries()) {
        if (entry.kind != EntryKind::url_host) ++facts.entries, ++entries_;
        if (entries_ > kMaxListEntries) {
            why = "more than " + std::to_string(kMaxListEntries) + " entries in all lists";
            return;
        }
        least_labels_ = std::min(least_labels_, entry.labels);
        why = builder.add(entry, static_cast<std::uint8_t>(list), number);
        if (!why.empty()) return;
    }
}

/// Notes at the lists in effect why they could not be renewed. A fault that is of no list is noted
/// at all of them.
void note_faults(const Blocklists& lists, const std::vector<ConfigError>& errors) {
    std::vector<std::string> faults(lists.lists().size());
    for (const auto& error : errors)
        for (std::size_t i = 0; i < faults.size(); ++i)
            if (error.path == setting_of(i) || error.path == setting_of(i) + ".path" ||
                !error.path.starts_with("$.forward.blocklists["))
                faults[i] = error.message;
    lists.note_faults(std::move(faults));
}

void doubt_lists(const Blocklists& lists, std::vector<ConfigError>& out) {
    for (std::size_t i = 0; i < lists.lists().size(); ++i) {
        const auto& list = lists.lists()[i];
        if (list.malformed > 0) {
            auto text = list.config.path + ": " + std::to_string(list.malformed) +
                        (list.malformed == 1 ? " malformed line is left out"
                                             : " malformed lines are left out") +
                        ", as the list has the format " +
                        std::string(to_string(list.config.format));
            for (const auto& complaint : list.complaints) text.append(", ").append(complaint);
            if (list.malformed > list.complaints.size()) text.append(", ...");
            out.push_back({setting_of(i), std::move(text)});
        }
        if (list.entries == 0)
            out.push_back(
                {setting_of(i), list.config.path + " has no entries of the format " +
                                    std::string(to_string(list.config.format)) +
                                    ", so it refuses nothing: is its `format` another one (hosts, "
                                    "domains, urls)?"});
    }
}

}  // namespace

std::filesystem::path list_folder(const ForwardConfig& forward) {
    if (!forward.blocklist_folder.empty()) return forward.blocklist_folder;
    const auto* const set = std::getenv("TMPDIR");
    for (const char* const folder : {set, "/var/tmp"})
        if (folder && *folder && ::access(folder, W_OK | X_OK) == 0) return folder;
    return "/tmp";
}

BlocklistsRead read_blocklists(const ForwardConfig& forward,
                               std::shared_ptr<const Blocklists> before,
                               const std::stop_token& stop) {
    BlocklistsRead result;
    if (!forward.enabled || forward.blocklists.empty()) return result;
    ListReading reading(forward, before.get(), stop);
    if (reading.open()) {
        if (reading.is_as_before()) {
            result.lists = before;
        } else {
            result.lists = reading.read();
            result.is_new = result.lists != nullptr;
            base::return_free_memory();  // of the working memory
        }
    }
    result.errors = std::move(reading.errors);
    if (before) note_faults(*before, result.errors);
    if (!result.lists) return result;
    doubt_lists(*result.lists, result.warnings);
    const auto folder = list_folder(forward);
    struct statfs system {};
    if (::statfs(folder.c_str(), &system) == 0 && system.f_type == TMPFS_MAGIC)
        result.warnings.push_back(
            {"$.forward.blocklist_folder",
             folder.string() + " is a tmpfs, so the sorted lists take memory; name a folder on a "
                               "disk"});
    return result;
}

bool have_changed(const Blocklists& lists) {
    return std::ranges::any_of(lists.lists(), [](const BlocklistFacts& list) {
        struct stat facts {};
        return ::stat(list.config.path.c_str(), &facts) != 0 || stamp_of(facts) != list.stamp;
    });
}

}  // namespace proxy
