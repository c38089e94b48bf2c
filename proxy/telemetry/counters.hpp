#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "proxy/http/outcome.hpp"
#include "proxy/http/storage_verdict.hpp"

namespace proxy {

/// Upper bounds of the request duration histogram, in seconds: from a memory hit to a long
/// download.
inline constexpr std::array kDurationBuckets{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                             0.025,  0.05,    0.1,    0.25,  0.5,    1.0,   2.5,
                                             5.0,    10.0,    30.0,   60.0,  120.0,  300.0};

/// Counts per bucket (not cumulative); the last one is above all bounds.
struct DurationHistogram {
    std::array<std::uint64_t, kDurationBuckets.size() + 1> counts{};
    double sum_seconds = 0;

    void observe(std::chrono::nanoseconds duration);
    DurationHistogram& operator+=(const DurationHistogram& other);
    std::uint64_t total() const;
};

/// One value for each enumerator.
template <class Enum, std::size_t N>
struct PerEnum {
    std::array<std::uint64_t, N> values{};

    std::uint64_t& operator[](Enum e) { return values[static_cast<std::size_t>(e)]; }
    std::uint64_t operator[](Enum e) const { return values[static_cast<std::size_t>(e)]; }
    PerEnum& operator+=(const PerEnum& other) {
        std::transform(values.begin(), values.end(), other.values.begin(), values.begin(),
                       std::plus<>());
        return *this;
    }
};

/// Why a request was refused before it was a request.
enum class RequestRefusal : std::uint8_t {
    malformed,        // 400
    too_large,        // 414, 431
    not_implemented,  // 501
    version,          // 505
    no_route,         // forward mode off and no origin matches
    destination,      // private, of the house, or a port not allowed
    too_many_connections,
    draining,
    timeout,         // the head did not come in time
    loop,            // 508
    tls,             // the handshake failed
    forbidden,       // PURGE from an address that purge.allow does not list
    client,          // clients.allow and clients.deny
    forward_client,  // forward.clients
    proxy_header,    // a trusted proxy's PROXY header is missing, malformed or late
    upgrade,         // a handshake for a protocol that `upgrade` does not list
};
inline constexpr std::size_t kRequestRefusals = 16;
std::string_view to_string(RequestRefusal refusal);

/// What one worker counts; plain numbers for one thread, summed up when somebody looks.
struct WorkerCounters {
    PerEnum<Outcome, kOutcomes.size()> requests;
    std::array<DurationHistogram, kOutcomes.size()> durations;  // index: Outcome
    PerEnum<StorageVerdict, kStorageVerdicts> verdicts;
    PerEnum<RequestRefusal, kRequestRefusals> refusals;
    std::uint64_t origin_requests = 0, origin_failures = 0, peer_requests = 0;
    std::uint64_t origin_down_requests = 0;  // not put to an origin, as it is down
    /// Of origin_requests: put while a peer was still waited for. Of these, `outrun`: the peer's
    /// answer came first after all.
    std::uint64_t origin_hedges = 0, origin_hedges_outrun = 0;
    std::uint64_t peer_repeats = 0;   // of peer_requests: as the one before took unusually long
    std::uint64_t peers_too_far = 0;  // fetches without a peer, as the origin is that much nearer
    std::uint64_t origins_down = 0;   // now
    /// Body bytes, without heads, chunk lines and TLS: what sockets took of answers, whole or
    /// broken off, and what was read of theirs, used or not. Of tunnels, all bytes that go down.
    std::uint64_t bytes_to_clients = 0, bytes_to_peers = 0;
    std::uint64_t bytes_from_peers = 0, bytes_from_origins = 0;
    std::uint64_t validations = 0;  // of origin_requests: conditional ones that ended in 304
    std::uint64_t collapsed = 0;    // requests that followed another's fill
    std::uint64_t connections_accepted = 0;

    WorkerCounters& operator+=(const WorkerCounters& other);
    std::uint64_t total() const;
};

}  // namespace proxy
