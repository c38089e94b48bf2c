#include "proxy/upstream/destinations.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/net/embedded_v4.hpp"
#include "base/net/plain_address.hpp"
#include "proxy/http/same_host.hpp"

namespace proxy {
namespace {

namespace ip = boost::asio::ip;

/// IANA IPv4 and IPv6 Special-Purpose Address Registries, without the globally reachable entries,
/// and multicast. Documentation ranges have no owner; benchmarking and protocol ranges may be inner
/// networks.
const PrefixList& special_ranges() {
    static const PrefixList ranges{
        "0.0.0.0/8",        // this network
        "10.0.0.0/8",       // private
        "100.64.0.0/10",    // shared, behind a carrier's NAT
        "127.0.0.0/8",      // loopback
        "169.254.0.0/16",   // link-local, and where clouds keep credentials
        "172.16.0.0/12",    // private
        "192.0.0.0/24",     // protocol assignments
        "192.0.2.0/24",     // documentation
        "192.88.99.0/24",   // 6to4 relays, deprecated
        "192.168.0.0/16",   // private
        "198.18.0.0/15",    // benchmarking
        "198.51.100.0/24",  // documentation
        "203.0.113.0/24",   // documentation
        "224.0.0.0/4",      // multicast
        "240.0.0.0/4",      // reserved, and broadcast
        "::/8",             // unspecified, loopback, IPv4-compatible (deprecated), IPv4-translated
        "64:ff9b:1::/48",   // a translator's own prefix: where the address stands is its choice
        "100::/64",         // discard-only
        "100:0:0:1::/64",   // dummy
        "2001::/23",        // protocol assignments, among them Teredo, whose addresses are hidden
        "2001:db8::/32",    // documentation
        "3fff::/20",        // documentation
        "5f00::/16",        // segment identifiers
        "fc00::/7",         // unique local
        "fe80::/10",        // link-local
        "fec0::/10",        // site-local, deprecated
        "ff00::/8",         // multicast
    };
    return ranges;
}

std::optional<ip::address> literal(const std::string& host) {
    boost::system::error_code error;
    const auto address = ip::make_address(host, error);
    if (error) return std::nullopt;
    return base::plain_address(address);
}

/// Does a connection to it end on this machine, if anything listens there?
bool is_local(const ClusterAddresses& around, const ip::address& address) {
    return address.is_loopback() || address.is_unspecified() ||
           std::find(around.own.begin(), around.own.end(), address) != around.own.end();
}

std::vector<const HostPort*> own_listeners(const Config& config) {
    std::vector<const HostPort*> all{&config.listen};
    if (config.tls) all.push_back(&config.tls->listen);
    if (config.admin) all.push_back(&config.admin->listen);
    if (config.cluster) all.push_back(&config.cluster->listen);
    return all;
}

/// The configuration has the ports of peers behind a name; DNS has their addresses.
std::vector<const HostPort*> peer_places(const Config& config) {
    std::vector<const HostPort*> all;
    if (!config.cluster) return all;
    for (const auto& peer : config.cluster->peers) {
        all.push_back(&peer.http);
        all.push_back(&peer.link);
    }
    return all;
}

bool is_port_behind_a_name(const Config& config, std::uint16_t port) {
    if (!config.cluster) return false;
    const auto& names = config.cluster->dns_peers;
    return std::any_of(names.begin(), names.end(), [port](const auto& entry) {
        return entry.http_port == port || entry.link_port == port;
    });
}

/// Would a connection to a local address meet this listener? One at a name could be at any.
bool meets(const HostPort& listener, const ip::address& address, std::uint16_t port) {
    if (listener.port != port) return false;
    const auto where = literal(listener.host);
    return !where || where->is_unspecified() || address.is_unspecified() || *where == address;
}

bool is_of_the_house(const Config& config, const ClusterAddresses& around,
                     const ip::address& address, std::uint16_t port) {
    if (!is_cluster_port(config, around.found, port)) return false;
    const auto listeners = own_listeners(config);
    const auto is_own = std::any_of(listeners.begin(), listeners.end(), [&](const auto* listener) {
        return meets(*listener, address, port) &&
               (is_local(around, address) || literal(listener->host) == address);
    });
    if (is_own) return true;
    if (std::find(around.peers.begin(), around.peers.end(), address) != around.peers.end())
        return true;
    const auto is_found = std::any_of(
        around.found.begin(), around.found.end(),
        [&](const protocol::PeerPlace& place) { return literal(place.host) == address; });
    if (is_found) return true;
    const auto peers = peer_places(config);
    return std::any_of(peers.begin(), peers.end(),
                       [&](const auto* peer) { return literal(peer->host) == address; });
}

}  // namespace

bool is_public(const ip::address& address) {
    const auto plain = base::plain_address(address);
    static const PrefixList nat64{"64:ff9b::/96"};  // the only public part of ::/8
    return (!special_ranges().contains(plain) || nat64.contains(plain)) &&
           std::ranges::all_of(base::embedded_v4(plain),
                               [](const auto& inner) { return is_public(inner); });
}

bool is_cluster_port(const Config& config, PeerPlaces found, std::uint16_t port) {
    if (port == 0) return false;
    const auto is_of_a_peer =
        std::any_of(found.begin(), found.end(), [port](const protocol::PeerPlace& place) {
            return place.http_port == port || place.link_port == port;
        });
    if (is_of_a_peer) return true;
    const auto at = [port](const HostPort* place) { return place->port == port; };
    const auto own = own_listeners(config);
    const auto peers = peer_places(config);
    return std::any_of(own.begin(), own.end(), at) || std::any_of(peers.begin(), peers.end(), at) ||
           is_port_behind_a_name(config, port);
}

std::vector<ip::address> interface_addresses() {
    std::vector<ip::address> found;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return found;
    const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
    for (const auto* one = list; one; one = one->ifa_next) {
        if (!one->ifa_addr) continue;
        if (one->ifa_addr->sa_family == AF_INET) {
            const auto* v4 = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
            found.emplace_back(ip::address_v4(ntohl(v4->sin_addr.s_addr)));
        } else if (one->ifa_addr->sa_family == AF_INET6) {
            const auto* v6 = reinterpret_cast<const sockaddr_in6*>(one->ifa_addr);
            ip::address_v6::bytes_type bytes;
            std::copy_n(v6->sin6_addr.s6_addr, bytes.size(), bytes.begin());
            found.emplace_back(base::plain_address(ip::address_v6(bytes)));
        }
    }
    return found;
}

std::vector<std::string_view> peer_names(const Config& config, PeerPlaces found) {
    std::vector<std::string_view> names;
    const auto add = [&](const std::string& host) {
        if (!literal(host) && std::find(names.begin(), names.end(), host) == names.end())
            names.push_back(host);
    };
    for (const auto* peer : peer_places(config)) add(peer->host);
    for (const auto& place : found) add(place.host);
    if (config.cluster)
        for (const auto& entry : config.cluster->dns_peers) add(entry.name);
    return names;
}

Destination judge_destination(const Config& config, const ClusterAddresses& around,
                              const ip::address& address, std::uint16_t port) {
    const auto plain = base::plain_address(address);
    const auto inner = base::embedded_v4(plain);
    const auto is_house = [&](const ip::address& each) {
        return is_of_the_house(config, around, each, port);
    };
    if (is_house(plain) || std::ranges::any_of(inner, is_house)) return Destination::own_house;
    const auto is_listed = [&](const ip::address& each) {
        return config.forward.private_prefixes.contains(each);
    };
    switch (config.forward.private_destinations) {
        case Destinations::allow:
            return Destination::open;
        case Destinations::listed:
            if (is_listed(plain) || (std::ranges::any_of(inner, is_listed) &&
                                     std::ranges::all_of(inner, [&](const auto& each) {
                                         return is_listed(each) || is_public(each);
                                     })))
                return Destination::open;
            break;
        case Destinations::deny:
            break;
    }
    return is_public(plain) ? Destination::open : Destination::closed;
}

Destination judge_unresolved(const Config& config, PeerPlaces found, const std::string& host,
                             std::uint16_t port) {
    const auto is_house = is_cluster_port(config, found, port);
    std::string scratch;
    const std::string name(canonical_host(host, scratch));
    // A parent might read these as another host than every list of this node does.
    if (name.find('%') != std::string::npos || name.empty() || name.front() == '.' ||
        name.back() == '.' || name.find("..") != std::string::npos)
        return Destination::closed;
    auto address = literal(name);
    if (name == "localhost" || name.ends_with(".localhost")) address = ip::address_v4::loopback();
    // A resolver also takes `127.1` and `2130706433` for addresses.
    in_addr v4{};
    if (!address && ::inet_aton(name.c_str(), &v4) != 0) return Destination::closed;
    if (address) {
        const ClusterAddresses around{
            is_house ? interface_addresses() : std::vector<ip::address>(), {}, found};
        return judge_destination(config, around, *address, port);
    }
    if (!is_house) return Destination::open;
    const auto names = peer_names(config, found);
    const auto own = own_listeners(config);
    const auto is_named = std::ranges::any_of(names, [&](auto each) { return each == name; }) ||
                          std::ranges::any_of(own, [&](const auto* listener) {
                              return listener->port == port && listener->host == name;
                          });
    return is_named ? Destination::own_house : Destination::open;
}

}  // namespace proxy
