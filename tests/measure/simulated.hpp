#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/simulate/simulation.hpp"
#include "measure/trace/splitmix.hpp"
#include "measure/trace/workload.hpp"

/// Traces for simulations, written down request by request.
namespace measure::test {

using namespace std::chrono_literals;

/// The requests of a trace: client, object and time. Objects are numbers.
class Asked {
public:
    /// Client i belongs to proxy i.
    explicit Asked(std::size_t proxies) {
        for (std::size_t i = 0; i < proxies; ++i) {
            std::uint64_t client = 0;
            while (proxy_of(client, proxies) != i) ++client;
            trace.clients.push_back(client);
        }
    }

    Asked& at(std::chrono::milliseconds time) {
        now_ = time;
        return *this;
    }
    Asked& by(std::uint32_t proxy, std::initializer_list<unsigned> objects,
              std::uint8_t method = kGet) {
        for (const auto object : objects) {
            const auto name =
                "http://host" + std::to_string(object / 10) + "/" + std::to_string(object);
            trace.add({now_.count(), proxy, trace.add_url(name, 1000), method});
        }
        return *this;
    }

    Trace trace;

private:
    std::chrono::milliseconds now_{0};
};

/// Objects of one byte, so that cache_bytes count objects; LRU. Answers of the origin arrive at
/// once.
inline SimulationConfig small(Scheme scheme, std::size_t proxies, std::uint64_t cache_objects = 0) {
    SimulationConfig config;
    config.scheme = scheme;
    config.proxies = proxies;
    config.unit_objects = true;
    config.cache_bytes = cache_objects;
    config.replacement = Replacement::lru;
    config.network.origin = 0ms;
    return config;
}

inline Trace workload(std::uint32_t requests, std::uint32_t objects, std::uint64_t seed = 42) {
    WorkloadOptions options;
    options.seed = seed;
    options.requests = requests;
    options.objects = objects;
    return make_workload(options);
}

}  // namespace measure::test
