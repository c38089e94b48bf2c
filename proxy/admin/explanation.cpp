#include "proxy/admin/explanation.hpp"

#include <nlohmann/json.hpp>
#include <optional>

#include "proxy/http/escape.hpp"

namespace proxy {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kUsage =
    "It takes ?url= and a whole URL, percent-encoded: ?url=http%3A%2F%2Fhost%2Fpath.";

double seconds(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

ordered_json peer_json(const Explanation::Peer& peer) {
    auto out = ordered_json::object();
    out["node"] = peer.node;
    out["claims"] = peer.promises;
    out["has"] = peer.has.empty() ? ordered_json(nullptr) : ordered_json(peer.has);
    out["choice"] = peer.choice;
    out["turn"] = peer.turn == 0 ? ordered_json(nullptr) : ordered_json(peer.turn);
    out["round_trip_seconds"] = seconds(peer.round_trip);
    return out;
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
    auto peers = ordered_json::array();
    for (const auto& peer : explanation.peers) peers.push_back(peer_json(peer));
    auto page = ordered_json::object();
    page["url"] = explanation.url;
    page["rule"] =
        explanation.rule.empty() ? ordered_json(nullptr) : ordered_json(explanation.rule);
    if (explanation.follow_redirects) page["follow_redirects"] = true;
    if (!explanation.mirror.empty()) {
        page["public"] = explanation.mirror;
        page["url_at_origin"] = explanation.url_at_origin;
        if (explanation.rewritten) page["rewritten"] = true;
    }
    if (explanation.authorize) page["authorize"] = true;
    if (!explanation.min_age.empty()) page["min_age"] = explanation.min_age;
    if (!explanation.first_seen.empty()) page["first_seen"] = explanation.first_seen;
    if (!explanation.refused.empty()) page["refused"] = explanation.refused;
    page["here"] = explanation.here;
    page["ttl_seconds"] =
        explanation.ttl ? ordered_json(explanation.ttl->count()) : ordered_json(nullptr);
    if (explanation.stored) {
        const auto& stored = *explanation.stored;
        page["age_seconds"] = stored.age.count();
        page["lifetime_seconds"] = stored.lifetime.count();
        page["body_bytes"] = stored.body_bytes;
        if (const auto size = stored.block_bytes; size > 0)
            page["blocks"] = {{"count", (stored.body_bytes + size - 1) / size}, {"bytes", size}};
    }
    page["variants"] = explanation.variants;
    if (explanation.not_stored)
        page["not_stored"] = {{"verdict", explanation.not_stored->verdict},
                              {"seconds_ago", explanation.not_stored->ago.count()}};
    page["just_invalidated"] = explanation.just_invalidated;
    page["blocklist"] = explanation.blocklist.empty()
                            ? ordered_json(nullptr)
                            : ordered_json{{"entry", explanation.blocklist},
                                           {"action", explanation.blocklist_action}};
    page["destination_denied"] = explanation.destination.empty()
                                     ? ordered_json(nullptr)
                                     : ordered_json(explanation.destination);
    if (!explanation.target_refused.empty()) page["target_refused"] = explanation.target_refused;
    if (!explanation.intercepted.empty()) page["intercepted"] = explanation.intercepted;
    page["origin"] = explanation.origin;
    page["servers"] = explanation.servers;
    page["origin_answer_seconds"] = seconds(explanation.origin_time);
    page["beside_the_origin"] = explanation.beside_the_origin;
    page["peers"] = std::move(peers);
    return page.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace proxy
