#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "measure/run/child_process.hpp"

namespace app::test {

inline std::string program() {
    return std::filesystem::path(measure::own_executable()).parent_path() / "hearsay";
}

inline std::string content(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// How a program ended, and both of its outputs.
struct Ended {
    std::string how, said;
};

/// Runs the real program until it ends, with both outputs at `log`; returns how it ended.
inline std::string end_of_program(std::vector<std::string> arguments, const std::string& log) {
    arguments.insert(arguments.begin(), program());
    measure::ChildProcess child(arguments, log);
    while (!child.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return *child.ended();
}

inline Ended run_program(std::vector<std::string> arguments) {
    const measure::TemporaryDirectory directory("hearsay-test-");
    const auto log = directory.path() + "/log";
    auto how = end_of_program(std::move(arguments), log);
    return {std::move(how), content(log)};
}

}  // namespace app::test
