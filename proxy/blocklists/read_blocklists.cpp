#include "proxy/blocklists/read_blocklists.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "protocol/net/crypto.hpp"
#include "proxy/blocklists/entry_index_builder.hpp"
#include "proxy/blocklists/list_line.hpp"
#include "summary/key_hash.hpp"

namespace proxy {
namespace {

constexpr std::size_t kChunk = 1 << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::int64_t kNanosecondsPerSecond = 1'000'000'000;

std::string setting_of(std::size_t list) {
    return "$.forward.blocklists[" + std::to_string(list) + "]";
}

ListStamp stamp_of(const struct stat& facts) {
    return {facts.st_dev, facts.st_ino, static_cast<std::uint64_t>(facts.st_size),
            facts.st_mtim.tv_sec * kNanosecondsPerSecond + facts.st_mtim.tv_nsec,
            facts.st_ctim.tv_sec * kNanosecondsPerSecond + facts.st_ctim.tv_nsec};
}

/// A list's file, open for reading.
class ListFile {
public:
    ListFile() = default;
    ~ListFile() {
        if (fd_ >= 0) ::close(fd_);
    }
    ListFile(ListFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)), stamp_(other.stamp_) {}

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
        return {};
    }
    /// The number of bytes read; 0 at the end, -1 after an error.
    ssize_t read(char* into, std::size_t bytes) const {
        for (;;) {
            const auto got = ::read(fd_, into, bytes);
            if (got >= 0 || errno != EINTR) return got;
        }
    }
    const ListStamp& stamp() const { return stamp_; }

private:
    int fd_ = -1;
    ListStamp stamp_;
};

/// Calls `take(line)` for each line of a file, without its end; of a line above kMaxListLine one
/// byte more than that at most. `take` returns false to end. Returns false after an error of the
/// system.
template <class Take>
bool each_line(const ListFile& file, const Take& take) {
    std::string chunk(kChunk + kMaxListLine + 1, '\0');
    std::size_t kept = 0;  // bytes of a line that goes on
    auto in_long_line = false;
    for (;;) {
        const auto got = file.read(chunk.data() + kept, kChunk);
        if (got < 0) return false;
        auto rest = std::string_view(chunk).substr(0, kept + static_cast<std::size_t>(got));
        for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
            if (!std::exchange(in_long_line, false) && !take(rest.substr(0, end))) return true;
            rest.remove_prefix(end + 1);
        }
        if (got == 0) {
            if (!rest.empty() && !in_long_line) take(rest);
            return true;
        }
        if (rest.size() > kMaxListLine) {
            if (!std::exchange(in_long_line, true) && !take(rest.substr(0, kMaxListLine + 1)))
                return true;
            rest = {};
        }
        kept = in_long_line ? 0 : rest.size();
        if (kept > 0) std::memmove(chunk.data(), rest.data(), kept);
    }
}

/// The work on the lists of one configuration.
class ListReading {
public:
    ListReading(const ForwardConfig& forward, const std::stop_token& stop)
        : forward_(forward), stop_(stop), folder_(list_folder(forward)), hasher_(secret()) {}

    /// Opens all files. False: a file is missing; all of them are reported.
    bool open();
    bool is_as(const Blocklists& before) const;
    std::shared_ptr<const Blocklists> read();

    std::vector<ConfigError> errors{};

private:
    static summary::KeyHasher secret() {
        std::array<std::byte, summary::KeyHasher::kSecretBytes> bytes;
        protocol::random_bytes(bytes);
        return summary::KeyHasher(bytes);
    }
    bool read_list(std::size_t list, EntryIndexBuilder& builder);
    void take_line(std::string_view line, std::uint32_t number, std::size_t list,
                   EntryIndexBuilder& builder, std::string& why);

    const ForwardConfig& forward_;
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

bool ListReading::is_as(const Blocklists& before) const {
    return std::ranges::equal(facts_, before.lists(), [](const auto& a, const auto& b) {
        return a.config == b.config && a.stamp == b.stamp;
    });
}

std::shared_ptr<const Blocklists> ListReading::read() {
    std::uint64_t bytes = 0;
    for (const auto& each : facts_) bytes += each.stamp.bytes;
    EntryIndexBuilder builder(hasher_, folder_, bytes);
    // Of equal entries the first one counts, and one that refuses before one that logs.
    for (const auto action : {BlocklistAction::refuse, BlocklistAction::log})
        for (std::size_t list = 0; list < facts_.size(); ++list)
            if (facts_[list].config.action == action && !read_list(list, builder)) return nullptr;
    std::uint64_t seed = 0;
    protocol::random_bytes(std::as_writable_bytes(std::span(&seed, 1)));
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
    const auto is_read = each_line(files_[list], [&](std::string_view line) {
        if (++number == 1 && line.starts_with(kByteOrderMark))
            line.remove_prefix(kByteOrderMark.size());
        take_line(line, number, list, builder, why);
        if (number % 4096 == 0 && stop_.stop_requested()) why = "stopped";
        return why.empty();
    });
    const auto& path = facts_[list].config.path;
    if (!is_read) why = std::strerror(errno);
    if (why.empty()) return true;
    errors.push_back({setting_of(list), path + ": " + why});
    return false;
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
    ListReading reading(forward, stop);
    if (reading.open()) {
        if (before && reading.is_as(*before)) {
            result.lists = std::move(before);
        } else {
            result.lists = reading.read();
            result.is_new = result.lists != nullptr;
            ::malloc_trim(0);  // of the working memory
        }
    }
    result.errors = std::move(reading.errors);
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
