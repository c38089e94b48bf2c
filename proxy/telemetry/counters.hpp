#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/counters/counter_table.hpp"
#include "proxy/http/described_enum.hpp"
#include "proxy/http/outcome.hpp"
#include "proxy/http/storage_verdict.hpp"
#include "proxy/telemetry/span.hpp"

namespace proxy {

using base::CounterRow;
using base::NumberKind;

/// Upper bounds of the request duration histogram in seconds, from a memory hit to a long download.
inline constexpr std::array kDurationBuckets{
    0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
    0.25,    0.5,    1.0,     2.5,    5.0,   10.0,   30.0,  60.0, 120.0, 300.0};

/// Counts of single buckets; the last bucket is above all bounds.
struct DurationHistogram {
    std::array<std::uint64_t, kDurationBuckets.size() + 1> counts{};
    double sum_seconds = 0;

    void observe(std::chrono::nanoseconds duration);
    DurationHistogram& operator+=(const DurationHistogram& other);
    std::uint64_t total() const;
};

/// The last request of a sampled trace in each bucket of a DurationHistogram.
struct DurationExemplars {
    struct Exemplar {
        TraceId trace{};  // zeros: there is none
        double seconds = 0;
        std::chrono::system_clock::time_point at{};
    };
    std::array<Exemplar, kDurationBuckets.size() + 1> last{};

    void note(const TraceId& trace, std::chrono::nanoseconds duration,
              std::chrono::system_clock::time_point now);
    /// Keeps the later one in each bucket.
    DurationExemplars& operator+=(const DurationExemplars& other);
};

/// One count per value of a described enum.
template <class Enum>
struct EnumCounts {
    std::array<std::uint64_t, kEnumSize<Enum>> values{};

