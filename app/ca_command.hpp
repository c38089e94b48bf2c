#pragma once

#include "app/command.hpp"

namespace app {

/// `hearsay ca create`: writes `ca.pem` and `ca-key.pem`, readable by its owner alone, to the
/// folder, for `forward.intercept`. Name constraints permit only the hosts. Existing files stay.
Command add_ca(CLI::App& app);

}  // namespace app
