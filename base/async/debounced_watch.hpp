#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <functional>
#include <span>
#include <system_error>

#include "base/async/debouncer.hpp"
#include "base/async/file_watch.hpp"

namespace base {

/// Tells that files may have changed, once the changes pause (Debouncer). One thread, that of the
/// executor, which may block on a disk.
class DebouncedWatch {
public:
    DebouncedWatch(const boost::asio::any_io_executor& executor, std::function<void()> settled);

    /// As FileWatch::watch().
    std::error_code watch(std::span<const std::filesystem::path> files) {
        return files_.watch(files);
    }
    /// Counts as a change of a file.
    void note_change();

private:
    void wait();

    std::function<void()> settled_;
    FileWatch files_;
    boost::asio::steady_timer timer_;
    Debouncer debouncer_;
    bool waiting_ = false;  // for the timer
};

}  // namespace base
