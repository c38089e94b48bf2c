#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "proxy/config/loaded_config.hpp"
#include "proxy/telemetry/history.hpp"
#include "proxy/telemetry/recent_errors.hpp"
#include "proxy/telemetry/site_counts.hpp"
#include "proxy/telemetry/space_saving.hpp"

namespace proxy {

// The pages of the dashboard's data that are not of the whole cluster, as JSON text. Any thread.

/// The most frequent URLs and clients of all workers.
struct TopLists {
    bool has_urls = false, has_clients = false;  // by the settings
    std::vector<SpaceSaving::Entry> urls, clients;
};

/// `node`: its name, or `*` for the sum over all nodes.
std::string history_json(const std::string& node, Span span, std::chrono::seconds interval,
                         const std::vector<HistoryPoint>& points, ClockPair now);
std::string recent_errors_json(const std::vector<RecentErrors::Line>& lines);
std::string sites_json(const SiteTotals& totals);
std::string top_json(const TopLists& lists);
/// Every setting in effect, with its value, its default (null: there is none) and its source.
std::string settings_json(const LoadedConfig& config);

}  // namespace proxy
