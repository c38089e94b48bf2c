#include "proxy/config/config_peers.hpp"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "proxy/config/json_text.hpp"
#include "proxy/http/field_list.hpp"

namespace proxy {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kMaxNameBytes = 253;  // RFC 1035 §2.3.4
constexpr unsigned kMaxPort = 65535;

bool is_dns_name(std::string_view text) {
    const auto good = [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    };
    return !text.empty() && text.size() <= kMaxNameBytes && text.front() != '.' &&
           std::all_of(text.begin(), text.end(), good);
}

bool is_address(const std::string& text) {
    boost::system::error_code none;
    boost::asio::ip::make_address(text, none);
    return !none;
}

/// The one that another entry may take the place of.
bool is_same(const protocol::DnsPeers& a, const protocol::DnsPeers& b) {
    return a.name == b.name && a.link_port == b.link_port;
}

void read_dns(ConfigSection& in, ClusterConfig& out) {
    protocol::DnsPeers entry;
    auto& name = entry.name;
    in.read("dns", name);
    if (is_address(name)) {
        in.fail("dns", "is an address; a node at a fixed address has node, http and link");
    } else if (!is_dns_name(name)) {
        in.fail("dns", "must be a host name");
    }
    unsigned http = 0, link = 0;
    in.read("http", http, 1u, kMaxPort);
    in.read("link", link, 1u, kMaxPort);
    if (in.has("http") != in.has("link"))
        in.fail(in.has("http") ? "link" : "http",
                "is missing; without both ports, SRV records have to say them");
    if (in.has("node")) in.fail("node", "is learnt from whoever is behind the name");
    in.take("node");
    in.done();
    entry.http_port = static_cast<std::uint16_t>(http);
    entry.link_port = static_cast<std::uint16_t>(link);
    const auto same =
        std::any_of(out.dns_peers.begin(), out.dns_peers.end(),
                    [&](const protocol::DnsPeers& other) { return is_same(other, entry); });
    if (same) return in.fail("dns", "another entry has this name and link port");
    out.dns_peers.push_back(std::move(entry));
}

std::string name_of(const protocol::DnsPeers& entry) {
    return "dns:" + entry.name;
}

/// Each entry by its name, in a form that shows a change. The entry of this node does not count.
std::map<std::string, std::string> entries(const ClusterConfig& cluster, std::string_view self) {
    std::map<std::string, std::string> all;
    for (const auto& peer : cluster.peers)
        if (peer.node != self) all[peer.node] = peer.http.text() + ' ' + peer.link.text();
    for (const auto& entry : cluster.dns_peers)
        all[name_of(entry)] +=
            ' ' + std::to_string(entry.http_port) + ' ' + std::to_string(entry.link_port);
    return all;
}

}  // namespace

void read_node(ConfigSection& in, std::string_view key, std::string& out) {
    const auto node = in.text(key);
    if (!node) return;
    if (!protocol::is_node_name(*node)) {
        in.fail(key, "must be 1 to " + std::to_string(kMaxNodeBytes) +
                         " letters, digits, or of !#$%&'*+-.^_`|~");
    }
    out = *node;
}

void read_peers(ConfigSection& in, std::string_view key, ClusterConfig& out) {
    std::set<std::string> nodes, links;
    const auto elements = in.elements(key);
    if (elements.size() > kMaxPeerEntries)
        return in.fail(key, "must have at most " + std::to_string(kMaxPeerEntries) + " elements");
    for (const auto& [value, path] : elements) {
        ConfigSection entry(in.context(), *value, path);
        if (entry.has("dns")) {
            read_dns(entry, out);
            continue;
        }
        protocol::PeerConfig peer;
        entry.require("node");
        read_node(entry, "node", peer.node);
        entry.require("http");
        entry.read("http", peer.http);
        entry.require("link");
        entry.read("link", peer.link);
        entry.done();
        if (!peer.node.empty() && !nodes.insert(peer.node).second)
            entry.fail("node", "another peer has this name");
        if (peer.link.port != 0 && !links.insert(peer.link.text()).second)
            entry.fail("link", "another peer has this address");
        out.peers.push_back(std::move(peer));
    }
    if (out.dns_peers.size() > kMaxPeerNames)
        in.fail(key, "must have at most " + std::to_string(kMaxPeerNames) + " dns entries");
}

ordered_json peers_json(const ClusterConfig& cluster) {
    auto peers = ordered_json::array();
    for (const auto& peer : cluster.peers)
        peers.push_back(
            {{"node", peer.node}, {"http", peer.http.text()}, {"link", peer.link.text()}});
    for (const auto& entry : cluster.dns_peers) {
        ordered_json shown{{"dns", entry.name}};
        if (entry.has_ports()) {
            shown["http"] = entry.http_port;
            shown["link"] = entry.link_port;
        }
        peers.push_back(std::move(shown));
    }
    return peers;
}

