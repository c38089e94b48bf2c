#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "measure/run/answer_kind.hpp"
#include "measure/run/failure.hpp"
#include "measure/run/histogram.hpp"
#include "measure/trace/trace.hpp"
#include "protocol/net/host_port.hpp"

namespace measure {

using protocol::HostPort;

/// How requests are written to the proxies.
enum class RequestForm {
    absolute,  ///< GET http://host/path: forward proxies
    origin,    ///< GET /path with Host: reverse proxies
};

/// Which bodies must be those of the built-in origin.
enum class Verify {
    all,
    built_in,  ///< those that say they come from it; of others the bytes are counted
    none,
};

struct ReplayOptions {
    std::vector<HostPort> proxies;
    TracePart part;  ///< what to send
    /// At most one of the two; neither means as fast as answers come.
    double rate = 0;     ///< requests per second, open loop
    double speedup = 0;  ///< the log's own times, divided by this, open loop
    /// With a schedule: requests under way at one proxy. Without: in all.
    unsigned concurrency = 64;
    RequestForm form = RequestForm::absolute;
    bool failover = false;  ///< after a failed connection or cut answer, try the next proxy
    Verify verify = Verify::built_in;
    std::optional<std::uint64_t> max_age;  ///< Hearsay-Max-Age, seconds
    std::uint64_t delay_ms = 0;            ///< Hearsay-Delay
    std::chrono::milliseconds timeout{30'000};
    bool stop_on_signal = false;  ///< INT or TERM ends the replay early, the second one the program
};

struct KindTally {
    std::uint64_t requests = 0, body_bytes = 0;
    Histogram latency;  ///< from when the request was due (open loop) or sent, to its last byte
};

/// What the clients of one proxy saw. Answers count where they were given, failures at the proxy
/// that was asked first.
struct ProxyTally {
    std::array<KindTally, kAnswerKinds> kinds;
    std::array<std::uint64_t, kFailures> failures{};
    std::uint64_t taken_over = 0;  ///< answers given for clients of other proxies (failover)
    std::uint64_t verified = 0;    ///< answers that were checked against the built-in origin
    std::string node, other_node;  ///< names it answered by; the second is empty if all is well

    const KindTally& of(AnswerKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
    std::uint64_t answered() const;
    std::uint64_t failed() const;
    std::uint64_t body_bytes() const;
};

struct ReplayProgress {
    std::uint64_t total = 0, done = 0, failed = 0;
    std::chrono::duration<double> elapsed{0};
};

struct ReplayResult {
    std::vector<ProxyTally> proxies;
    std::uint64_t sent = 0;  ///< requests from the front of the part; fewer than all when stopped
    bool stopped = false;
    std::chrono::duration<double> elapsed{0};
    std::string first_failure;  ///< an example to begin the search with; empty when all went well
    /// By object: the body's size as it came, of those that were not verified; 0 = not seen.
    std::vector<std::uint64_t> body_bytes;
};

/// Sends the trace to the proxies: client c to proxy_of(c), each client's requests in order and one
/// at a time, targets byte for byte, at bounded concurrency. Blocks until the last answer is there;
/// uses the calling thread only. With a schedule a request's latency counts from the moment it was
/// due, so that a stalled proxy cannot hide behind requests that were not sent. `on_progress` is
/// called a few times a second. Throws std::invalid_argument for senseless options.
ReplayResult replay(const Trace&, const ReplayOptions&,
                    const std::function<void(const ReplayProgress&)>& on_progress = {});

}  // namespace measure
