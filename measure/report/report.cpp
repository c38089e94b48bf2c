#include "measure/report/report.hpp"

namespace measure {

Figures& Figures::operator+=(const Figures& more) {
    by_counters = by_counters && more.by_counters;
    requests += more.requests;
    local_hits += more.local_hits;
    peer_hits += more.peer_hits;
    origin_fetches += more.origin_fetches;
    other += more.other;
    errors += more.errors;
    false_hits += more.false_hits;
    other_refusals += more.other_refusals;
    peer_failures += more.peer_failures;
    body_bytes += more.body_bytes;
    local_bytes += more.local_bytes;
    peer_bytes += more.peer_bytes;
    return *this;
}

Figures figures_of(const ReportRow& row) {
    Figures out;
    const ProxyTally& seen = row.seen;
    out.body_bytes = seen.body_bytes();
    out.local_bytes = seen.of(ReportedOutcome::local_hit).body_bytes;
    out.peer_bytes = seen.of(ReportedOutcome::peer_hit).body_bytes;
    if (row.counted) {
        out.false_hits = row.counted->false_hits();
        out.other_refusals = row.counted->other_refusals();
        out.peer_failures = row.counted->failures();
    }
    if (row.counters_complete()) {
        out.by_counters = true;
        out.requests = row.counted->total;
        out.local_hits = row.counted->local_hit;
        out.peer_hits = row.counted->peer_hit;
        out.origin_fetches = row.counted->origin_fetch;
        out.other = row.counted->uncacheable;
        // The proxy counts no error for requests that failed to reach it; its clients do. A client
        // of the replay got nothing from a refusal, either.
        out.errors = std::max(row.counted->error + row.counted->refused, seen.failed());
    } else {
        out.requests = seen.answered() + seen.failed();
        out.local_hits = seen.of(ReportedOutcome::local_hit).requests;
        out.peer_hits = seen.of(ReportedOutcome::peer_hit).requests;
        out.origin_fetches = seen.of(ReportedOutcome::origin_fetch).requests;
        out.other = seen.of(ReportedOutcome::uncacheable).requests +
                    seen.of(ReportedOutcome::unknown).requests;
        out.errors = seen.failed();
    }
    return out;
}

Figures totals_of(const Report& report) {
    Figures sum;
    sum.by_counters = true;
    for (const auto& row : report.rows) sum += figures_of(row);
    return sum;
}

std::optional<Traffic> traffic_of(const Report& report) {
    Traffic out;
    for (const auto& row : report.rows) {
        if (!row.counted) return std::nullopt;
        out.announcements += row.counted->links.announcements_sent;
        out.heartbeats += row.counted->links.heartbeats_sent;
        out.link_bytes += row.counted->links.bytes_sent;
        out.false_hits += row.counted->false_hits();
        out.origin_requests += row.counted->traffic.origin_requests;
    }
    const Figures all = totals_of(report);
    const std::uint64_t misses = all.requests - std::min(all.requests, all.local_hits);
    out.icp_messages = icp_messages(misses, report.rows.size());
    const double mean_url = report.ideal.total.requests == 0
                                ? 0
                                : static_cast<double>(report.ideal.url_bytes) /
                                      static_cast<double>(report.ideal.total.requests);
    out.icp_bytes = icp_bytes(misses, report.rows.size(), mean_url);
    return out;
}

double found_of_ideal(const Report& report) {
    const auto ideal = report.ideal.total.shared_hits;
    return ideal == 0 ? 0
                      : static_cast<double>(totals_of(report).hits()) / static_cast<double>(ideal);
}

BookVerdict books_of(const Report& report) {
    BookVerdict out;
    std::vector<NodeSample> nodes;
    for (const auto& row : report.rows) {
        if (row.counters_complete()) {
            nodes.push_back(*row.counted);
        } else if (row.restarts > 0) {
            out.unknown.push_back(row.name + " was restarted");
        } else {
            out.unknown.push_back(row.name +
                                  (row.counted ? " did not answer at the end" : " was not asked"));
        }
    }
    out.books = books_between(nodes);
    for (const auto& book : out.books) {
        if (!book.balanced()) out.broken.push_back(book);
    }
    return out;
}

namespace {

/// Names the nodes that answered more requests than they were sent, and the surplus. Empty if there
/// are none, or if failures or an early end make the comparison unsafe.
std::string of_others(const Report& report) {
    std::uint64_t unsure = 0;
    for (const auto& row : report.rows) unsure += row.seen.failed();
    std::string out;
    for (const auto& row : report.rows) {
        if (report.stopped || !row.counters_complete()) continue;
        const auto sent = row.seen.answered() + row.seen.failed();
        if (row.counted->total <= sent + unsure) continue;
        out += (out.empty() ? "" : ", ") + row.name + ' ' + grouped(row.counted->total - sent);
    }
    return out;
}

}  // namespace

void doubt(Report& report, const std::vector<HostPort>& proxies,
           const std::vector<HostPort>& admins) {
    std::string warm;
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
        auto& row = report.rows[i];
        const auto proxy = proxies[i].text();
        if (!row.seen.other_node.empty()) {
            report.warnings.push_back(
                proxy + " answered as " + row.seen.node + " and as " + row.seen.other_node +
                ": give the address of each node, not one that stands for several");
        }
        if (!row.counted) continue;
        if (row.objects_before > 0 && !report.goes_on) {
            warm +=
                (warm.empty() ? "" : ", ") + row.counted->node + ' ' + grouped(row.objects_before);
        }
        const auto& counts = row.counted->node;
        if (row.seen.node.empty() || counts.empty() || counts == row.seen.node) continue;
        report.warnings.push_back("the admin address " + admins[i].text() + " is that of node " +
                                  counts + ", but the proxy " + proxy + " is node " +
                                  row.seen.node + ": give --admin in the order of --proxy");
        row.name = row.seen.node;
        row.counted.reset();
    }
    const auto others = of_others(report);
    if (!others.empty())
        report.warnings.push_back("other clients used the caches meanwhile (requests: " + others +
                                  ')');
    if (!warm.empty()) {
        report.warnings.push_back(
            "the caches were not empty when it began (objects: " + warm +
            "): hits on these objects count as found, and the ideal lacks them");
    } else if (report.ideal.total.shared_hits < totals_of(report).hits()) {
        report.warnings.push_back(
            "more hits than the log repeats: the caches were not empty, or had other clients");
    }
}

std::vector<std::string> disagreements(const Report& report) {
    std::vector<std::string> out;
    for (const auto& row : report.rows) {
        if (!row.counters_complete()) continue;
        const auto compare = [&](const char* what, std::uint64_t counted, std::uint64_t seen) {
            if (counted == seen) return;
            out.push_back(row.name + ": " + what + ' ' + grouped(counted) + " counted, " +
                          grouped(seen) + " seen by clients");
        };
        compare("requests", row.counted->total, row.seen.answered() + row.seen.failed());
        compare("local hits", row.counted->local_hit,
                row.seen.of(ReportedOutcome::local_hit).requests);
        compare("peer hits", row.counted->peer_hit,
                row.seen.of(ReportedOutcome::peer_hit).requests);
        compare("origin fetches", row.counted->origin_fetch,
                row.seen.of(ReportedOutcome::origin_fetch).requests);
    }
    return out;
}

}  // namespace measure
