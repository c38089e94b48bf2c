#pragma once

#include <cstdint>

#include "measure/trace/trace.hpp"

namespace measure {

/// A made-up workload with the traits that matter to cooperating caches: popularity after Zipf over
/// a shared set of objects, clients that come back to what they asked for lately (locality), and
/// objects that are asked for once. Equal options give equal requests on every machine.
struct WorkloadOptions {
    std::uint64_t seed = 42;
    std::uint32_t requests = 30'000;
    std::uint32_t clients = 200;
    std::uint32_t objects = 8'000;  ///< the shared set
    double zipf = 0.7;              ///< exponent of popularity
    double again = 0.15;  ///< part of the requests that repeat one of the client's last ones
    double once = 0.1;    ///< part that nobody asks for again
    double requests_per_second = 1000;  ///< of the times noted in it
};

/// Throws std::invalid_argument for numbers that make no sense. The trace is marked synthetic and
/// its `source` says so and how it was made.
Trace make_workload(const WorkloadOptions&);

}  // namespace measure
