#pragma once

#include <string>
#include <vector>

#include "app/command.hpp"

namespace app {

/// Options of `hearsay disk`.
struct DiskCommand {
    std::vector<std::string> places = {};  // directories of cache.disk, or single segment files
    std::string url = {};                  // empty: list everything
    bool check = false, json = false, quiet = false;
};

/// `hearsay disk`: shows the content of a stopped cache's disk, one place after the other, and only
/// reads it. JSON is an object, or a list of objects for several places. Returns kOk; kFailed if a
/// place is unreadable, if `check` finds damage, or if every place lacks `url`; kUsage for a
/// malformed URL.
int disk_command(const DiskCommand& command);
Command add_disk(CLI::App& app);

}  // namespace app
