#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace app {

/// A sub-command: its options, and the function that runs it after the options are read. The
/// function owns their values and returns the exit code.
struct Command {
    const CLI::App* options = nullptr;
    std::function<int()> run;
};

}  // namespace app
