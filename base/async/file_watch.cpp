#include "base/async/file_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <utility>

namespace base {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as Linux follows on one path

/// A file that is being written (IN_MODIFY) is left out, as its end is what counts.
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE |
                                  IN_DELETE | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF |
                                  IN_ONLYDIR;

std::error_code inotify_error() {
    return {errno, std::generic_category()};
}

}  // namespace

std::set<fs::path> folders_on_the_way(const fs::path& file) {
    std::set<fs::path> folders;
    fs::path at = file.root_path();
    const auto relative = file.relative_path();
    std::deque<fs::path> rest(relative.begin(), relative.end());
    int links = 0;
    while (!rest.empty()) {
        const auto part = std::move(rest.front());
        rest.pop_front();
        if (part.empty() || part == ".") continue;
        if (part == "..") {
            at = at.parent_path();
            continue;
        }
        const auto next = at / part;
        std::error_code error;
        const auto kind = fs::symlink_status(next, error).type();
        if (kind == fs::file_type::symlink) {
            folders.insert(at);
            if (++links > kMostLinks) break;
            const auto target = fs::read_symlink(next, error);
            if (error) break;
            if (target.is_absolute()) at = target.root_path();
            const auto steps = target.relative_path();
            rest.insert(rest.begin(), steps.begin(), steps.end());
        } else if (kind == fs::file_type::directory && !rest.empty()) {
            at = next;
        } else {  // the file, a folder in its place, or the first part that is missing
            folders.insert(at);
            break;
        }
    }
    return folders;
}

/// The kernel's own words for these limits are about disks and files (inotify(7)).
std::string watch_error_text(std::error_code error) {
    if (error == std::errc::no_space_on_device)
        return "the limit fs.inotify.max_user_watches is reached (see sysctl)";
    if (error == std::errc::too_many_files_open)
        return "the limit fs.inotify.max_user_instances, or that of open files, is reached (see "
               "sysctl and ulimit -n)";
    return error.message();
}

FileWatch::FileWatch(const boost::asio::any_io_executor& executor, Changed changed)
    : inotify_(executor), changed_(std::move(changed)) {}

std::error_code FileWatch::open() {
    const auto fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) return inotify_error();
    boost::system::error_code error;
    inotify_.assign(fd, error);
    if (error) {
        ::close(fd);
        return error;
    }
    wait();
    return {};
}

std::error_code FileWatch::watch(std::span<const fs::path> files) {
    if (!inotify_.is_open())
        if (const auto error = open()) return error;
    std::set<fs::path> wanted;
    for (const auto& file : files) wanted.merge(folders_on_the_way(file));
    std::error_code first;
    std::map<fs::path, int> now;
    for (const auto& folder : wanted) {
        // The number stays the same for a folder that is watched already.
        const auto number = ::inotify_add_watch(inotify_.native_handle(), folder.c_str(), kEvents);
        if (number >= 0)
            now.emplace(folder, number);
        else if (!first)
            first = inotify_error();
    }
    for (const auto& [folder, number] : watched_) {
        const auto is_kept = std::any_of(now.begin(), now.end(),
                                         [&](const auto& each) { return each.second == number; });
        if (!is_kept) ::inotify_rm_watch(inotify_.native_handle(), number);
    }
    watched_ = std::move(now);
    return first;
}

void FileWatch::wait() {
    inotify_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                        [this](const boost::system::error_code& error) {
                            if (error) return;
                            const auto goes_on = drain();
                            changed_();
                            if (goes_on) wait();
                        });
}

/// Reads all events, whose content does not matter. Returns false after an error.
bool FileWatch::drain() {
    alignas(inotify_event) std::array<char, 4096> events;
    for (;;) {
        const auto got = ::read(inotify_.native_handle(), events.data(), events.size());
        if (got > 0 || (got < 0 && errno == EINTR)) continue;
        return got < 0 && errno == EAGAIN;
    }
}

}  // namespace base
