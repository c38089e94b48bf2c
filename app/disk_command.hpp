#pragma once

#include <string>
#include <vector>

namespace app {

struct DiskCommand {
    std::vector<std::string> places = {};  // directories of cache.disk, or single segment files
    std::string url = {};                  // empty: none is looked for
    bool check = false, json = false, quiet = false;
};

/// Shows what a stopped cache holds on disk, one place after the other; changes nothing there. As
/// JSON an object, of several places a list of them. The exit code: kOk; kFailed when one cannot be
/// looked at, when with `check` something is damaged, and when with `url` that URL is at none of
/// them; kUsage for what is no URL.
int disk_command(const DiskCommand& command);

}  // namespace app
