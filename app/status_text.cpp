#include "app/status_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/clock_words.hpp"
#include "base/text/lasting.hpp"
#include "measure/report/numbers.hpp"

namespace app {
namespace {

std::string size_of(std::uint64_t bytes) {
    return measure::size_text(static_cast<double>(bytes));
}
std::string use_of(std::uint64_t bytes, std::uint64_t cap) {
    return measure::use_text(static_cast<double>(bytes), static_cast<double>(cap));
}

struct Part {
    std::uint64_t count;
    std::string_view what;
    std::string_view noun = {};  // of the number, in the singular; empty: it is known
};

/// The refusals by reason.
std::array<Part, 5> refusals(const measure::DiskSample& d) {
    return {{{d.refused_queue_full, "with a full queue"},
             {d.refused_paused, "after an error"},
             {d.refused_too_large, "too large"},
             {d.refused_off, "while off"},
             {d.read_refused, ", with too many under way", "read"}}};
}

std::uint64_t all_refused(const measure::DiskSample& d) {
    std::uint64_t all = 0;
    for (const auto& why : refusals(d)) all += why.count;
    return all;
}

/// `3 too large, 1 unreadable`: the parts above 0.
std::string parts_text(std::span<const Part> parts) {
    std::string text;
    for (const auto& [count, what, noun] : parts)
        if (count > 0)
            text += fmt::format(
                "{}{}{}", text.empty() ? "" : ", ",
                noun.empty() ? measure::grouped(count) + " " : measure::amount(count, noun), what);
    return text;
}

using Row = std::vector<std::string>;

enum class Last { number, words };
/// Formats columns as wide as their content: the first `words` to the left, the others to the
/// right. A last column of words is also to the left, and omitted if it is empty below its heading.
std::string table_text(std::span<const Row> rows, Last last_column, std::size_t words = 2) {
    const auto last = rows.front().size() - 1;
    std::vector<std::size_t> widths(rows.front().size());
    bool any_last = last_column == Last::number;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i <= last; ++i) widths[i] = std::max(widths[i], row[i].size());
        any_last = any_last || (&row != rows.data() && !row[last].empty());
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t i = 0; i < last; ++i)
            line += i < words ? fmt::format("{:<{}}  ", row[i], widths[i])
                              : fmt::format("{:>{}}  ", row[i], widths[i]);
        if (last_column == Last::number)
            line += fmt::format("{:>{}}", row[last], widths[last]);
        else if (any_last)
            line += row[last];
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string with_age(const std::string& error, double seconds) {
    return error.empty() || seconds <= 0 ? error : error + ", " + base::lasting(seconds) + " ago";
}

void print_peers(const std::vector<measure::PeerSample>& peers) {
    std::vector<Row> rows{{"peer", "state", "for", "asked", "hits", "false", "stale", "refused",
                           "too old", "failed", "given", "last error"}};
    for (const auto& p : peers)
        rows.push_back({p.node, p.state, base::lasting(p.state_seconds), measure::grouped(p.asked),
                        measure::grouped(p.hits), measure::grouped(p.false_hits),
                        measure::grouped(p.stale_hits), measure::grouped(p.refused),
                        measure::grouped(p.too_old), measure::grouped(p.failures),
                        measure::grouped(p.served), with_age(p.last_error, p.last_error_seconds)});
    fmt::print("\n{}", table_text(rows, Last::words));
    for (const auto& p : peers) {
        if (!p.cause.empty()) fmt::print("{}: {}\n", p.node, p.cause);
        if (!p.last_http_error.empty())
            fmt::print("{}: the last failed peer request: {}\n", p.node,
                       with_age(p.last_http_error, p.last_http_error_seconds));
    }
}

void print_clocks(const measure::NodeSample& node) {
    std::vector<PeerClock> clocks;
    for (const auto& peer : node.peers)
        if (peer.clock_ahead_seconds) clocks.push_back({peer.node, *peer.clock_ahead_seconds});
    for (const auto& words : clock_words(node.node, clocks)) fmt::print("{}\n", words);
}

/// The accuracy of each peer's summary, and its cost.
void print_sharing(const std::vector<measure::PeerSample>& peers) {
    std::vector<Row> rows{{"sharing", "lag s", "collisions", "evicted", "sampled", "missed",
                           "saved ms", "lost ms", "updates", "bits/obj"}};
    for (const auto& p : peers) {
        const auto bits = p.objects == 0
                              ? std::string("-")
                              : fmt::format("{:.1f}", static_cast<double>(p.bits) /
                                                          static_cast<double>(p.objects));
        rows.push_back({p.node, fmt::format("{:.1f}", p.lag_seconds),
                        measure::grouped(p.collisions), measure::grouped(p.evicted),
                        measure::grouped(p.sampled), measure::grouped(p.false_misses),
                        measure::grouped(p.saved_microseconds / 1000),
                        measure::grouped(p.lost_microseconds / 1000),
                        size_of(p.announcement_bytes_received), bits});
    }
    fmt::print("\n{}(hearsay help status explains the columns)\n",
               table_text(rows, Last::number, 1));
}

/// The reasons of refusals, and the losses of a start, on lines of their own if there are any.
void print_disk_trouble(const measure::DiskSample& d) {
    const auto refused = parts_text(refusals(d));
    const Part losses[] = {{d.found_damaged, " damaged", "file"},
                           {d.found_unreadable, "unreadable"},
                           {d.found_foreign, "of another directory"},
                           {d.recovered_doubtful, " to be validated for that", "object"},
                           {d.recovered_torn, " lost, being written when it was killed", "object"}};
    const auto lost = parts_text(losses);
    if (!refused.empty()) fmt::print("{}: refused: {}\n", d.path, refused);
    if (!lost.empty()) fmt::print("{}: at the start: {}\n", d.path, lost);
}

void print_disk(const measure::NodeSample& n) {
    if (n.disk.empty()) return;
    fmt::print("disk {}, {} of index in memory, {}, {} not admitted (requested once)\n",
               measure::amount(n.store_disk.disk_objects, "object"),
               size_of(n.store_disk.disk_index_bytes),
               measure::amount(n.store_disk.disk_hits, "hit"),
               measure::grouped(n.store_disk.disk_admission_declined));
    std::vector<Row> rows{{"directory", "state", "used", "writes", "written", "refused", "reads",
                           "of device", "errors", "last error"}};
    for (const auto& d : n.disk)
        rows.push_back({d.path, d.state, use_of(d.bytes, d.cap_bytes), measure::grouped(d.written),
                        size_of(d.written_bytes), measure::grouped(all_refused(d)),
                        measure::grouped(d.read_at_once + d.read_by_threads),
                        measure::grouped(d.read_by_threads),
                        measure::grouped(d.failed + d.read_failed), d.last_error});
    fmt::print("\n{}", table_text(rows, Last::words));
    for (const auto& d : n.disk) print_disk_trouble(d);
    if (!n.peers.empty()) fmt::print("\n");
}

void print_servers(const std::vector<measure::NodeSample::Server>& servers) {
    if (servers.empty()) return;
    std::vector<Row> rows{{"group", "server", "state", "requests", "failures", "in flight"}};
    for (const auto& s : servers)
        rows.push_back({s.group, s.server, s.state, measure::grouped(s.requests),
                        measure::grouped(s.failures), measure::grouped(s.in_flight)});
    fmt::print("\n{}\n", table_text(rows, Last::number));
}

}  // namespace

