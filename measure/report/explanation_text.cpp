#include "measure/report/explanation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "measure/report/writer.hpp"
#include "measure/trace/printable.hpp"

namespace measure {
namespace {

using ReportedJson = nlohmann::json;

std::string text_of(const ReportedJson& from, const char* name) {
    const auto at = from.find(name);
    return at != from.end() && at->is_string() ? printable(at->get<std::string>()) : std::string();
}

bool is_true(const ReportedJson& from, const char* name) {
    return from.value(name, ReportedJson()) == ReportedJson(true);
}

/// Returns 0 if the field is missing.
double number_of(const ReportedJson& from, const char* name) {
    const auto at = from.find(name);
    return at != from.end() && at->is_number() ? at->get<double>() : 0;
}

std::string milliseconds_text(double seconds) {
    return seconds > 0 ? fmt::format("{:.1f} ms", seconds * 1000) : "not known";
}

constexpr std::int64_t kSecondsPerDay = 24 * 3600;
constexpr std::int64_t kInDaysFrom = 2 * kSecondsPerDay;

std::string here_text(const ReportedJson& page) {
    auto word = text_of(page, "here");
    const auto ttl = page.find("ttl_seconds");
    const bool has_ttl = ttl != page.end() && ttl->is_number_integer();
    const auto seconds = has_ttl ? ttl->get<std::int64_t>() : 0;
    if (!has_ttl) return word;
    if (is_true(page, "authorize")) return "stored, and the origin confirms each use";
    constexpr std::int64_t kForEver = std::numeric_limits<std::int32_t>::max();
    const auto lifetime = static_cast<std::int64_t>(number_of(page, "lifetime_seconds"));
    if (std::max(seconds, lifetime) >= kForEver && seconds > 0) return word + " for ever";
    if (seconds == 0 && word == "stale") return word;
    if (seconds > kInDaysFrom)
        return fmt::format("{}, for {} days more", word, seconds / kSecondsPerDay);
    return seconds >= 0 ? fmt::format("{}, for {} s more", word, seconds)
                        : fmt::format("{}, for {} s", word, -seconds);
}

/// Compares a summary's promise with the content of the peer.
std::string verdict(const ReportedJson& peer) {
    const auto has = text_of(peer, "has");
    if (has == "absent" && is_true(peer, "claims")) return "a false hit";
    return has == "has" && !is_true(peer, "claims") ? "a false miss" : "";
}

/// The peers that a miss would ask, in turn.
std::vector<std::string> asked(const ReportedJson& peers) {
    std::vector<std::pair<double, std::string>> turns;
    for (const auto& peer : peers)
        if (number_of(peer, "turn") > 0)
            turns.emplace_back(number_of(peer, "turn"), text_of(peer, "node"));
    std::sort(turns.begin(), turns.end());
    std::vector<std::string> names;
    for (auto& [turn, name] : turns) names.push_back(std::move(name));
    return names;
}

std::string whom_a_miss_asks(const ReportedJson& page, const ReportedJson& peers) {
    const auto turns = asked(peers);
    if (turns.empty())
        return is_true(page, "just_invalidated")
                   ? "the origin: it was invalidated less than 2 s ago"
                   : "the origin";
    if (is_true(page, "beside_the_origin"))
        return fmt::format("the origin, and {} beside it to learn how far it is", turns.front());
    std::string out;
    for (const auto& name : turns) out += name + ", then ";
    return out + "the origin";
}

/// The texts in the array `name`; empty without one.
std::string joined(const ReportedJson& page, const char* name, std::string_view between) {
    std::string out;
    const auto all = page.find(name);
    if (all == page.end() || !all->is_array()) return out;
    for (const auto& each : *all)
        if (each.is_string())
            out.append(out.empty() ? "" : between).append(each.get<std::string>());
    return out;
}

void write_one_fetch(const ReportedJson& page, bool has_peers, Writer& out) {
    if (const auto fetcher = text_of(page, "fetched_by"); !fetcher.empty())
        out.line("  fetched by: {}, which others follow", fetcher);
    else if (const auto point = text_of(page, "meeting_point"); !point.empty() && has_peers)
        out.line("  who fetches it: {} knows", point);
    if (const auto node = text_of(page, "renewed_by"); !node.empty())
        out.line("  renewed by: {}", node);
}

void write_peers(const ReportedJson& peers, Writer& out) {
    std::size_t width = 16;
    for (const auto& peer : peers) width = std::max(width, text_of(peer, "node").size());
    out.line("");
    out.line("{:<{}} {:>7} {:>10} {:>16} {:>11}", "peer", width, "claims", "has it", "choice",
             "round trip");
    for (const auto& peer : peers) {
        auto has = text_of(peer, "has");
        if (has.empty()) has = "not asked";
        auto choice = text_of(peer, "choice");
        if (const auto turn = number_of(peer, "turn"); turn > 0)
            choice += fmt::format(" {:.0f}", turn);
        out.line("{:<{}} {:>7} {:>10} {:>16} {:>11}  {}", text_of(peer, "node"), width,
                 is_true(peer, "claims") ? "yes" : "no", has == "has" ? "yes" : has, choice,
                 milliseconds_text(number_of(peer, "round_trip_seconds")), verdict(peer));
    }
}

}  // namespace

std::string explanation_text(std::string_view json, std::string& why) {
    const auto page = ReportedJson::parse(json, nullptr, false);
    if (!page.is_object() || text_of(page, "here").empty()) {
        why = "the server there does not explain URLs";
        return {};
    }
    const auto at = page.find("peers");
    const auto peers = at != page.end() && at->is_array() ? *at : ReportedJson::array();
    Writer out(false);
    out.line("{}", text_of(page, "url"));
    if (const auto rule = text_of(page, "rule"); !rule.empty()) out.line("  rule: {}", rule);
    if (const auto mirror = text_of(page, "public"); !mirror.empty()) {
        out.line("  public: {}{}", mirror,
                 is_true(page, "rewritten") ? " (the stored response is rewritten for it)" : "");
        out.line("  url at the origin: {}", text_of(page, "url_at_origin"));
    }
    if (const auto entry = text_of(page, "intercepted"); !entry.empty())
        out.line("  intercepted: the node reads it inside CONNECT (forward.intercept: {})", entry);
    if (is_true(page, "follow_redirects")) out.line("  redirects: the node follows them");
    if (const auto age = text_of(page, "min_age"); !age.empty()) {
        const auto seen = text_of(page, "first_seen");
        out.line("  min_age: {}{}", age, seen.empty() ? "" : " (first seen at " + seen + ")");
    }
    out.line("  here: {}", here_text(page));
    if (const auto listed = page.find("blocklist"); listed != page.end() && listed->is_object())
        out.line("  blocklist: {} ({})", text_of(*listed, "entry"), text_of(*listed, "action"));
    if (const auto denied = text_of(page, "destination_denied"); !denied.empty())
        out.line("  refused by forward.destinations: {}", denied);
    if (const auto refused = text_of(page, "refused"); !refused.empty()) {
        out.line("  a client gets: {}", refused);
        return out.take();
    }
    out.line("  origin: {}, which answers after: {}", text_of(page, "origin"),
             milliseconds_text(number_of(page, "origin_answer_seconds")));
    if (const auto addresses = joined(page, "origin_addresses", ", "); !addresses.empty())
        out.line("  addresses of the origin: {}", addresses);
    if (const auto fault = text_of(page, "origin_fault"); !fault.empty())
        out.line("  fault: {}", fault);
    if (const auto order = joined(page, "servers", ", then "); !order.empty())
        out.line("  servers: {}", order);
    if (const auto refused = text_of(page, "target_refused"); !refused.empty())
        out.line("  a client gets: {}, unless this node or a peer has the content", refused);
    out.line("  a miss would ask: {}", whom_a_miss_asks(page, peers));
    write_one_fetch(page, !peers.empty(), out);
    if (!peers.empty()) write_peers(peers, out);
    return out.take();
}

std::string percent_encoded(std::string_view text) {
    constexpr std::string_view kPlain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    std::string out;
    for (const char each : text) {
        if (kPlain.find(each) != std::string_view::npos)
            out += each;
        else
            out += fmt::format("%{:02X}", static_cast<unsigned char>(each));
    }
    return out;
}

}  // namespace measure
