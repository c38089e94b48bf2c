#pragma once

#include <string>
#include <vector>

#include "measure/report/page.hpp"
#include "measure/report/report.hpp"

namespace measure {

/// The page is at most this long for two reports: the reports of `demo --disk`.
inline constexpr std::size_t kMaxPageBytes = 200'000;

/// Renders the reports of one run as one self-contained page in the style of the dashboard: hit
/// rates over the course of the run, who gave whom, latency by outcome, and the table of
/// report_text(). Of very many proxies the page shows the pairs with most hits, and the first lines
/// of the table.
std::string report_html(const std::vector<Report>& reports, const PageFacts& facts);

/// Peer hits of one node at another.
struct GivenHits {
    std::string asker, giver;
    std::uint64_t hits = 0;
};
/// Of all pairs of nodes whose counters were read, those without hits too. In the order of the
/// rows.
std::vector<GivenHits> given_hits(const Report& report);

}  // namespace measure
