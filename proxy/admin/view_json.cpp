#include "proxy/admin/view_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "proxy/admin/answers_json.hpp"
#include "proxy/config/config_json.hpp"
#include "proxy/config/setting.hpp"

namespace proxy {
namespace {

using nlohmann::ordered_json;

std::string page_text(const ordered_json& page) {
    return page.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

double unix_seconds(std::chrono::system_clock::time_point time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
}

template <class Value>
ordered_json by_outcome(const Value& value) {
    auto out = ordered_json::object();
    for (const auto outcome : kEachOf<Outcome>)
        out[std::string(to_string(outcome))] = value(static_cast<std::size_t>(outcome));
    return out;
}

ordered_json known_or_null(float ms) {
    return ms < 0 ? ordered_json() : ordered_json(static_cast<double>(ms));
}

ordered_json milliseconds_json(const std::array<float, kEnumSize<Outcome>>& values, float all) {
    auto out = by_outcome([&](std::size_t i) { return known_or_null(values[i]); });
    out["all"] = known_or_null(all);
    return out;
}

ordered_json point_json(const HistoryPoint& point, ClockPair now) {
    auto out = ordered_json::object();
    const auto age = now.steady - point.end;
    out["t"] = unix_seconds(now.wall -
                            std::chrono::duration_cast<std::chrono::system_clock::duration>(age));
    out["seconds"] = point.seconds;
    out["requests"] = by_outcome([&](std::size_t i) { return point.requests[i]; });
    out["bytes"] = {{"to_clients", point.to_clients},
                    {"from_peers", point.from_peers},
                    {"from_origins", point.from_origins}};
    out["p50_ms"] = milliseconds_json(point.p50_ms, point.all_p50_ms);
    out["p99_ms"] = milliseconds_json(point.p99_ms, point.all_p99_ms);
    out["refused"] = point.refused;
    return out;
}

ordered_json counts_json(const std::map<std::string, SiteCount, std::less<>>& counts,
                         const char* key) {
    auto out = ordered_json::array();
    for (const auto& [name, count] : counts)
        out.push_back(
            {{key, name},
             {"requests", by_outcome([&c = count](std::size_t i) { return c.requests.values[i]; })},
             {"bytes_to_clients", count.bytes_to_clients},
             {"origin", answers_json(count.origin)}});
    return out;
}

ordered_json entries_json(const std::vector<SpaceSaving::Entry>& entries, const char* key) {
    auto out = ordered_json::array();
    for (const auto& entry : entries)
        out.push_back(
            {{key, entry.text}, {"requests", entry.count}, {"at_most_too_many", entry.too_many}});
    return out;
}

/// The defaults beside the sections that `config` has.
Config defaults_beside(const Config& config) {
    Config defaults;
    if (config.cluster) defaults.cluster.emplace();
    if (config.tls) defaults.tls.emplace();
    if (config.forward.authentication) defaults.forward.authentication.emplace();
    if (config.forward.intercept) defaults.forward.intercept.emplace();
    if (config.tracing) defaults.tracing.emplace();
    return defaults;
}

/// A required setting has no default, nor has one whose default follows from others.
bool has_default(std::string_view path) {
    return std::ranges::none_of(setting_table(), [path](const Setting& setting) {
        return setting.path == path && (setting.required || !setting.default_text.empty());
    });
}

/// Adds the leaves of `shown`. Lists are leaves.
void add_settings(const ordered_json& shown, const ordered_json& defaults, const std::string& path,
                  const LoadedConfig& config, ordered_json& out) {
    for (const auto& [key, value] : shown.items()) {
        const auto at = path.empty() ? key : path + '.' + key;
        const auto is_known = defaults.is_object() && defaults.contains(key);
        const auto& usual = is_known ? defaults[key] : ordered_json();
        if (value.is_object()) {
            add_settings(value, usual, at, config, out);
            continue;
        }
        const auto is_given = config.given.contains("$." + at) || config.gives_below("$." + at);
        out.push_back({{"name", at},
                       {"value", value},
                       {"default", has_default(at) ? usual : ordered_json()},
                       {"source", is_given ? "file" : "default"}});
    }
}

}  // namespace

std::string history_json(const std::string& node, Span span, std::chrono::seconds interval,
                         const std::vector<HistoryPoint>& points, ClockPair now) {
    ordered_json::array_t list;
    list.reserve(points.size());
    for (const auto& point : points) list.push_back(point_json(point, now));
    auto page = ordered_json::object();
    page["node"] = node;
    page["now"] = unix_seconds(now.wall);
    page["span"] = name(span);
    page["interval_seconds"] = interval.count();
    page["points"] = std::move(list);
    return page.dump() + "\n";  // up to a thousand points: without indents
}

std::string recent_errors_json(const std::vector<RecentErrors::Line>& lines) {
    auto list = ordered_json::array();
    for (const auto& line : lines)
        list.push_back({{"t", unix_seconds(line.at)},
                        {"level", line.is_error ? "error" : "warn"},
                        {"text", line.text}});
    return page_text({{"errors", std::move(list)}});
}

std::string sites_json(const SiteTotals& totals) {
    return page_text({{"sites", counts_json(totals.sites, "site")},
                      {"rules", counts_json(totals.rules, "rule")}});
}

std::string top_json(const TopLists& lists) {
    if (!lists.has_urls && !lists.has_clients) return page_text({{"off", true}});
    const auto list_or_null = [](bool is_on, const auto& entries, const char* key) {
        return is_on ? entries_json(entries, key) : ordered_json();
    };
    return page_text({{"urls", list_or_null(lists.has_urls, lists.urls, "url")},
                      {"clients", list_or_null(lists.has_clients, lists.clients, "client")}});
}

std::string settings_json(const LoadedConfig& config) {
    auto list = ordered_json::array();
    add_settings(config_json(config), config_json(defaults_beside(config)), {}, config, list);
    return page_text({{"settings", std::move(list)}});
}

}  // namespace proxy
