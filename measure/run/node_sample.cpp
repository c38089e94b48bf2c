#include "measure/run/node_sample.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "measure/run/http_get.hpp"
#include "measure/run/status_faults.hpp"
#include "measure/trace/printable.hpp"
#include "proxy/telemetry/leaving_redirects.hpp"

namespace measure {
namespace {

using StatusJson = nlohmann::json;

constexpr std::chrono::milliseconds kClockSlack{50};  // uptimes are rounded

/// The node's sums that its tables do not describe.
constexpr base::CounterRow<NodeSample> kTotals[] = {
    {&NodeSample::total, "requests.total", "requests", "", ""},
    {&NodeSample::local_hit, "requests.local_hit", "requests", "", ""},
    {&NodeSample::peer_hit, "requests.peer_hit", "requests", "", ""},
    {&NodeSample::origin_fetch, "requests.origin_fetch", "requests", "", ""},
    {&NodeSample::uncacheable, "requests.uncacheable", "requests", "", ""},
    {&NodeSample::error, "requests.error", "requests", "", ""},
    {&NodeSample::refused, "requests.refused", "requests", "", ""},
    {&NodeSample::evictions, "cache.evictions", "responses", "", ""},
};

/// Calls `act` with each table and the numbers that it describes, for all `nodes`.
template <typename Act, typename... Nodes>
void for_each_table(const Act& act, Nodes&... nodes) {
    act(kTotals, nodes...);
    act(proxy::kTrafficCounters, nodes.traffic...);
    act(proxy::kCacheCounters, nodes.cache...);
    act(proxy::kStoreDiskNumbers, nodes.store_disk...);
    act(protocol::kLinkCounters, nodes.links...);
}

template <typename Of>
bool grows(const base::CounterRow<Of>& number) {
    return number.kind == base::NumberKind::counter;
}

const StatusJson& part(const StatusJson& object, std::string_view name) {
    static const StatusJson kNone = StatusJson::object();
    const auto at = object.find(name);
    return at != object.end() && at->is_object() ? *at : kNone;
}

template <typename T>
void take(const StatusJson& object, std::string_view name, T& out) {
    const auto at = object.find(name);
    if (at == object.end()) return;
    if constexpr (std::is_same_v<T, std::string>) {
        if (at->is_string()) out = printable(at->get<std::string>());
    } else if constexpr (std::is_same_v<T, bool>) {
        if (at->is_boolean()) out = at->get<bool>();
    } else {
        if (at->is_number()) out = at->get<T>();
    }
}

/// Reads the numbers of one table by their names in `object`.
template <typename Table, typename Counts>
void take_all(const StatusJson& object, const Table& table, Counts& out) {
    for (const auto& number : table)
        take(object, base::parts_of(number.path).name, out.*number.member);
}

PeerSample parse_peer(const StatusJson& json) {
    PeerSample out;
    take(json, "node", out.node);
    take(json, "state", out.state);
    take(json, "lag_seconds", out.lag_seconds);
    take(json, "last_error", out.last_error);
    take(json, "last_error_seconds", out.last_error_seconds);
    take(json, "state_seconds", out.state_seconds);
    take(json, "cause", out.cause);
    take(json, "last_http_error", out.last_http_error);
    take(json, "last_http_error_seconds", out.last_http_error_seconds);
    if (double ahead = NAN; take(json, "clock_ahead_seconds", ahead), !std::isnan(ahead))
        out.clock_ahead_seconds = ahead;
    take(json, "objects", out.objects);
    take(json, "bits", out.bits);
    take(json, "announcement_bytes_received", out.announcement_bytes_received);
    take_all(json, proxy::kPeerCounters, out);
    return out;
}

DiskSample parse_disk(const StatusJson& json) {
    DiskSample out;
    take(json, "path", out.path);
    take(json, "state", out.state);
    take(json, "last_error", out.last_error);
    take(json, "loading_seconds", out.loading_seconds);
    take_all(json, proxy::kDiskNumbers, out);
    return out;
}

PeerSample& peer_of(NodeSample& node, const std::string& name) {
    for (auto& peer : node.peers) {
        if (peer.node == name) return peer;
    }
    auto& added = node.peers.emplace_back();
    added.node = name;
    return added;
}

/// Adds the counts of `to` since `from`, which belongs to the same instance of the node.
void add_difference(NodeSample& sum, const NodeSample& from, const NodeSample& to) {
    const auto add = [](const auto& table, auto& out, const auto& before, const auto& after) {
        for (const auto& number : table)
            if (grows(number)) out.*number.member += after.*number.member - before.*number.member;
    };
    for_each_table(add, sum, from, to);
    for (const auto& peer : to.peers) {
        const PeerSample* before = from.peer(peer.node);
        add(proxy::kPeerCounters, peer_of(sum, peer.node), before ? *before : PeerSample(), peer);
    }
}

bool went_back(const NodeSample& from, const NodeSample& to) {
    bool back = false;
    const auto compare = [&](const auto& table, const auto& before, const auto& after) {
        for (const auto& number : table)
            back = back || (grows(number) && after.*number.member < before.*number.member);
    };
    for_each_table(compare, from, to);
    for (const auto& peer : to.peers) {
        if (const auto* before = from.peer(peer.node)) compare(proxy::kPeerCounters, *before, peer);
    }
    return back;
}

/// Calls `read` for each element of the array `name`; never if there is no array.
template <class Read>
void each_of(const StatusJson& from, const char* name, Read read) {
    const auto all = from.find(name);
    if (all == from.end() || !all->is_array()) return;
    for (const auto& entry : *all) read(entry);
}

void take_texts(const StatusJson& from, const char* name, std::vector<std::string>& out) {
    each_of(from, name, [&](const StatusJson& each) {
        if (each.is_string()) out.push_back(each);
    });
}

template <typename Member>
std::uint64_t sum_over_peers(const NodeSample& node, Member member) {
    std::uint64_t sum = 0;
    for (const auto& peer : node.peers) sum += peer.*member;
    return sum;
}

void take_cluster(const StatusJson& cluster, NodeSample& out) {
    each_of(cluster, "names", [&](const StatusJson& entry) {
        auto& name = out.names.emplace_back();
        take(entry, "dns", name.name);
        take(entry, "places", name.places);
        take(entry, "trouble", name.trouble);
    });
    take_texts(cluster, "unanswered", out.unanswered);
    take_texts(cluster, "unplaced", out.unplaced);
    each_of(cluster, "peers",
            [&](const StatusJson& peer) { out.peers.push_back(parse_peer(peer)); });
}

void take_servers(const StatusJson& json, NodeSample& out) {
    each_of(json, "upstreams", [&](const StatusJson& entry) {
        auto& server = out.servers.emplace_back();
        take(entry, "group", server.group);
        take(entry, "server", server.server);
        take(entry, "state", server.state);
        take(entry, "requests", server.requests);
        take(entry, "failures", server.failures);
        take(entry, "in_flight", server.in_flight);
    });
}

void take_faults(const StatusJson& json, NodeSample& out) {
    const auto& upstream = part(json, "upstream");
    each_of(upstream, "answers", [&](const StatusJson& site) {
        std::string fault;
        take(part(site, "fault"), "text", fault);
        if (!fault.empty()) out.faults.push_back(std::move(fault));
    });
    each_of(upstream, "leaving_redirects", [&](const StatusJson& each) {
        proxy::LeavingRedirect redirect;
        take(each, "site", redirect.site);
        take(each, "host", redirect.host);
        take(each, "last_hour", redirect.last_hour);
        out.faults.push_back(proxy::leaving_text(redirect));
    });
    for (auto read : {server_faults, blocklist_faults, certificate_faults})
        for (auto& fault : read(json)) out.faults.push_back(std::move(fault));
}

}  // namespace

const PeerSample* NodeSample::peer(std::string_view name) const {
    for (const auto& peer : peers) {
        if (peer.node == name) return &peer;
    }
    return nullptr;
}

NodeSample& NodeSample::operator+=(const NodeSample& other) {
    for_each_table(
        [](const auto& table, auto& sum, const auto& more) {
            for (const auto& number : table)
                if (grows(number)) sum.*number.member += more.*number.member;
        },
        *this, other);
    return *this;
}

std::uint64_t NodeSample::false_hits() const {
    return sum_over_peers(*this, &PeerSample::false_hits);
}
std::uint64_t NodeSample::other_refusals() const {
    return sum_over_peers(*this, &PeerSample::stale_hits) +
           sum_over_peers(*this, &PeerSample::refused) +
           sum_over_peers(*this, &PeerSample::too_old);
}
std::uint64_t NodeSample::failures() const {
    return sum_over_peers(*this, &PeerSample::failures);
}
std::uint64_t NodeSample::under_way() const {
    std::uint64_t sum = 0;
    for (const auto& peer : peers) sum += peer.under_way();
    return sum;
}

std::optional<NodeSample> parse_status(std::string_view text, std::string& why) {
    const StatusJson json = StatusJson::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("requests")) {
        why = "the answer is not the status of a hearsay node";
        return std::nullopt;
    }
    NodeSample out;
    take(json, "node", out.node);
    take(json, "instance", out.instance);
    take(json, "uptime_seconds", out.uptime_seconds);
    take(json, "ready", out.ready);
    take(json, "draining", out.draining);
    take(part(json, "config"), "last_error", out.reload_error);
    const auto read = [&](const auto& table, auto& counts) {
        for (const auto& number : table) {
            const auto [section, name] = base::parts_of(number.path);
            take(section.empty() ? json : part(json, section), name, counts.*number.member);
        }
    };
    for_each_table(read, out);
    each_of(part(json, "cache"), "disk",
            [&](const StatusJson& directory) { out.disk.push_back(parse_disk(directory)); });
    take_cluster(part(json, "cluster"), out);
    take_servers(json, out);
    take_faults(json, out);
    return out;
}

