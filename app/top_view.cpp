#include "app/top_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "app/short_names.hpp"
#include "app/status_text.hpp"
#include "app/top_faults.hpp"
#include "base/text/lasting.hpp"
#include "measure/report/numbers.hpp"

namespace app {
namespace {

enum class Ink { plain, bold, dim, good, warning, bad };

constexpr const char* code(Ink ink) {
    switch (ink) {
        case Ink::bold:
            return "\x1b[1m";
        case Ink::dim:
            return "\x1b[2m";
        case Ink::good:
            return "\x1b[32m";
        case Ink::warning:
            return "\x1b[33m";
        case Ink::bad:
            return "\x1b[31m";
        case Ink::plain:
            break;
    }
    return "";
}

/// Builds lines that end at the edge of the screen.
class Page {
public:
    explicit Page(const TopSize& size) : size_(size) {}

    /// The first text that does not fit is cut, and no other follows it on the line.
    Page& text(std::string_view text, Ink ink = Ink::plain) {
        const auto room = size_.columns - std::min(size_.columns, width_);
        const auto part = cut_text(text, room);
        width_ = text.size() > room ? size_.columns : width_ + part.size();
        if (part.empty()) return *this;
        const bool colored = size_.color && ink != Ink::plain;
        line_.append(colored ? code(ink) : "").append(part).append(colored ? "\x1b[0m" : "");
        return *this;
    }
    /// A part of a list, which stands on a line of its own rather than being cut.
    Page& part(std::string_view text, Ink ink = Ink::plain) {
        constexpr std::string_view kGap = "  ";
        if (width_ > 0 && width_ + kGap.size() + text.size() > size_.columns) end();
        if (width_ > 0) this->text(kGap);
        return this->text(text, ink);
    }
    void end() {
        lines_.push_back(std::exchange(line_, {}));
        width_ = 0;
    }
    void line(std::string_view whole, Ink ink = Ink::plain) {
        text(whole, ink);
        end();
    }
    std::size_t columns() const { return size_.columns; }
    /// The lines that are left for more.
    std::size_t room() const {
        if (size_.rows == 0) return std::string::npos;
        return size_.rows - std::min(size_.rows, lines_.size());
    }
    std::vector<std::string> take() {
        if (size_.rows > 0 && lines_.size() > size_.rows) lines_.resize(size_.rows);
        return std::move(lines_);
    }

private:
    TopSize size_;
    std::vector<std::string> lines_;
    std::string line_;
    std::size_t width_ = 0;
};

Ink ink_of(std::string_view state) {
    if (state == "ready") return Ink::good;
    return state == "down" || state == "silent" || state == "refused" ? Ink::bad : Ink::warning;
}

std::string percent_text(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? "-" : fmt::format("{:.1f}", measure::percent(part, whole));
}

std::string rate_text(const std::optional<double>& rate) {
    if (!rate) return "-";
    return fmt::format("{:.{}f}", *rate, *rate < 10 ? 1 : 0);
}

/// 9,999 or 12.3k or 4.5M: at most six characters up to a billion.
std::string short_count(std::uint64_t number) {
    if (number < 10'000) return measure::grouped(number);
    const auto value = static_cast<double>(number);
    return number < 999'950 ? fmt::format("{:.1f}k", value / 1e3)
                            : fmt::format("{:.1f}M", value / 1e6);
}

std::string times_text(const TopInterval::Times& times) {
    const auto one = [](const std::optional<double>& ms) {
        return ms ? fmt::format("{:.{}f}", *ms, *ms < 10 ? 1 : 0) : std::string("-");
    };
    return one(times.p50_ms) + "/" + one(times.p99_ms);
}

void write_totals(const TopData& data, Page& page) {
    TopRequests sum;
    std::uint64_t saved = 0, ready = 0;
    for (const auto& node : data.nodes) {
        sum += node.requests;
        saved += node.saved_bytes;
        ready += node.state == "ready" ? 1 : 0;
    }
    const auto all = sum.total();
    page.part(fmt::format("{} of {} ready", ready, measure::amount(data.nodes.size(), "node")),
              ready == data.nodes.size() ? Ink::good : Ink::bad);
    // The most important part stands first, because a low terminal cuts the page.
    for (const auto& part :
         {fmt::format("errors {}", measure::grouped(sum.error)),
          fmt::format("hit rate {} % ({} local, {} peers)",
                      percent_text(sum.local_hit + sum.peer_hit, all),
                      percent_text(sum.local_hit, all), percent_text(sum.peer_hit, all)),
          fmt::format("origin {} %", percent_text(sum.origin_fetch, all)),
          fmt::format("saved {}", measure::size_text(static_cast<double>(saved))),
          fmt::format("refused {}", measure::grouped(sum.refused))})
        page.part(part);
    page.end();
    if (data.last.seconds <= 0) {
        page.line("this node: no interval has ended yet", Ink::dim);
        return;
    }
    const auto& r = data.last.requests;
    const auto rate = [&](std::uint64_t count) {
        return rate_text(static_cast<double>(count) / data.last.seconds);
    };
    for (const auto& part :
         {fmt::format("this node, {:.0f} s: {}/s", data.last.seconds, rate(r.total())),
          fmt::format("local {}", rate(r.local_hit)), fmt::format("peer {}", rate(r.peer_hit)),
          fmt::format("origin {}", rate(r.origin_fetch)), fmt::format("error {}", rate(r.error)),
          fmt::format("p50/p99 ms: local {}", times_text(data.last.local_hit)),
          fmt::format("peer {}", times_text(data.last.peer_hit)),
          fmt::format("origin {}", times_text(data.last.origin_fetch))})
        page.part(part);
    page.end();
}

/// Nodes with trouble first, then this one, then by name.
std::vector<const TopNode*> sorted(const std::vector<TopNode>& nodes) {
    std::vector<const TopNode*> out;
    for (const auto& node : nodes) out.push_back(&node);
    std::stable_sort(out.begin(), out.end(), [](const auto* a, const auto* b) {
        return std::tuple(a->state == "ready", !a->self, a->node) <
               std::tuple(b->state == "ready", !b->self, b->node);
    });
    return out;
}

/// The names of all nodes and of their peers, for a column of this table.
ShortNames names_of(const std::vector<const TopNode*>& nodes, std::size_t most) {
    std::set<std::string> names;
    for (const auto* node : nodes) {
        names.insert(node->node);
        for (const auto& link : node->links) names.insert(link.peer);
    }
    return short_names(names, most);
}

/// Of the column of nodes, which takes a quarter of the line at most.
std::size_t name_width(const std::vector<const TopNode*>& nodes, const ShortNames& names) {
    std::size_t width = 4;
    for (const auto* node : nodes) width = std::max(width, names.at(node->node).size());
    return width;
}
std::size_t most_of_names(std::size_t columns) {
    return std::clamp<std::size_t>(columns / 4, 4, 24);
}

/// "in step", or the first peer whose link is not, with the number of others. The links of a node
/// that sends no reports are as old as its last one, so they are "-".
std::string links_text(const TopNode& node, const ShortNames& names) {
    if (node.state == "down" || node.state == "silent") return "-";
    std::size_t out_of_step = 0;
    const TopLink* first = nullptr;
    for (const auto& link : node.links)
        if (link.state != "in_step" && out_of_step++ == 0) first = &link;
    if (first == nullptr) return node.links.empty() ? "-" : "in step";
    return fmt::format("{}: {}{}{}{}", names.at(first->peer), first->state,
                       first->reason.empty() ? "" : ", ", reason_words(first->reason),
                       out_of_step > 1 ? fmt::format(", {} more", out_of_step - 1) : "");
}

/// A column of the table of nodes, right-aligned.
struct NodeColumn {
    const char* title;
    std::size_t width;
    int rank;  // the column with the highest one makes room first; 0: it stays
    std::string (*text)(const TopNode&);
};
constexpr NodeColumn kNodeColumns[] = {
    {"requests", 8, 6, [](const TopNode& n) { return short_count(n.requests.total()); }},
    {"/s", 7, 0, [](const TopNode& n) { return rate_text(n.rate); }},
    {"local%", 6, 2,
     [](const TopNode& n) { return percent_text(n.requests.local_hit, n.requests.total()); }},
    {"peer%", 6, 3,
     [](const TopNode& n) { return percent_text(n.requests.peer_hit, n.requests.total()); }},
    {"orig%", 6, 1,
     [](const TopNode& n) { return percent_text(n.requests.origin_fetch, n.requests.total()); }},
    {"saved", 9, 7,
     [](const TopNode& n) { return measure::size_text(static_cast<double>(n.saved_bytes)); }},
    {"objects", 9, 8, [](const TopNode& n) { return short_count(n.objects); }},
    {"mem%", 5, 5, [](const TopNode& n) { return fmt::format("{:.0f}", n.memory * 100); }},
    {"disk%", 5, 4, [](const TopNode& n) { return fmt::format("{:.0f}", n.disk * 100); }},
    {"err 5m", 6, 0, [](const TopNode& n) { return short_count(n.errors_5m); }},
};
constexpr int kHighestRank = 8;
constexpr std::size_t kStateWidth = 9;
constexpr std::size_t kLinksWidth = 30;  // of the last column, which may be longer

/// The highest rank whose columns fit, so that the last column, with the trouble of links, has room
/// for `links` characters.
int rank_that_fits(std::size_t columns, std::size_t name, std::size_t links) {
    for (int rank = kHighestRank; rank > 0; --rank) {
        auto width = name + 2 + kStateWidth + 2 + links;
        for (const auto& column : kNodeColumns)
            if (column.rank <= rank) width += column.width + 1;
        if (width <= columns) return rank;
    }
    return 0;
}

void write_nodes(const std::vector<const TopNode*>& nodes, std::size_t most, Page& page) {
    const auto names = names_of(nodes, most_of_names(page.columns()));
    const auto width = name_width(nodes, names);
    const auto shown = nodes.size() > most ? most - 1 : nodes.size();
    std::size_t links_width = 0;
    for (std::size_t i = 0; i < shown; ++i)
        if (nodes[i]->has_report)
            links_width = std::max(links_width, links_text(*nodes[i], names).size());
    const auto rank =
        rank_that_fits(page.columns(), width, std::clamp<std::size_t>(links_width, 5, kLinksWidth));
    auto head = fmt::format("{:<{}}  {:<{}}", "node", width, "state", kStateWidth);
    for (const auto& column : kNodeColumns)
        if (column.rank <= rank) head += fmt::format(" {:>{}}", column.title, column.width);
    page.line(head + "  links", Ink::bold);
    for (std::size_t i = 0; i < shown; ++i) {
        const auto& n = *nodes[i];
        page.text(fmt::format("{:<{}}  ", names.at(n.node), width));
        page.text(fmt::format("{:<{}}", n.state, kStateWidth), ink_of(n.state));
        if (!n.has_report) {
            page.text(" ").text(n.reason.empty() ? "no report" : reason_words(n.reason));
            page.end();
            continue;
        }
        for (const auto& column : kNodeColumns)
            if (column.rank <= rank)
                page.text(fmt::format(" {:>{}}", column.text(n), column.width));
        const auto links = links_text(n, names);
        page.text("  ").text(links, links == "in step" || links == "-" ? Ink::plain : Ink::bad);
        page.end();
    }
    if (shown < nodes.size())
        page.line(fmt::format("and {}", measure::amount(nodes.size() - shown, "more node")),
                  Ink::dim);
}

/// The nodes with most peer hits, taken and given, in the order of their names.
std::vector<std::string> busiest(const std::vector<const TopNode*>& nodes, std::size_t most) {
    std::map<std::string, std::uint64_t> hits;
    for (const auto* node : nodes) {
        hits[node->node];
        for (const auto& link : node->links) {
            hits[node->node] += link.hits;
            hits[link.peer] += link.hits;
        }
    }
    std::vector<std::pair<std::string, std::uint64_t>> order(hits.begin(), hits.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (order.size() > most) order.resize(most);
    std::vector<std::string> names;
    for (auto& [name, sum] : order) names.push_back(std::move(name));
    std::sort(names.begin(), names.end());
    return names;
}

/// A row is a node that asked, a column the node that gave.
void write_matrix(const std::vector<const TopNode*>& nodes, std::size_t most, Page& page) {
    constexpr std::size_t kColumn = 8;
    constexpr std::string_view kCorner = "got \\ from";
    const auto rows = names_of(nodes, most_of_names(page.columns()));
    const auto columns = names_of(nodes, kColumn - 1);
    const auto row_name = [&](const std::string& name) {
        const auto& text = columns.at(name);
        return (text.starts_with('#') ? text + " " : "") + rows.at(name);
    };
    auto width = kCorner.size();
    for (const auto* node : nodes) width = std::max(width, row_name(node->node).size());
    const auto beside = page.columns() > width ? (page.columns() - width) / kColumn : 0;
    const auto names = busiest(nodes, std::min(most - 1, beside));
    if (names.size() < 2) return;
    auto head = fmt::format("{:<{}}", kCorner, width);
    for (const auto& name : names) head += fmt::format(" {:>{}}", columns.at(name), kColumn - 1);
    page.line(head, Ink::bold);
    for (const auto& asker : names) {
        std::map<std::string_view, std::uint64_t> row;
        for (const auto* node : nodes)
            if (node->node == asker)
                for (const auto& link : node->links) row[link.peer] = link.hits;
        page.text(fmt::format("{:<{}}", row_name(asker), width));
        for (const auto& giver : names) {
            const auto known = row.find(giver);
            const auto text = giver == asker       ? "."
                              : known == row.end() ? "-"
                                                   : short_count(known->second);
            page.text(fmt::format(" {:>{}}", text, kColumn - 1),
                      text == "." ? Ink::dim : Ink::plain);
        }
        page.end();
    }
}

void write_urls(const TopData& data, std::size_t most, Page& page) {
    page.line("requests  most requested URLs", Ink::bold);
    if (!data.urls_note.empty()) page.line("          " + data.urls_note, Ink::dim);
    for (std::size_t i = 0; i < std::min(most, data.urls.size()); ++i)
        page.line(
            fmt::format("{:>8}  {}", "~" + short_count(data.urls[i].requests), data.urls[i].url));
}

}  // namespace

std::vector<std::string> top_lines(const TopData& data, const TopSize& size,
                                   const std::string& trouble) {
    Page page(size);
    page.text("hearsay top  ", Ink::dim).text(data.node, Ink::bold);
    page.text(fmt::format("  {}, up {}", data.version, base::lasting(data.uptime_seconds)));
    if (size.rows > 0) page.text("   q ends", Ink::dim);
    page.end();
    if (!trouble.empty()) page.line(trouble, Ink::bad);
    if (!data.fault.empty()) page.line("! " + data.fault, Ink::bad);
    write_totals(data, page);
    page.end();

    const auto nodes = sorted(data.nodes);
    // URLs get the lines that nodes and matrix leave, and five at least if there are so many.
    const auto room = page.room();
    const auto all = size.rows == 0;
    constexpr std::size_t kUrls = 7;
    const auto upper = all ? room : room - std::min(room, kUrls);
    const bool has_matrix = nodes.size() > 1;
    const auto for_nodes = all          ? nodes.size()
                           : has_matrix ? std::max<std::size_t>(3, upper / 2)
                                        : std::max<std::size_t>(3, upper);
    write_nodes(nodes, std::max<std::size_t>(for_nodes, 1), page);
    if (has_matrix && (all || page.room() > kUrls + 4)) {
        page.end();
        write_matrix(nodes, all ? 16 : std::max<std::size_t>(page.room() - kUrls, 3), page);
    }
    if (all || page.room() > 2) {
        page.end();
        write_urls(data, all ? 20 : page.room() - std::min<std::size_t>(page.room(), 1), page);
    }
    return page.take();
}

std::string top_frame(const std::vector<std::string>& shown, const std::vector<std::string>& lines,
                      bool anew) {
    std::string out;
    if (anew) out += "\x1b[H\x1b[2J";
    const auto last = std::max(lines.size(), anew ? 0 : shown.size());
    for (std::size_t i = 0; i < last; ++i) {
        static const std::string kEmpty;
        const auto& now = i < lines.size() ? lines[i] : kEmpty;
        const auto& before = !anew && i < shown.size() ? shown[i] : kEmpty;
        if (now == before) continue;
        out += fmt::format("\x1b[{};1H{}\x1b[K", i + 1, now);
    }
    // Terminals that know this mode show the frame as a whole; others ignore it.
    return out.empty() ? out : "\x1b[?2026h" + out + "\x1b[?2026l";
}

}  // namespace app
