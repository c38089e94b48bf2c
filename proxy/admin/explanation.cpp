#include "proxy/admin/explanation.hpp"

#include <nlohmann/json.hpp>

#include "proxy/http/escape.hpp"

namespace proxy {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kUsage =
    "It takes ?url= and a whole URL, percent-encoded: ?url=http%3A%2F%2Fhost%2Fpath.";

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

template <class Text>
ordered_json text_or_null(const Text& text) {
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json peer_json(const Explanation::Peer& peer) {
    auto out = ordered_json::object();
    out["node"] = peer.node;
    out["claims"] = peer.promises;
    out["has"] = text_or_null(peer.has);
    out["choice"] = peer.choice;
    out["turn"] = peer.turn == 0 ? ordered_json(nullptr) : ordered_json(peer.turn);
    out["round_trip_seconds"] = seconds(peer.round_trip);
    return out;
}

void put_rule(ordered_json& page, const Explanation::Rule& rule,
              const Explanation::Mirror& mirror) {
    page["rule"] = text_or_null(rule.name);
    if (rule.follow_redirects) page["follow_redirects"] = true;
    if (!mirror.url.empty()) {
        page["public"] = mirror.url;
        page["url_at_origin"] = mirror.url_at_origin;
        if (mirror.rewritten) page["rewritten"] = true;
    }
    if (rule.authorize) page["authorize"] = true;
    if (!rule.min_age.empty()) page["min_age"] = rule.min_age;
    if (!rule.first_seen.empty()) page["first_seen"] = rule.first_seen;
}

void put_store(ordered_json& page, const Explanation::Store& store) {
    page["here"] = store.here;
    page["ttl_seconds"] = store.ttl ? ordered_json(store.ttl->count()) : ordered_json(nullptr);
    if (store.stored) {
        const auto& stored = *store.stored;
        page["age_seconds"] = stored.age.count();
        page["lifetime_seconds"] = stored.lifetime.count();
        page["body_bytes"] = stored.body_bytes;
        if (const auto size = stored.block_bytes; size > 0)
            page["blocks"] = {{"count", (stored.body_bytes + size - 1) / size}, {"bytes", size}};
    }
    page["variants"] = store.variants;
    if (store.not_stored)
        page["not_stored"] = {{"verdict", store.not_stored->verdict},
                              {"seconds_ago", store.not_stored->ago.count()}};
    page["just_invalidated"] = store.just_invalidated;
}

void put_access(ordered_json& page, const Explanation::Access& access) {
    page["blocklist"] =
        access.blocklist.empty()
            ? ordered_json(nullptr)
            : ordered_json{{"entry", access.blocklist}, {"action", access.blocklist_action}};
    page["destination_denied"] = text_or_null(access.destination);
    if (!access.target_refused.empty()) page["target_refused"] = access.target_refused;
    if (!access.intercepted.empty()) page["intercepted"] = access.intercepted;
}

}  // namespace

std::variant<CacheKey, std::string> explained_url(std::string_view target) {
    const auto query = target.find('?');
    const auto parameters =
        query == std::string_view::npos ? std::string_view() : target.substr(query + 1);
    constexpr std::string_view kName = "url=";
    // A URL in plain form would lose the part behind its first `&`.
    if (!parameters.starts_with(kName) || parameters.find('&') != std::string_view::npos)
        return std::string(kUsage);
    const auto url = percent_decoded(parameters.substr(kName.size()));
    if (!url) return std::string(kUsage);
    CacheKey key;
    const auto error = key.assign_url(*url);
    if (error != TargetError::none)
        return "url must be a whole URL, http://host/path: " + std::string(to_string(error)) + ".";
    return key;
}

std::string explanation_json(const Explanation& explanation) {
    auto page = ordered_json::object();
    page["url"] = explanation.url;
    put_rule(page, explanation.rule, explanation.mirror);
    if (!explanation.access.refused.empty()) page["refused"] = explanation.access.refused;
    put_store(page, explanation.store);
    put_access(page, explanation.access);
    const auto& origin = explanation.origin;
    page["origin"] = origin.place;
    page["servers"] = origin.servers;
    page["origin_addresses"] = origin.addresses;
    page["origin_fault"] = text_or_null(origin.fault);
    page["origin_answer_seconds"] = seconds(origin.time);
    page["beside_the_origin"] = explanation.beside_the_origin;
    page["meeting_point"] = text_or_null(explanation.one_fetch.meeting_point);
    page["fetched_by"] = text_or_null(explanation.one_fetch.fetcher);
    page["renewed_by"] = text_or_null(explanation.one_fetch.renewed_by);
    auto& peers = page["peers"] = ordered_json::array();
    for (const auto& peer : explanation.peers) peers.push_back(peer_json(peer));
    return page.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace proxy
