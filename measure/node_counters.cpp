#include "measure/node_counters.hpp"

#include <nlohmann/json.hpp>

namespace measure {
namespace {

using Json = nlohmann::json;

constexpr std::chrono::milliseconds kClockSlack{50};  // uptimes are rounded

/// Every counter that only grows, so that differences and sums are written once.
constexpr std::uint64_t NodeCounters::*kCounters[] = {&NodeCounters::total,
                                                      &NodeCounters::local_hit,
                                                      &NodeCounters::peer_hit,
                                                      &NodeCounters::origin_fetch,
                                                      &NodeCounters::uncacheable,
                                                      &NodeCounters::error,
                                                      &NodeCounters::origin_requests,
                                                      &NodeCounters::peer_requests,
                                                      &NodeCounters::bytes_to_clients,
                                                      &NodeCounters::bytes_from_peers,
                                                      &NodeCounters::bytes_from_origins,
                                                      &NodeCounters::announcements_sent,
                                                      &NodeCounters::announcements_received,
                                                      &NodeCounters::heartbeats_sent,
                                                      &NodeCounters::link_bytes_sent,
                                                      &NodeCounters::link_bytes_received,
                                                      &NodeCounters::evictions};
constexpr std::uint64_t PeerCounters::*kPeerCounters[] = {
    &PeerCounters::asked,      &PeerCounters::hits,    &PeerCounters::false_hits,
    &PeerCounters::stale_hits, &PeerCounters::refused, &PeerCounters::failures,
    &PeerCounters::given};

const Json& part(const Json& object, const char* name) {
    static const Json kNone = Json::object();
    const auto at = object.find(name);
    return at != object.end() && at->is_object() ? *at : kNone;
}

template <typename T>
void take(const Json& object, const char* name, T& out) {
    const auto at = object.find(name);
    if (at == object.end()) return;
    if constexpr (std::is_same_v<T, std::string>) {
        if (at->is_string()) out = at->get<std::string>();
    } else if constexpr (std::is_same_v<T, bool>) {
        if (at->is_boolean()) out = at->get<bool>();
    } else {
        if (at->is_number()) out = at->get<T>();
    }
}

PeerCounters parse_peer(const Json& json) {
    PeerCounters out;
    take(json, "node", out.node);
    take(json, "state", out.state);
    take(json, "lag_seconds", out.lag_seconds);
    take(json, "asked", out.asked);
    take(json, "hits", out.hits);
    take(json, "false_hits", out.false_hits);
    take(json, "stale_hits", out.stale_hits);
    take(json, "refused", out.refused);
    take(json, "failures", out.failures);
    take(json, "given", out.given);
    return out;
}

PeerCounters& peer_of(NodeCounters& node, const std::string& name) {
    for (auto& peer : node.peers) {
        if (peer.node == name) return peer;
    }
    auto& added = node.peers.emplace_back();
    added.node = name;
    return added;
}

/// Adds what `to` counted since `from`, which is of the same run of the process.
void add_difference(NodeCounters& sum, const NodeCounters& from, const NodeCounters& to) {
    for (const auto member : kCounters) sum.*member += to.*member - from.*member;
    for (const auto& peer : to.peers) {
        PeerCounters& out = peer_of(sum, peer.node);
        const PeerCounters* before = from.peer(peer.node);
        for (const auto member : kPeerCounters) {
            out.*member += peer.*member - (before ? before->*member : 0);
        }
    }
}

bool went_back(const NodeCounters& from, const NodeCounters& to) {
    for (const auto member : kCounters) {
        if (to.*member < from.*member) return true;
    }
    for (const auto& peer : to.peers) {
        const PeerCounters* before = from.peer(peer.node);
        for (const auto member : kPeerCounters) {
            if (before && peer.*member < before->*member) return true;
        }
    }
    return false;
}

template <typename Member>
std::uint64_t sum_over_peers(const NodeCounters& node, Member member) {
    std::uint64_t sum = 0;
    for (const auto& peer : node.peers) sum += peer.*member;
    return sum;
}

}  // namespace

const PeerCounters* NodeCounters::peer(std::string_view name) const {
    for (const auto& peer : peers) {
        if (peer.node == name) return &peer;
    }
    return nullptr;
}

std::uint64_t NodeCounters::false_hits() const {
    return sum_over_peers(*this, &PeerCounters::false_hits);
}
std::uint64_t NodeCounters::other_refusals() const {
    return sum_over_peers(*this, &PeerCounters::stale_hits) +
           sum_over_peers(*this, &PeerCounters::refused);
}
std::uint64_t NodeCounters::failures() const {
    return sum_over_peers(*this, &PeerCounters::failures);
}
bool NodeCounters::in_step() const {
    for (const auto& peer : peers) {
        if (peer.state != "in_step") return false;
    }
    return true;
}

std::optional<NodeCounters> parse_status(std::string_view text, std::string& why) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("requests")) {
        why = "the answer is not the status of a hearsay node";
        return std::nullopt;
    }
    NodeCounters out;
    take(json, "node", out.node);
    take(json, "uptime_seconds", out.uptime_seconds);
    take(json, "ready", out.ready);
    take(json, "draining", out.draining);
    take(part(json, "config"), "last_error", out.reload_error);
    const Json& requests = part(json, "requests");
    take(requests, "total", out.total);
    take(requests, "local_hit", out.local_hit);
    take(requests, "peer_hit", out.peer_hit);
    take(requests, "origin_fetch", out.origin_fetch);
    take(requests, "uncacheable", out.uncacheable);
    take(requests, "error", out.error);
    const Json& upstream = part(json, "upstream");
    take(upstream, "origin_requests", out.origin_requests);
    take(upstream, "peer_requests", out.peer_requests);
    const Json& bytes = part(json, "bytes");
    take(bytes, "to_clients", out.bytes_to_clients);
    take(bytes, "from_peers", out.bytes_from_peers);
    take(bytes, "from_origins", out.bytes_from_origins);
    const Json& cache = part(json, "cache");
    take(cache, "objects", out.cache_objects);
    take(cache, "memory_bytes", out.cache_memory_bytes);
    take(cache, "evictions", out.evictions);
    const Json& cluster = part(json, "cluster");
    take(cluster, "announcements_sent", out.announcements_sent);
    take(cluster, "announcements_received", out.announcements_received);
    take(cluster, "heartbeats_sent", out.heartbeats_sent);
    take(cluster, "bytes_sent", out.link_bytes_sent);
    take(cluster, "bytes_received", out.link_bytes_received);
    if (const auto names = cluster.find("names"); names != cluster.end() && names->is_array()) {
        for (const auto& entry : *names) {
            auto& name = out.names.emplace_back();
            take(entry, "dns", name.name);
            take(entry, "places", name.places);
            take(entry, "trouble", name.trouble);
        }
    }
    if (const auto places = cluster.find("unanswered");
        places != cluster.end() && places->is_array()) {
        for (const auto& place : *places)
            if (place.is_string()) out.unanswered.push_back(place);
    }
    if (const auto peers = cluster.find("peers"); peers != cluster.end() && peers->is_array()) {
        for (const auto& peer : *peers) out.peers.push_back(parse_peer(peer));
    }
    return out;
}

