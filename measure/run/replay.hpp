#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/net/host_port.hpp"
#include "measure/run/histogram.hpp"
#include "measure/run/reported_outcome.hpp"
#include "measure/run/request_failure.hpp"
#include "measure/run/request_series.hpp"
#include "measure/trace/trace.hpp"

namespace measure {

using base::HostPort;

/// The form of request targets.
enum class RequestForm {
    absolute,  ///< GET http://host/path: forward proxies
    origin,    ///< GET /path with Host: reverse proxies
};

/// The bodies that are compared with the built-in origin's.
enum class Verify {
    all,
    built_in,  ///< answers that name it; for others the bytes are counted
    none,
};

/// The proxies, the requests and their times, and the checks of one replay.
struct ReplayOptions {
    std::vector<HostPort> proxies;
    TracePart part;  ///< requests to send
    /// Set at most one of the two. If both are 0, each answer triggers the next request.
    double rate = 0;     ///< requests per second, open loop
    double speedup = 0;  ///< divisor of the log's own times, open loop
    /// Most requests in progress: at each proxy with a schedule, in all without one.
    unsigned concurrency = 64;
    RequestForm form = RequestForm::absolute;
    bool failover = false;  ///< after a failed connection or cut answer, try the next proxy
    Verify verify = Verify::built_in;
    std::optional<std::uint64_t> max_age;  ///< Hearsay-Max-Age, seconds
    std::uint64_t delay_ms = 0;            ///< Hearsay-Delay
    std::chrono::milliseconds timeout{30'000};
    bool stop_on_signal = false;  ///< INT or TERM ends the replay early; a second one ends the
                                  ///< program
};

/// The answers of one proxy with one outcome.
struct OutcomeTally {
    std::uint64_t requests = 0, body_bytes = 0;
    Histogram latency;  ///< to the last byte, from the due time (open loop) or from sending
};

/// The results of one proxy's clients. Answers count at the proxy that gave them, failures at the
/// first proxy.
struct ProxyTally {
    std::array<OutcomeTally, kReportedOutcomes> outcomes;
    std::array<std::uint64_t, kFailures> failures{};
    std::uint64_t taken_over = 0;  ///< answers for clients of other proxies (failover)
    std::uint64_t verified = 0;    ///< answers compared with the built-in origin
    std::string node, other_node;  ///< names in its answers; the second stays empty unless they
                                   ///< differ

    const OutcomeTally& of(ReportedOutcome outcome) const {
        return outcomes[static_cast<std::size_t>(outcome)];
    }
    std::uint64_t answered() const;
    std::uint64_t failed() const;
    std::uint64_t body_bytes() const;
};

/// The state of a running replay, in requests.
struct ReplayProgress {
    std::uint64_t total = 0, done = 0, failed = 0;
    std::chrono::duration<double> elapsed{0};
};

/// The result of a replay as the clients saw it; `proxies` has the order of the options.
struct ReplayResult {
    std::vector<ProxyTally> proxies;
    std::uint64_t sent = 0;  ///< requests sent from the front of the part; fewer than all if
                             ///< stopped
    bool stopped = false;
    std::chrono::duration<double> elapsed{0};
    std::string first_failure;  ///< one example; empty if all requests succeeded
    /// Size of each object's body as received, from answers that were not verified; 0 if none.
    std::vector<std::uint64_t> body_bytes;
    RequestSeries course;  ///< all proxies together; each request at the time of its end
};

/// Sends the trace to the proxies: client c to proxy_of(c), each client's requests in order and one
/// at a time, targets byte for byte, at bounded concurrency. Blocks until the last answer, and uses
/// the calling thread only. With a schedule, latency counts from the due time, so a stalled proxy
/// cannot hide behind unsent requests. `on_progress` is called a few times a second. Throws
/// std::invalid_argument for options out of range.
ReplayResult replay(const Trace&, const ReplayOptions&,
                    const std::function<void(const ReplayProgress&)>& on_progress = {});

}  // namespace measure
