#pragma once

#include <cstdint>

#include "measure/trace/trace.hpp"

namespace measure {

/// A made-up workload with the traits that matter to cooperating caches: Zipf popularity over a
/// shared set of objects, clients that return to recent requests (locality), and objects requested
/// once. Equal options give equal requests on every machine.
struct WorkloadOptions {
    std::uint64_t seed = 42;
    std::uint32_t requests = 30'000;
    std::uint32_t clients = 200;
    std::uint32_t objects = 8'000;  ///< the shared set
    double zipf = 0.7;              ///< exponent of popularity
    double again = 0.15;  ///< share of requests that repeat one of the client's recent ones
    double once = 0.1;    ///< share of requests for objects that are requested once
    double requests_per_second = 1000;  ///< rate of the times in the trace
};

/// Throws std::invalid_argument for numbers out of range. The trace is marked synthetic, and its
/// `source` describes how it was made.
Trace make_workload(const WorkloadOptions&);

}  // namespace measure
