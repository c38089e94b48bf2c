#include "app/command_line.hpp"

#include "app/fail.hpp"

namespace app {

void add_node_options(CLI::App& command, const char* name, NodeChoice& node) {
    auto* url = option(command, name, "ADDRESS", node.url,
                       "Admin address of the node (default 127.0.0.1:9128)");
    // A script whose variable is unset means another node than the default one.
    url->check(
        [](const std::string& given) -> std::string { return given.empty() ? "is empty" : ""; },
        "");
    option(command, "--config", "FILE", node.config,
           "Takes the admin address and token from this configuration")
        ->excludes(url);
    command.footer(
        "The environment variable HEARSAY_ADMIN_TOKEN holds the token of the admin port.");
}

void add_workload_options(CLI::App& command, measure::WorkloadOptions& workload) {
    auto* requests =
        option(command, "--requests", "N", workload.requests, "Size of the made-up workload")
            ->check(within(1u, 100'000'000u))
            ->capture_default_str();
    auto* seed = option(command, "--seed", "N", workload.seed, "Seed of the made-up workload")
                     ->check(whole_number())
                     ->capture_default_str();
    command.get_option("--trace")->excludes(requests)->excludes(seed);
}

int needs(const CLI::App& command, const char* what) {
    const auto& name = command.get_name();
    return fail(kUsage, "{} needs {}; see hearsay help {}", name, what, name);
}

}  // namespace app
