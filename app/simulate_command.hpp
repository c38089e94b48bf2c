#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "measure/study/study.hpp"
#include "measure/tiers/tiers_study.hpp"
#include "measure/trace/trace.hpp"
#include "measure/trace/workload.hpp"

namespace app {

/// The logs, or the made-up workload, of a simulation.
struct SimulationInput {
    std::vector<std::string> traces;  // one; `paper` takes any number
    measure::TraceOptions trace;      // common to all traces
    bool synthetic = false;
    measure::WorkloadOptions workload;
    std::optional<std::uint64_t> seed;  // of the made-up workload, the network and the hash
    std::optional<std::chrono::nanoseconds> duration;  // of the made-up workload at its rate
    double rate = 0, speedup = 0;                      // replaces the log's times; 0: the log's own

    /// Reads that log, or makes the workload. Throws as load_trace() does, and
    /// std::invalid_argument for a workload that is too large.
    measure::Trace read(const std::string& path) const;
};

/// The form of the results of a simulation.
struct SimulationOutput {
    bool json = false, quiet = false;
    bool tables = false;  // adds the tables, which `advise` otherwise omits
    std::string html;     // file to write; empty: none
    std::string written;  // the command line, for that file
};

/// Options of `hearsay simulate`.
struct SimulateCommand {
    SimulationInput input;
    measure::StudyOptions study;
    std::optional<measure::Scheme> only;  // one scheme instead of the study
    std::optional<double> changed;        // of the base, if given
    std::optional<summary::Kind> kind;    // of the base, if given
    std::optional<unsigned> load;         // of the scheme paper_bloom, if given
    bool tiers = false;
    measure::CacheSize memory{0, measure::kUsualMemoryPart};  // for `tiers`; its disks are
                                                              // study.caches
    bool paper = false, advise = false;
    SimulationOutput output;
    unsigned jobs = 0;  // 0: one for each processor
};

/// `hearsay simulate`. Returns the exit code, and reports errors on standard error. Throws
/// std::system_error if standard output fails.
int simulate_command(SimulateCommand command);
/// Stands in simulate_options.cpp. `written`: the command line.
Command add_simulate(CLI::App& app, const std::string& written);

}  // namespace app
