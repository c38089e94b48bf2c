#pragma once

#include <string>

namespace measure {

struct DiskCommand {
    std::string place = {};  // a directory of cache.disk, or one segment file
    std::string url = {};    // empty: none is looked for
    bool check = false, json = false, quiet = false;
};

/// Shows what a stopped cache holds on disk; changes nothing there. The exit code: kOk; kFailed
/// when it cannot be looked at, when with `check` something is damaged, and when with `url` that
/// URL is not there; kUsage for what is no URL.
int disk_command(const DiskCommand& command);

}  // namespace measure
