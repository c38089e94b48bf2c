#include <fmt/format.h>

#include <algorithm>

#include "measure/report/reading_text.hpp"
#include "measure/report/report.hpp"
#include "measure/report/writer.hpp"

namespace measure {
namespace {

constexpr std::size_t kNameColumns = 15;

std::string percent(double value) {
    return fmt::format("{:.1f}%", value * 100);
}

/// Small ratios need more digits than large ones.
std::string per_request(double value, std::uint64_t requests) {
    const double each = requests == 0 ? 0 : value / static_cast<double>(requests);
    return each < 10 ? fmt::format("{:.4f}", each) : fmt::format("{:.0f}", each);
}

void write_workload(const Report& report, Writer& out) {
    out.heading(report.title);
    out.line("{} sent, {}, {}; {}", amount(report.sent, "request"),
             amount(report.clients, "client"), amount(report.urls, "URL"), report.pace);
    out.line(
        "{:.1f} s, {:.0f} requests/s{}", report.elapsed_seconds,
        report.elapsed_seconds > 0 ? static_cast<double>(report.sent) / report.elapsed_seconds : 0,
        report.stopped ? "; STOPPED EARLY: the ideals are those of the requests sent so far" : "");
    out.append(reading_text(report));
    if (!report.note.empty()) out.line("{}", report.note);
    for (const auto& warning : report.warnings) out.line("{} {}", out.bad("NOTE:"), warning);
}

std::string share(std::uint64_t part, std::uint64_t whole) {
    return fmt::format("{:>9} {:>6}", grouped(part), percent(ratio(part, whole)));
}

/// Returns the text for the column of names. A longer name is written to `out` first, on a line of
/// its own.
std::string name_column(const std::string& name, Writer& out) {
    if (name.size() <= kNameColumns) return name;
    out.line("{}", name);
    return {};
}

void write_row(const std::string& name, const Figures& f, Writer& out) {
    out.line("{:<{}} {:>9} {} {} {} {:>6} {:>6} {:>6}",
             name_column(name + (f.by_counters ? "" : "*"), out), kNameColumns, grouped(f.requests),
             share(f.local_hits, f.requests), share(f.peer_hits, f.requests),
             share(f.origin_fetches, f.requests), grouped(f.errors), grouped(f.false_hits),
             grouped(f.other_refusals));
}

void write_outcomes(const Report& report, Writer& out) {
    out.line("");
    out.heading(fmt::format("{:<{}} {:>9} {:>16} {:>16} {:>16} {:>6} {:>6} {:>6}", "proxy",
                            kNameColumns, "requests", "local hits", "peer hits", "origin fetches",
                            "errors", "false", "other"));
    out.heading(fmt::format("{:>{}} {:>6}", "hits", kNameColumns + 75, "no's"));
    for (const auto& row : report.rows) write_row(row.name, figures_of(row), out);
    const Figures all = totals_of(report);
    write_row("all", all, out);
    const IdealCounts& ideal = report.ideal.total;
    out.line("{:<{}} {:>9} {} {} {}", "ideal", kNameColumns, grouped(ideal.requests),
             share(ideal.local_hits, ideal.requests),
             share(ideal.shared_hits - ideal.local_hits, ideal.requests),
             share(ideal.requests - ideal.shared_hits, ideal.requests));
    if (!all.by_counters)
        out.line("* as clients saw it: the proxy's own counters are not complete");
    if (all.other > 0) {
        out.line("{} passed through, or without a word of where they came from",
                 amount(all.other, "answer"));
    }

    out.line("");
    out.line("found    {} of {} hits = {:.4f} of the ideal (unlimited caches, sharing at once)",
             grouped(all.hits()), grouped(ideal.shared_hits), found_of_ideal(report));
    out.line("hit rate {}; ideal {} with sharing, {} without",
             percent(ratio(all.hits(), all.requests)), percent(ideal.shared_ratio()),
             percent(ideal.local_ratio()));
}

void write_bytes_row(const std::string& name, const Figures& f, const NodeSample* counted,
                     Writer& out) {
    std::string links;
    if (counted) {
        const auto sent = static_cast<double>(counted->links.bytes_sent);
        links = fmt::format(
            "{:>13} {:>11} {:>11} {:>11}", grouped(counted->links.announcements_sent),
            per_request(static_cast<double>(counted->links.announcements_sent), f.requests),
            size_text(sent), per_request(sent, f.requests));
    }
    out.line("{:<{}} {:>10} {:>7} {:>7} {:>7} {}", name_column(name, out), kNameColumns,
             size_text(static_cast<double>(f.body_bytes)),
             percent(ratio(f.local_bytes, f.body_bytes)),
             percent(ratio(f.peer_bytes, f.body_bytes)),
             percent(ratio(f.local_bytes + f.peer_bytes, f.body_bytes)), links);
}

void write_bytes(const Report& report, Writer& out) {
    out.line("");
    const bool links = traffic_of(report).has_value();
    out.heading(fmt::format(
        "{:<{}} {:>10} {:>23}{}", "proxy", kNameColumns, "bytes to", "byte hit rates",
        links ? fmt::format(" {:>25} {:>23}", "announcements", "link bytes") : std::string()));
    out.heading(fmt::format("{:>{}} {:>7} {:>7} {:>7}{}", "clients", kNameColumns + 11, "local",
                            "peer", "both",
                            links ? fmt::format(" {:>13} {:>11} {:>11} {:>11}", "number",
                                                "per request", "in all", "per request")
                                  : std::string()));
    NodeSample sum;
    for (const auto& row : report.rows) {
        const NodeSample* counted = links ? &*row.counted : nullptr;
        write_bytes_row(row.name, figures_of(row), counted, out);
        if (counted) sum += *counted;
    }
    write_bytes_row("all", totals_of(report), links ? &sum : nullptr, out);
    const IdealCounts& ideal = report.ideal.total;
    const auto shared_only = ideal.shared_hit_bytes - ideal.local_hit_bytes;
    out.line("{:<{}} {:>10} {:>7} {:>7} {:>7}", "ideal", kNameColumns,
             size_text(static_cast<double>(ideal.bytes)),
             percent(ratio(ideal.local_hit_bytes, ideal.bytes)),
             percent(ratio(shared_only, ideal.bytes)),
             percent(ratio(ideal.shared_hit_bytes, ideal.bytes)));
    std::uint64_t verified = 0, answered = 0;
    for (const auto& row : report.rows) {
        verified += row.seen.verified;
        answered += row.seen.answered();
    }
    if (verified < answered) {
        out.line("bodies   {} checked against the built-in origin's, {} only counted",
                 grouped(verified), grouped(answered - verified));
    }
}

void write_latencies(const Report& report, Writer& out) {
    const bool any = std::any_of(report.rows.begin(), report.rows.end(),
                                 [](const ReportRow& row) { return row.seen.answered() > 0; });
    if (!any) return;
    out.line("");
    out.heading(
        fmt::format("{:<14} {:>10} {:>11} {:>11}", "latency", "answers", "p50 ms", "p99 ms"));
    for (std::size_t k = 0; k < kReportedOutcomes; ++k) {
        Histogram all;
        for (const auto& row : report.rows) all.add(row.seen.outcomes[k].latency);
        if (all.count() == 0) continue;
        std::string name(to_string(static_cast<ReportedOutcome>(k)));
        std::replace(name.begin(), name.end(), '_', ' ');
        out.line("{:<14} {:>10} {:>11.2f} {:>11.2f}", name, grouped(all.count()),
                 static_cast<double>(all.quantile(0.5).count()) / 1000,
                 static_cast<double>(all.quantile(0.99).count()) / 1000);
    }
}

void write_traffic(const Report& report, Writer& out) {
    const auto traffic = traffic_of(report);
    if (!traffic) return;
    const auto requests = totals_of(report).requests;
    const auto messages = traffic->announcements + traffic->false_hits;
    out.line("");
    out.heading(fmt::format("{:<28} {:>12} {:>12} {:>16} {:>12}", "between the proxies", "messages",
                            "per request", "bytes", "per request"));
    out.line("{:<28} {:>12} {:>12} {:>16} {:>12}", "announcements + false hits", grouped(messages),
             per_request(static_cast<double>(messages), requests),
             size_text(static_cast<double>(traffic->link_bytes)),
             per_request(static_cast<double>(traffic->link_bytes), requests));
    out.line("{:<28} {:>12} {:>12}   (their bytes are in the line above)", "heartbeats",
             grouped(traffic->heartbeats),
             per_request(static_cast<double>(traffic->heartbeats), requests));
    out.line("{:<28} {:>12} {:>12} {:>16} {:>12}", "ICP would have sent",
             grouped(traffic->icp_messages),
             per_request(static_cast<double>(traffic->icp_messages), requests),
             size_text(traffic->icp_bytes), per_request(traffic->icp_bytes, requests));
    out.line("{:<28} {:>12}{}", "requests to the origin", grouped(traffic->origin_requests),
             report.origin_requests ? fmt::format("   ({} answered by the built-in origin)",
                                                  grouped(*report.origin_requests))
                                    : std::string());
}

void write_books(const Report& report, Writer& out) {
    const BookVerdict verdict = books_of(report);
    if (verdict.books.empty() && report.rows.size() < 2) return;
    const bool asked = std::any_of(report.rows.begin(), report.rows.end(),
                                   [](const ReportRow& row) { return row.counted.has_value(); });
    out.line("");
    if (!asked) {
        out.line("books: not checked; give --admin for every proxy to have its counters read");
        return;
    }
    if (verdict.balanced()) {
        out.line("books: {}", out.good(fmt::format("balanced between all {} pairs of proxies",
                                                   verdict.books.size())));
        return;
    }
    if (!verdict.broken.empty()) {
        out.line("books: {}", out.bad(fmt::format("{} of {} pairs DO NOT BALANCE",
                                                  verdict.broken.size(), verdict.books.size())));
        for (const auto& b : verdict.broken) {
            out.line("  {} asked {}: {} hits <= {} given <= {} hits + {} failures does not hold",
                     b.asker, b.giver, grouped(b.hits), grouped(b.served), grouped(b.hits),
                     grouped(b.failures));
        }
    } else if (!verdict.books.empty()) {
        out.line("books: balanced between the {} pairs that can be checked", verdict.books.size());
    } else {
        out.line("books: no pair of proxies could be checked");
    }
    for (const auto& why : verdict.unknown) out.line("  not checked: {}", why);
}

void write_trouble(const Report& report, Writer& out) {
    std::string failures;
    for (std::size_t f = 0; f < kFailures; ++f) {
        std::uint64_t count = 0;
        for (const auto& row : report.rows) count += row.seen.failures[f];
        if (count == 0) continue;
        failures += fmt::format("{}{} {}", failures.empty() ? "" : ", ", grouped(count),
                                to_string(static_cast<RequestFailure>(f)));
    }
    if (!failures.empty()) {
        out.line("");
        out.line("{} {}", out.bad("errors seen by clients:"), failures);
        out.line("  the first: {}", report.first_failure);
    }
    if (const auto failed = totals_of(report).peer_failures; failed > 0) {
        out.line("{} to peers failed or came too late", amount(failed, "request"));
    }
    for (const auto& row : report.rows) {
        if (row.seen.taken_over > 0) {
            out.line("failover: {} answered {} of other proxies' clients", row.name,
                     amount(row.seen.taken_over, "request"));
        }
        if (row.restarts > 0) {
            out.line("{} was restarted {}: its last counts before that are lost", row.name,
                     amount(row.restarts, "time"));
        }
    }
    const auto differences = disagreements(report);
    if (!differences.empty()) {
        out.line("counters and clients disagree (other clients or retries may be the cause):");
        for (const auto& text : differences) out.line("  {}", text);
    }
}

}  // namespace

std::string report_text(const Report& report, bool colour) {
    Writer out(colour);
    write_workload(report, out);
    write_outcomes(report, out);
    write_bytes(report, out);
    write_latencies(report, out);
    write_traffic(report, out);
    write_books(report, out);
    write_trouble(report, out);
    return out.take();
}

}  // namespace measure
