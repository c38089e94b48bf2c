#pragma once

#include <string>
#include <vector>

#include "app/command.hpp"

namespace app {

/// Options of `hearsay ca`.
struct CaCommand {
    std::string action;              // create
    std::vector<std::string> hosts;  // that the CA may sign for
    std::string folder;
    std::string name = "hearsay interception CA";
    unsigned days = 825;
};

/// `hearsay ca create`: writes `ca.pem` and `ca-key.pem`, readable by its owner alone, to the
/// folder, for `forward.intercept`. Name constraints permit only the hosts. Existing files stay.
/// Returns the exit code.
int ca_command(const CaCommand& command);
Command add_ca(CLI::App& app);

}  // namespace app
