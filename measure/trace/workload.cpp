#include "measure/trace/workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "measure/trace/splitmix.hpp"

namespace measure {
namespace {

constexpr std::size_t kRemembered = 64;  // requests that a client may repeat
constexpr std::uint32_t kObjectsPerSite = 50;
constexpr std::uint32_t kUnknown = 0xffffffff;

/// Draws ranks 0..n-1 with probability proportional to 1 / (rank + 1)^exponent.
class Zipf {
public:
    Zipf(std::uint32_t n, double exponent) : cumulative_(n) {
        double sum = 0;
        for (std::uint32_t rank = 0; rank < n; ++rank) {
            sum += std::pow(rank + 1.0, -exponent);
            cumulative_[rank] = sum;
        }
    }
    std::uint32_t draw(SplitMix& random) const {
        const double at = random.unit() * cumulative_.back();
        const auto found = std::upper_bound(cumulative_.begin(), cumulative_.end(), at);
        const auto last = cumulative_.end() - 1;
        return static_cast<std::uint32_t>(std::min(found, last) - cumulative_.begin());
    }

private:
    std::vector<double> cumulative_;
};

/// The recent requests of a client. The newest are repeated most often.
struct Memory {
    std::array<std::uint32_t, kRemembered> urls{};
    std::uint32_t count = 0;

    void remember(std::uint32_t url) { urls[count++ % kRemembered] = url; }
    std::uint32_t recall(SplitMix& random) const {
        const auto known = std::min<std::uint32_t>(count, kRemembered);
        const double skewed = random.unit() * random.unit();
        const auto back = static_cast<std::uint32_t>(skewed * known);
        return urls[(count - 1 - back) % kRemembered];
    }
};

/// Many small objects and few large ones: 300 B to 300 kB, about 6 kB in the mean.
std::uint64_t object_bytes(std::uint64_t seed, std::uint64_t object) {
    SplitMix random(splitmix64(seed) ^ object);
    const double skewed = random.unit() * random.unit();
    return static_cast<std::uint64_t>(300 * std::pow(1000.0, skewed));
}

}  // namespace

Trace make_workload(const WorkloadOptions& o) {
    if (o.requests == 0 || o.clients == 0 || o.objects == 0 || o.again < 0 || o.once < 0 ||
        o.again + o.once > 1 || o.zipf < 0 || o.requests_per_second <= 0) {
        throw std::invalid_argument(
            "a synthetic workload needs requests, clients and objects, and "
            "parts that add up to at most 1");
    }
    if (o.requests * 1000.0 / o.requests_per_second > static_cast<double>(kLongestSpan.count()))
        throw std::invalid_argument(
            fmt::format("{} requests at {:g} each second take longer than a hundred years",
                        o.requests, o.requests_per_second));
    Trace trace;
    trace.synthetic = true;
    trace.source = fmt::format(
        "SYNTHETIC workload: seed {}, Zipf {:g} over {} objects, {:g} % asked again, {:g} % only "
        "once",
        o.seed, o.zipf, o.objects, o.again * 100, o.once * 100);
    trace.lines = o.requests;
    for (std::uint32_t c = 0; c < o.clients; ++c) trace.clients.push_back(c + 1);

    SplitMix random(o.seed);
    const Zipf popularity(o.objects, o.zipf);
    const Zipf activity(o.clients, 0.5);
    std::vector<Memory> memories(o.clients);
    std::vector<std::uint32_t> urls(o.objects, kUnknown);  // of the shared set, as far as requested
    std::uint32_t asked_once = 0;
    for (std::uint32_t i = 0; i < o.requests; ++i) {
        const std::uint32_t client = activity.draw(random);
        Memory& memory = memories[client];
        const double kind = random.unit();
        std::uint32_t url = 0;
        if (kind < o.again && memory.count > 0) {
            url = memory.recall(random);
        } else {
            const bool once = kind >= 1 - o.once;
            const std::uint32_t object = once ? o.objects + asked_once++ : popularity.draw(random);
            if (once || urls[object] == kUnknown) {
                url = trace.add_new_url(fmt::format("http://site{}.synthetic.example/object/{}",
                                                    object / kObjectsPerSite, object),
                                        object_bytes(o.seed, object));
                if (!once) urls[object] = url;
            } else {
                url = urls[object];
            }
        }
        memory.remember(url);
        const auto time = static_cast<std::int64_t>(i * 1000.0 / o.requests_per_second);
        trace.add({time, client, url, kGet});
    }
    return trace;
}

}  // namespace measure
