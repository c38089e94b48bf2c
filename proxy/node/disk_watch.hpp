#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "proxy/disk/disk_status.hpp"

namespace proxy {

/// Logs the changes of the directories of the disk: recovered with these losses, in trouble, off,
/// working again. One thread.
class DiskWatch {
public:
    /// To be called now and then, each time with the same directories.
    void look(std::span<const DiskStatus> directories);

private:
    struct DirectoryView {
        DiskStatus::State state = DiskStatus::State::loading;
        std::string error;
    };
    std::vector<DirectoryView> seen_;
};

}  // namespace proxy