void print_status(const measure::NodeSample& n) {
    fmt::print("node {}: {}, up {}\n", n.node,
               n.draining ? "draining"
               : n.ready  ? "ready"
                          : "NOT READY",
               base::lasting(n.uptime_seconds));
    if (!n.reload_error.empty())
        fmt::print("configuration: the last reload was REFUSED: {}\n", n.reload_error);
    fmt::print(
        "requests {}: {:.1f} % local hits, {:.1f} % peer hits, {:.1f} % origin fetches, "
        "{} passed through, {}, {} refused\n",
        measure::grouped(n.total), measure::percent(n.local_hit, n.total),
        measure::percent(n.peer_hit, n.total), measure::percent(n.origin_fetch, n.total),
        measure::grouped(n.uncacheable), measure::amount(n.error, "error"),
        measure::grouped(n.refused));
    fmt::print("cache {}, memory {}, {} evicted\n", measure::amount(n.cache.objects, "object"),
               use_of(n.cache.memory_bytes, n.cache.memory_cap_bytes),
               measure::grouped(n.evictions));
    fmt::print("upstream {} to origins, {} to peers\n",
               measure::amount(n.traffic.origin_requests, "request"),
               measure::grouped(n.traffic.peer_requests));
    for (const auto& fault : n.faults) fmt::print("fault: {}\n", fault);
    for (const auto& name : n.names)
        fmt::print("name {} leads to {}{}\n", name.name, measure::amount(name.places, "place"),
                   name.trouble.empty() ? "" : ": " + name.trouble);
    for (const auto& place : n.unanswered) fmt::print("no answer from {}\n", place);
    for (const auto& node : n.unplaced)
        fmt::print("no room for the listed peer {} (cluster.max_peers)\n", node);
    print_servers(n.servers);
    print_disk(n);
    if (n.peers.empty()) return;
    fmt::print("links {} sent, {} received, {} out, {} in\n",
               measure::amount(n.links.announcements_sent, "announcement"),
               measure::grouped(n.links.announcements_received), size_of(n.links.bytes_sent),
               size_of(n.links.bytes_received));
    print_peers(n.peers);
    print_clocks(n);
    print_sharing(n.peers);
}

