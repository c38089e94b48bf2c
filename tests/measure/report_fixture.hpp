#pragma once

#include <string>

#include "measure/report/report.hpp"

namespace measure {

/// The results of one proxy, with equal counts by its clients and by its own counters.
inline ReportRow row_of(const std::string& name, std::uint64_t local, std::uint64_t peer,
                        std::uint64_t origin) {
    ReportRow row;
    row.name = name;
    const auto see = [&](ReportedOutcome outcome, std::uint64_t count,
                         std::chrono::milliseconds latency) {
        OutcomeTally& tally = row.seen.outcomes[static_cast<std::size_t>(outcome)];
        tally.requests = count;
        tally.body_bytes = count * 1000;
        for (std::uint64_t i = 0; i < count; ++i) tally.latency.add(latency);
    };
    see(ReportedOutcome::local_hit, local, std::chrono::milliseconds(1));
    see(ReportedOutcome::peer_hit, peer, std::chrono::milliseconds(2));
    see(ReportedOutcome::origin_fetch, origin, std::chrono::milliseconds(30));
    NodeSample& counted = row.counted.emplace();
    counted.node = name;
    counted.total = local + peer + origin;
    counted.local_hit = local;
    counted.peer_hit = peer;
    counted.origin_fetch = counted.traffic.origin_requests = origin;
    row.ideal.requests = counted.total;
    return row;
}

/// Two proxies, 200 requests. Ideal: 100 local and 130 shared hits; found: 100 and 26. One false
/// hit, eight announcements, URLs of 30 bytes.
inline Report two_proxies() {
    Report report;
    report.title = "test.log (squid format)";
    report.pace = "100 requests/s";
    report.lines = 210;
    report.skipped = {{"https: URL", 10}};
    report.clients = 12;
    report.urls = 70;
    report.sent = 200;
    report.elapsed_seconds = 2;
    report.rows = {row_of("a", 60, 16, 24), row_of("b", 40, 10, 50)};
    auto& a = *report.rows[0].counted;
    auto& b = *report.rows[1].counted;
    a.peers.push_back({{17, 16, 1, 0, 0, 0, 0, 10}, "b", "in_step", 0.1});
    b.peers.push_back({{10, 10, 0, 0, 0, 0, 0, 16}, "a", "in_step", 0.1});
    a.links.announcements_sent = 5;
    b.links.announcements_sent = 3;
    a.links.heartbeats_sent = b.links.heartbeats_sent = 4;
    a.links.bytes_sent = 1000;
    b.links.bytes_sent = 600;
    report.ideal.total = {200, 100, 130, 200'000, 100'000, 130'000};
    report.ideal.proxies = {report.rows[0].ideal, report.rows[1].ideal};
    report.ideal.url_bytes = 200 * 30;
    report.origin_requests = 74;
    return report;
}

}  // namespace measure