std::optional<NodeSample> fetch_status(const HostPort& admin, std::chrono::milliseconds timeout,
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

void CounterTrack::sample(const NodeSample& now, Time asked, Time answered) {
    // A changed start time means another process.
    const std::chrono::duration<double> uptime(now.uptime_seconds);
    const bool started_later = asked.time_since_epoch() - uptime > started_by_ + kClockSlack;
    if (!last_) {
        base_ = now;
        // Objects in memory are also on disk, or will be.
        objects_before_ = std::max(now.cache.objects, now.store_disk.disk_objects);
    } else if (started_later || went_back(*last_, now)) {
        ++restarts_;
        add_difference(earlier_instances_, *base_, *last_);
        base_ = NodeSample{};  // the new instance began at zero
    }
    last_ = now;
    started_by_ = answered.time_since_epoch() - uptime;
}

NodeSample CounterTrack::counted() const {
    NodeSample out = earlier_instances_;
    if (!last_) return out;
    add_difference(out, *base_, *last_);
    out.node = last_->node;
    out.uptime_seconds = last_->uptime_seconds;
    out.ready = last_->ready;
    for_each_table(
        [](const auto& table, auto& counted, const auto& last) {
            for (const auto& number : table)
                if (!grows(number)) counted.*number.member = last.*number.member;
        },
        out, *last_);
    for (const auto& peer : last_->peers) {
        PeerSample& mine = peer_of(out, peer.node);
        mine.state = peer.state;
        mine.lag_seconds = peer.lag_seconds;
        if (const auto* before = base_->peer(peer.node)) {
            mine.ended_before = before->hits + before->too_old + before->failures;
            mine.served_before = before->served;
        }
    }
    return out;
}

std::vector<Book> books_between(const std::vector<NodeSample>& nodes) {
    std::vector<Book> books;
    for (const auto& asker : nodes) {
        for (const auto& giver : nodes) {
            if (&asker == &giver) continue;
            const PeerSample* asked = asker.peer(giver.node);
            const PeerSample* gave = giver.peer(asker.node);
            if (!asked || !gave) continue;
            const auto owed =
                asked->ended_before - std::min(asked->ended_before, gave->served_before);
            books.push_back({asker.node, giver.node, asked->hits, gave->served,
                             asked->failures + asked->too_old + owed});
        }
    }
    return books;
}

}  // namespace measure