std::variant<PeerOrder, std::vector<ConfigError>> parse_peer_order(std::string_view body) {
    const Environment nothing = [](const std::string&) { return std::nullopt; };
    ConfigContext context{nothing, {}};
    json read;
    try {
        read = parse_json(body, context);
    } catch (const json::exception& error) {
        return std::vector<ConfigError>{{"$", "is no JSON: " + syntax_message(error, body)}};
    }
    if (!read.is_object())
        return std::vector<ConfigError>{
            {"$", "must be an object with peers (the whole list), or add and remove"}};
    PeerOrder order;
    order.whole = read.contains("peers");
    ConfigSection in(context, read, "$");
    if (order.whole) {
        read_peers(in, "peers", order.add);
        for (const auto* key : {"add", "remove"})
            if (in.take(key) != nullptr)
                in.fail(key, "does not go with peers, which is the whole list");
    } else {
        read_peers(in, "add", order.add);
        for (const auto& [value, path] : in.elements("remove"))
            if (auto name = text_of(context, *value, path)) order.remove.push_back(*name);
        if (order.remove.empty() && !in.has("add"))
            context.fail("$", "has neither peers, nor add, nor remove");
    }
    in.done();
    if (!context.errors.empty()) return std::move(context.errors);
    return order;
}

std::vector<ConfigError> apply(const PeerOrder& order, ClusterConfig& cluster) {
    if (order.whole) {
        cluster.peers = order.add.peers;
        cluster.dns_peers = order.add.dns_peers;
        return {};
    }
    std::vector<ConfigError> errors;
    auto& peers = cluster.peers;
    auto& names = cluster.dns_peers;
    for (const auto& name : order.remove) {
        const auto gone =
            std::erase_if(peers,
                          [&](const protocol::PeerConfig& peer) { return peer.node == name; }) +
            std::erase_if(names,
                          [&](const protocol::DnsPeers& entry) { return name_of(entry) == name; });
        if (gone == 0)
            errors.push_back({"$.remove", "there is no entry called " + name +
                                              "; a name behind which peers are looked for is "
                                              "written dns:NAME, and who is found is not listed"});
    }
    for (const auto& peer : order.add.peers) {
        std::erase_if(peers,
                      [&](const protocol::PeerConfig& other) { return other.node == peer.node; });
        const auto taken = std::find_if(
            peers.begin(), peers.end(),
            [&](const protocol::PeerConfig& other) { return other.link == peer.link; });
        if (taken != peers.end())
            errors.push_back({"$.add", peer.node + " has the link address of " + taken->node});
        peers.push_back(peer);
    }
    for (const auto& entry : order.add.dns_peers) {
        std::erase_if(names,
                      [&](const protocol::DnsPeers& other) { return is_same(other, entry); });
        names.push_back(entry);
    }
    if (names.size() > kMaxPeerNames)
        errors.push_back(
            {"$.add", "there may be " + std::to_string(kMaxPeerNames) + " dns entries at most"});
    return errors;
}

PeersChanged difference(const ClusterConfig& before, const ClusterConfig& after,
                        std::string_view self) {
    PeersChanged changed;
    changed.before = before;
    changed.after = after;
    const auto was = entries(before, self), is = entries(after, self);
    for (const auto& [name, place] : is) {
        const auto known = was.find(name);
        if (known == was.end())
            changed.added.push_back(name);
        else if (known->second != place)
            changed.moved.push_back(name);
    }
    for (const auto& [name, place] : was)
        if (!is.contains(name)) changed.removed.push_back(name);
    return changed;
}

std::string peers_changed_text(const PeersChanged& changed) {
    std::string text;
    const auto append = [&](std::string_view what, const std::vector<std::string>& names) {
        if (names.empty()) return;
        if (!text.empty()) text += "; ";
        text += what;
        for (const auto& name : names) text += ' ' + name;
    };
    append("added", changed.added);
    append("removed", changed.removed);
    append("moved", changed.moved);
    return text;
}

ordered_json errors_json(const std::vector<ConfigError>& errors) {
    auto out = ordered_json::array();
    for (const auto& error : errors)
        out.push_back({{"path", error.path}, {"message", error.message}});
    return out;
}

std::string peers_changed_json(const PeersChanged& changed) {
    ordered_json out;
    if (changed.errors.empty()) {
        out["added"] = changed.added;
        out["removed"] = changed.removed;
        out["moved"] = changed.moved;
        out["before"] = peers_json(changed.before);
        out["after"] = peers_json(changed.after);
    } else {
        out["errors"] = errors_json(changed.errors);
    }
    return out.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

}  // namespace proxy
