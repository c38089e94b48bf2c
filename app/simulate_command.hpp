#pragma once

#include <optional>
#include <string>
#include <vector>

#include "measure/study/study.hpp"
#include "measure/tiers/tiers_study.hpp"
#include "measure/trace/trace.hpp"
#include "measure/trace/workload.hpp"

namespace app {

struct SimulateCommand {
    std::vector<std::string> traces;  // one; of `paper` any number
    measure::TraceOptions trace;      // what holds for each
    bool synthetic = false;
    measure::WorkloadOptions workload;
    std::optional<std::uint64_t> seed;  // of the made-up workload, of the network and of the hash
    std::optional<std::chrono::nanoseconds> duration;  // of the made-up workload at its rate
    double rate = 0, speedup = 0;  // other times than the log's; 0: the log's own
    measure::StudyOptions study;
    std::optional<measure::Scheme> only;  // one scheme instead of the study
    std::optional<double> changed;        // of the base, when it was said
    std::optional<summary::Kind> kind;    // so, too
    std::optional<unsigned> load;         // so, too; of the scheme paper_bloom alone
    bool tiers = false;
    measure::CacheSize memory{0,
                              measure::kUsualMemoryPart};  // of `tiers`: its disks are study.caches
    bool paper = false, advise = false, json = false, quiet = false;
    bool tables = false;  // of `advise`, which has none otherwise
    std::string html;     // file to write; empty: none
    unsigned jobs = 0;    // 0: one for each processor
};

/// `hearsay simulate`. Returns the exit code; says what went wrong on standard error. Throws
/// std::system_error when standard output takes nothing.
int simulate_command(SimulateCommand command);

}  // namespace app
