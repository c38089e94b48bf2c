#include "proxy/node/disk_watch.hpp"

#include <spdlog/spdlog.h>

#include <utility>

#include "base/text/amount.hpp"

namespace proxy {
namespace {

/// Logs the records that a start found, and its losses.
void log_start(const DiskStatus& now) {
    spdlog::info("disk {}: {}, read in {:.1f} s", now.path, base::amount(now.recovered, "object"),
                 now.loading_seconds);
    if (now.found_unsealed > 0)
        spdlog::info(
            "disk {}: after a kill, or with a file cut off: files without a footer, searched for "
            "records: "
            "{}; objects lost in the middle of their writing: {}",
            now.path, now.found_unsealed, now.recovered_torn);
    if (now.found_damaged + now.found_unreadable + now.found_foreign > 0)
        spdlog::warn(
            "disk {}: files damaged: {}, unreadable: {}, of another directory: {}; objects to "
            "validate "
            "before their use, as purges of them may be lost: {}",
            now.path, now.found_damaged, now.found_unreadable, now.found_foreign,
            now.recovered_doubtful);
}

}  // namespace

void DiskWatch::look(std::span<const DiskStatus> directories) {
    using State = DiskStatus::State;
    seen_.resize(directories.size());
    for (std::size_t i = 0; i < directories.size(); ++i) {
        const auto& now = directories[i];
        const auto was = std::exchange(seen_[i].state, now.state);
        const auto is_new = std::exchange(seen_[i].error, now.last_error) != now.last_error;
        if (was == State::loading && now.state != State::loading && now.state != State::off)
            log_start(now);
        if (now.state == State::off) {
            if (was != State::off)
                spdlog::error("disk {}: {}: its content is lost, and it is used again {}", now.path,
                              now.last_error,
                              directories.size() == 1
                                  ? "as soon as it works: it is tried once a minute"
                                  : "when the node is started again");
        } else if (now.state == State::stalled) {
            if (was != State::stalled)
                spdlog::warn(
                    "disk {}: a call to the device does not return: content on it is "
                    "fetched again meanwhile",
                    now.path);
        } else if (now.state == State::paused) {
            if (was != State::paused || is_new)
                spdlog::warn("disk {}: {}: writing pauses", now.path, now.last_error);
        } else if (is_new && !now.last_error.empty()) {
            spdlog::warn("disk {}: {}", now.path, now.last_error);
        } else if (was == State::stalled || was == State::paused || was == State::off) {
            spdlog::info("disk {}: works again", now.path);
        }
    }
}

}  // namespace proxy
