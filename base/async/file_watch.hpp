#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <system_error>

namespace base {

/// The folders in which a change may give `file` other content: the folder of the file, and that of
/// each symbolic link on the way to it. All paths are real ones. A missing part of the path ends
/// the way at the last folder that exists. `file`: absolute.
std::set<std::filesystem::path> folders_on_the_way(const std::filesystem::path& file);

/// The text of an error of FileWatch::watch(), with the name of the limit of the kernel that it has
/// met.
std::string watch_error_text(std::error_code error);

/// Tells that files may have changed: written in place, replaced by a rename, or reached through
/// another symbolic link. It watches folders by inotify, so it also tells of changes of other files
/// there. Changes from another machine on a network file system remain unseen. One thread, that of
/// the executor; look-ups of paths may block it.
class FileWatch {
public:
    using Changed = std::function<void()>;

    FileWatch(const boost::asio::any_io_executor& executor, Changed changed);
    FileWatch(const FileWatch&) = delete;
    FileWatch& operator=(const FileWatch&) = delete;

    /// Watches these files and no others from now on. Call it again after a change, as the way to a
    /// file may lead through other folders then. Returns the first error; the other files are
    /// watched nevertheless.
    std::error_code watch(std::span<const std::filesystem::path> files);

    std::size_t folders() const { return watched_.size(); }

private:
    std::error_code open();
    void wait();
    bool drain();

    boost::asio::posix::stream_descriptor inotify_;
    Changed changed_;
    std::map<std::filesystem::path, int> watched_;  // folders, with inotify's numbers
};

}  // namespace base