std::vector<std::string> drop_repeats(std::vector<measure::NodeSample>& nodes,
                                      std::vector<std::string>& at) {
    std::vector<measure::NodeSample> kept;
    std::vector<std::string> kept_at;
    std::map<std::string, std::vector<std::string>> places;  // by name
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const bool known =
            std::any_of(kept.begin(), kept.end(), [&](const measure::NodeSample& each) {
                return each.node == nodes[i].node && each.instance == nodes[i].instance;
            });
        if (known) continue;
        places[nodes[i].node].push_back(at[i]);
        kept.push_back(std::move(nodes[i]));
        kept_at.push_back(at[i]);
    }
    nodes = std::move(kept);
    at = std::move(kept_at);
    std::vector<std::string> out;
    for (const auto& [name, all] : places)
        if (all.size() > 1)
            out.push_back(fmt::format(
                "{} processes call themselves {} (at {}): names must differ, or peers refuse all "
                "but one; each is counted",
                all.size(), name, fmt::join(all, " and ")));
    return out;
}

void print_together(const std::vector<measure::NodeSample>& nodes, std::size_t missing) {
    measure::NodeSample sum;
    for (const auto& n : nodes) sum += n;
    const auto known = nodes.size();
    const auto who = missing > 0 ? fmt::format("{} of {} nodes, {} of them missing", known,
                                               known + missing, missing)
                                 : measure::amount(known, "node");
    fmt::print(
        "{}: {}: hit rate {:.1f} % ({:.1f} % local, {:.1f} % from peers), {:.1f} % "
        "origin fetches, {}; {} to origins\n",
        who, measure::amount(sum.total, "request"),
        measure::percent(sum.local_hit + sum.peer_hit, sum.total),
        measure::percent(sum.local_hit, sum.total), measure::percent(sum.peer_hit, sum.total),
        measure::percent(sum.origin_fetch, sum.total), measure::amount(sum.error, "error"),
        measure::amount(sum.traffic.origin_requests, "request"));
}

std::string sharing_legend() {
    return R"(Columns of the table "sharing", for each peer:
  lag s         seconds since its summary was last confirmed
  collisions    false hits whose key its summary goes on promising: errors of the filter
  evicted       false hits whose key it withdrew soon after: evicted objects
  sampled       peer requests beside the origin although its summary denied the key
  missed        samples that it could have answered: false misses
  saved ms      time by which its answers came sooner than the origin's usually do
  lost ms       time by which they came later, and waits in vain
  updates       size of its announcements to this node
  bits/obj      bits of its summary for each object in it)";
}

}  // namespace app