    std::uint64_t& operator[](Enum e) { return values[static_cast<std::size_t>(e)]; }
    std::uint64_t operator[](Enum e) const { return values[static_cast<std::size_t>(e)]; }
    EnumCounts& operator+=(const EnumCounts& other) {
        std::transform(values.begin(), values.end(), other.values.begin(), values.begin(),
                       std::plus<>());
        return *this;
    }
};

/// The reason for which a request is refused before it is served.
BOOST_DEFINE_FIXED_ENUM_CLASS(
    RequestRefusal, std::uint8_t,
    malformed,        // 400
    too_large,        // 414, 431
    not_implemented,  // 501
    version,          // 505; 411 for an origin of HTTP/1.0
    no_route,         // no origin matches, and forward mode is off
    destination,      // a private address, a listener of this node or a peer, a forbidden port
    too_many_connections,
    timeout,               // of the head
    loop,                  // 508
    tls,                   // a failed handshake
    forbidden,             // PURGE from an address outside purge.allow
    client,                // clients.allow and clients.deny
    forward_client,        // forward.clients
    proxy_header,          // a trusted proxy's PROXY header is missing, malformed or late
    upgrade,               // a handshake for a protocol outside `upgrade`
    http2_flood,           // an HTTP/2 client made too much work; its connection ended
    too_young,             // content, by min_age of a rule
    blocklist,             // forward.blocklists
    no_credentials,        // forward.authentication: none, or none of Basic; 407
    wrong_credentials,     // 407
    credentials_in_clear,  // none are taken over this connection; 403
    unverified,            // too many passwords wait for a check; 503
    over_guesses,          // too many wrong passwords of an address; 429
    over_rate,             // clients.limits, requests; 429
    over_connections,      // clients.limits, connections; 429
    destination_denied,    // forward.destinations; 403
    over_uploads,          // too many unfinished uploads of one client to one place; 429
    misdirected,           // inside a CONNECT: another host than its own; 421
    no_certificate         // none could be made for forward.intercept; 503
)

/// How a request ends that is refused for this reason. A setting of the operator makes it
/// `refused`: the node does what it is told. Faults of the request and of the node count as
/// `error`.
constexpr Outcome outcome_of(RequestRefusal refusal) {
    switch (refusal) {
        case RequestRefusal::malformed:
        case RequestRefusal::too_large:
        case RequestRefusal::not_implemented:
        case RequestRefusal::version:
        case RequestRefusal::too_many_connections:
        case RequestRefusal::timeout:
        case RequestRefusal::loop:
        case RequestRefusal::tls:
        case RequestRefusal::proxy_header:
        case RequestRefusal::http2_flood:
        case RequestRefusal::unverified:
        case RequestRefusal::no_certificate:
            return Outcome::error;
        case RequestRefusal::no_route:
        case RequestRefusal::destination:
        case RequestRefusal::forbidden:
        case RequestRefusal::client:
        case RequestRefusal::forward_client:
        case RequestRefusal::upgrade:
        case RequestRefusal::too_young:
        case RequestRefusal::blocklist:
        case RequestRefusal::no_credentials:
        case RequestRefusal::wrong_credentials:
        case RequestRefusal::credentials_in_clear:
        case RequestRefusal::over_guesses:
        case RequestRefusal::over_rate:
        case RequestRefusal::over_connections:
        case RequestRefusal::over_uploads:
        case RequestRefusal::destination_denied:
        case RequestRefusal::misdirected:
            break;
    }
    return Outcome::refused;
}

/// Why a TLS handshake failed inside a CONNECT that the node answers itself.
BOOST_DEFINE_FIXED_ENUM_CLASS(InterceptFailure, std::uint8_t,
                              untrusted,  // the client refuses the certificate
                              no_tls,     // its first bytes are of another protocol
                              version,    // no common version, cipher or application protocol
                              timeout,    // of timeouts.client_head
                              cut,        // the connection ended
                              other)

/// Requests to origins, and origins that get none. `origin_hedges` are requests during a peer
/// request; `origin_hedges_outrun` counts those whose answer came after the peer's and was dropped.
struct OriginCounters {
    std::uint64_t origin_requests = 0, origin_failures = 0;
    std::uint64_t origin_down_requests = 0, backed_off_requests = 0;
    std::uint64_t origins_down = 0;
    std::uint64_t validations = 0;
    std::uint64_t responses_rewritten = 0;
    std::uint64_t origin_hedges = 0, origin_hedges_outrun = 0;
};

/// Requests to peers, and the fetches and renewals that nodes share. PeerCounters has the results
/// of the requests, by peer.
struct CooperationCounters {
    std::uint64_t peer_requests = 0, peer_repeats = 0, peer_handshakes = 0;
    std::uint64_t summary_lookups = 0, summaries_overruled = 0;
    std::uint64_t peers_too_far = 0;
    std::uint64_t meetings_asked = 0, fetches_followed = 0;
    std::uint64_t renewals_told = 0, renewals_taken = 0;
};

/// Body bytes, excluding heads, chunk lines and TLS: bytes of answers that client sockets took, and
/// bytes read from upstream. Bodies that the node writes itself, such as the text of an error, do
/// not count for clients, nor do the reasons by which peers refuse. Tunnels count all bytes towards
/// the client.
struct ByteCounters {
    std::uint64_t bytes_to_clients = 0, bytes_to_peers = 0;
    std::uint64_t bytes_from_peers = 0, bytes_from_origins = 0;
};

/// Queries to the filter over the blocklists, and its positive answers.
struct BlocklistCounters {
    std::uint64_t blocklist_queries = 0, blocklist_confirmed = 0, blocklist_false_positives = 0;
    std::uint64_t blocklist_logged = 0, blocklist_unreadable = 0;
};

/// Requests with credentials by how these were judged: by a check of the hash, or by the result of
/// an earlier one. The time of the checks in microseconds.
struct PasswordCounters {
    std::uint64_t passwords_checked = 0, passwords_remembered = 0, password_check_us = 0;
};

/// Plain counters of one worker, for its thread. A reader sums copies over all workers. Counts by
/// reason are in WorkerCounters.
struct TrafficCounters : OriginCounters,
                         CooperationCounters,
                         ByteCounters,
                         BlocklistCounters,
                         PasswordCounters {
    std::uint64_t collapsed = 0;
    std::uint64_t connections_accepted = 0, connections_made_room = 0;
    std::uint64_t bandwidth_waits = 0;
    /// CONNECT requests that the node has answered itself, which have no outcome; and requests
    /// inside.
    std::uint64_t intercepted_connections = 0, intercepted_requests = 0;
};

/// counter_table.hpp explains the fields of a row.
inline constexpr CounterRow<TrafficCounters> kTrafficCounters[] = {
    {&TrafficCounters::origin_requests, "upstream.origin_requests", "requests",
     "Requests sent to origins, validations included.", "hearsay_origin_requests_total"},
    {&TrafficCounters::origin_failures, "upstream.origin_failures", "requests",
     "Requests to origins without a usable answer.", "hearsay_origin_failures_total"},
    {&TrafficCounters::peer_requests, "upstream.peer_requests", "requests",
     "Requests sent to peers (hearsay_peer_requests_total has them by peer and result).", ""},
    {&TrafficCounters::origin_down_requests, "upstream.origin_down_requests", "requests",
     "Requests not put to an origin, as it left others without an answer.",
     "hearsay_origin_down_requests_total"},
    {&TrafficCounters::backed_off_requests, "upstream.backed_off_requests", "requests",
     "Requests not put to an origin after a 429, a 503 or a slow error, as a stale response stands "
     "in.",
     "hearsay_origin_backed_off_requests_total"},
    {.member = &TrafficCounters::origins_down,
     .path = "upstream.origins_down",
     .unit = "origins",
     .help = "Origins that left the last requests without an answer, summed over workers.",
     .family = "hearsay_origins_down",
     .kind = NumberKind::level},
    {&TrafficCounters::validations, "upstream.validations", "requests",
     "Requests to origins that ended in 304.", "hearsay_validations_total"},
    {&TrafficCounters::responses_rewritten, "upstream.responses_rewritten", "responses",
     "Responses of origins whose head or body was rewritten for a mirror (`origins[].public`).",
     "hearsay_responses_rewritten_total"},
    // metrics_text.cpp shows these two as parts of one family.
    {&TrafficCounters::origin_hedges, "upstream.origin_hedges", "requests",
     "Requests to origins (origin_requests has them too) that were sent while a peer was still "
     "waited for, or for the rest of its body.",
     ""},
    {&TrafficCounters::origin_hedges_outrun, "upstream.origin_hedges_outrun", "requests",
     "Those of them whose answer was not used: the peer's came first, or nobody wanted one.", ""},
    {&TrafficCounters::meetings_asked, "upstream.meetings_asked", "requests",
     "Requests to meeting points, which name the node that fetches the same content "
     "(`rules[].fetch_once`).",
     "hearsay_meetings_asked_total"},
    {&TrafficCounters::fetches_followed, "upstream.fetches_followed", "fetches",
     "Responses and blocks that came from a node while it fetched them.",
     "hearsay_fetches_followed_total"},
    {&TrafficCounters::renewals_told, "upstream.renewals_told", "responses",
     "Responses of origins, 304 included, of which this node told the peers that announce the "
     "same.",
     "hearsay_renewals_told_total"},
    {&TrafficCounters::renewals_taken, "upstream.renewals_taken", "responses",
     "Stale responses that became fresh again because a peer told that the origin confirmed them.",
     "hearsay_renewals_taken_total"},
    {&TrafficCounters::peer_repeats, "upstream.peer_repeats", "requests",
     "Requests to peers beside one that took unusually long.", "hearsay_peer_repeats_total"},
    {&TrafficCounters::peer_handshakes, "upstream.peer_handshakes", "connections",
     "TLS handshakes with peers for peer requests. Later requests use the same connections.",
     "hearsay_peer_handshakes_total"},
    {&TrafficCounters::summary_lookups, "upstream.summary_lookups", "fetches",
     "Fetches for which the peers' summaries were asked.", "hearsay_digest_lookups_total"},
    {&TrafficCounters::summaries_overruled, "upstream.summaries_overruled", "fetches",
     "Fetches that asked a peer although no summary has the key, because a summary that is late "
     "often misses it.",
     "hearsay_summaries_overruled_total"},
    {&TrafficCounters::peers_too_far, "upstream.peers_too_far", "fetches",
     "Fetches for which no peer was asked, as the origin is so much nearer.",
     "hearsay_peers_too_far_total"},
    {&TrafficCounters::bytes_to_clients,
     "bytes.to_clients",
     "bytes",
     "Body bytes moved. Texts that the node writes itself do not count as to_clients, and "
     "refusals between peers do not count.",
     "hearsay_bytes_total",
     {"direction", "to_clients"}},
    {&TrafficCounters::bytes_to_peers,
     "bytes.to_peers",
     "bytes",
     "",
     "hearsay_bytes_total",
     {"direction", "to_peers"}},
    {&TrafficCounters::bytes_from_peers,
     "bytes.from_peers",
     "bytes",
     "",
     "hearsay_bytes_total",
     {"direction", "from_peers"}},
    {&TrafficCounters::bytes_from_origins,
     "bytes.from_origins",
     "bytes",
     "",
     "hearsay_bytes_total",
     {"direction", "from_origins"}},
    {&TrafficCounters::collapsed, "collapsed", "requests",
     "Requests that followed a fill which another request began.",
     "hearsay_collapsed_requests_total"},
    {&TrafficCounters::connections_accepted, "connections.accepted", "connections",
     "Client connections accepted.", "hearsay_connections_accepted_total"},
    {&TrafficCounters::connections_made_room, "connections.made_room", "connections",
     "Client connections that waited for a request and were closed to make room for new ones.",
     "hearsay_connections_made_room_total"},
    {&TrafficCounters::blocklist_queries, "blocklists.queries", "queries",
     "Names and URLs that the filter over the blocklists was asked for.",
     "hearsay_blocklist_queries_total"},
    {&TrafficCounters::blocklist_confirmed,
     "blocklists.confirmed",
     "queries",
     "Positive answers of the filter, by what the file of entries said: confirmed; "
     "false_positive; unreadable.",
     "hearsay_blocklist_positives_total",
     {"result", "confirmed"}},
    {&TrafficCounters::blocklist_false_positives,
     "blocklists.false_positives",
     "queries",
     "",
     "hearsay_blocklist_positives_total",
     {"result", "false_positive"}},
    {&TrafficCounters::blocklist_unreadable,
     "blocklists.unreadable",
     "queries",
     "",
     "hearsay_blocklist_positives_total",
     {"result", "unreadable"}},
    {&TrafficCounters::blocklist_logged, "blocklists.logged", "requests",
     "Requests for targets in a blocklist that logs and refuses nothing.",
     "hearsay_blocklist_logged_total"},
    {&TrafficCounters::passwords_checked,
     "authentication.checked",
     "requests",
     "Requests whose password was judged, by how: checked against its hash; remembered from an "
     "earlier check, or judged by the check for another request.",
     "hearsay_passwords_total",
     {"how", "checked"}},
    {&TrafficCounters::passwords_remembered,
     "authentication.remembered",
     "requests",
     "",
     "hearsay_passwords_total",
     {"how", "remembered"}},
    {&TrafficCounters::password_check_us, "authentication.check_microseconds", "microseconds",
     "Time of the thread that checks passwords.", "hearsay_password_check_seconds_total"},
    {&TrafficCounters::bandwidth_waits, "bandwidth_waits", "waits",
     "Pauses of responses and tunnels by a limit of bandwidth (`clients.limits`, "
     "`cluster.bandwidth`).",
     "hearsay_bandwidth_waits_total"},
    {&TrafficCounters::intercepted_connections, "interception.connections", "connections",
     "CONNECT requests that the node has answered itself (forward.intercept).",
     "hearsay_intercepted_connections_total"},
    {&TrafficCounters::intercepted_requests, "interception.requests", "requests",
     "Requests inside these connections. hearsay_requests_total has them, too.",
     "hearsay_intercepted_requests_total"},
};
static_assert(base::every_member_has_a_row(kTrafficCounters));

/// All counters of one worker.
struct WorkerCounters : TrafficCounters {
    EnumCounts<Outcome> requests;
    std::array<DurationHistogram, kEnumSize<Outcome>> durations;  // index: Outcome
    std::array<DurationExemplars, kEnumSize<Outcome>> exemplars;  // likewise
    EnumCounts<StorageVerdict> verdicts;
    EnumCounts<RequestRefusal> refusals;
    EnumCounts<InterceptFailure> intercept_failures;

    /// Counts the duration of a request, and notes its trace if that is sampled.
    void observe(Outcome outcome, std::chrono::nanoseconds duration, const RequestTrace& trace);
    WorkerCounters& operator+=(const WorkerCounters& other);
    std::uint64_t total() const;
};

}  // namespace proxy