std::optional<NodeCounters> fetch_status(const Address& admin, std::chrono::milliseconds timeout,
                                         std::string& why) {
    const auto answer = http_get(admin, "/api/v1/status", timeout, admin_token());
    if (!answer) {
        why = answer.error().message();
        return std::nullopt;
    }
    if (answer->status != 200) {
        why = "status " + std::to_string(answer->status);
        if (answer->status == 401) why += " (set HEARSAY_ADMIN_TOKEN)";
        return std::nullopt;
    }
    return parse_status(answer->body, why);
}

void CounterTrack::sample(const NodeCounters& now, Time asked, Time answered) {
    // The moment the process started moves only when another process stands there.
    const std::chrono::duration<double> uptime(now.uptime_seconds);
    const bool started_later = asked.time_since_epoch() - uptime > started_by_ + kClockSlack;
    if (!last_) {
        base_ = now;
        objects_before_ = now.cache_objects;
    } else if (started_later || went_back(*last_, now)) {
        ++restarts_;
        add_difference(earlier_runs_, *base_, *last_);
        base_ = NodeCounters{};  // the new run began at zero
    }
    last_ = now;
    started_by_ = answered.time_since_epoch() - uptime;
}

NodeCounters CounterTrack::counted() const {
    NodeCounters out = earlier_runs_;
    if (!last_) return out;
    add_difference(out, *base_, *last_);
    out.node = last_->node;
    out.uptime_seconds = last_->uptime_seconds;
    out.ready = last_->ready;
    out.cache_objects = last_->cache_objects;
    out.cache_memory_bytes = last_->cache_memory_bytes;
    for (const auto& peer : last_->peers) {
        PeerCounters& mine = peer_of(out, peer.node);
        mine.state = peer.state;
        mine.lag_seconds = peer.lag_seconds;
    }
    return out;
}

std::vector<Book> books_between(const std::vector<NodeCounters>& nodes) {
    std::vector<Book> books;
    for (const auto& asker : nodes) {
        for (const auto& giver : nodes) {
            if (&asker == &giver) continue;
            const PeerCounters* asked = asker.peer(giver.node);
            const PeerCounters* gave = giver.peer(asker.node);
            if (!asked || !gave) continue;
            books.push_back({asker.node, giver.node, asked->hits, gave->given, asked->failures});
        }
    }
    return books;
}

}  // namespace measure
