#include "app/import/squid_peers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/http/escape.hpp"
#include "proxy/http/number.hpp"

namespace app {
namespace {

using Json = ImportDraft::Json;

std::string host_in_url(std::string_view host) {
    if (host.find(':') == std::string_view::npos || host.starts_with('[')) return std::string(host);
    return "[" + std::string(host) + "]";
}

/// `name:password` of Squid in the form of a URL: everything but unreserved characters is encoded.
/// Squid has its own escapes, with `%%` for a percent sign. Empty: no fixed name and password.
std::string login_in_url(std::string_view login) {
    const auto colon = login.find(':');
    if (colon == std::string_view::npos || login.starts_with('*')) return {};
    std::string out;
    for (std::size_t i = 0; i < login.size(); ++i) {
        const auto byte = proxy::escaped_byte(login.substr(i));
        const auto c = byte.value_or(login[i]);
        if (i == colon) {
            out.push_back(':');
            continue;
        }
        if (byte) i += 2;
        if (login.substr(i, 2) == "%%") ++i;
        const auto is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                              (c >= 'A' && c <= 'Z') ||
                              std::string_view("-._~").find(c) != std::string_view::npos;
        if (is_plain)
            out.push_back(c);
        else
            out.append(fmt::format("%{:02X}", static_cast<unsigned char>(c)));
    }
    return out;
}

/// The value of `name=value`, or nothing.
std::optional<std::string> value_of(std::string_view option, std::string_view name) {
    if (!option.starts_with(name) || option.substr(name.size(), 1) != "=") return std::nullopt;
    return std::string(option.substr(name.size() + 1));
}

void read_peer_option(SquidPeer& peer, std::string_view option, ImportDraft& draft, bool& tls) {
    if (option == "originserver") peer.origin = true;
    if (option == "ssl" || option == "tls") tls = true;
    if (option == "round-robin" || option == "weighted-round-robin") peer.balance = "round_robin";
    if (option == "carp" || option == "sourcehash") peer.balance = "rendezvous";
    if (option == "userhash") draft.leave_out(*peer.line, "hearsay does not choose by user");
    if (option == "sslflags=DONT_VERIFY_PEER" || option == "tls-flags=DONT_VERIFY_PEER")
        peer.verify = false;
    if (const auto name = value_of(option, "name")) peer.name = *name;
    for (const auto* const key : {"sslcafile", "tls-cafile", "sslcapath", "tls-capath"})
        if (const auto file = value_of(option, key)) peer.ca = *file;
    for (const auto* const key : {"ssldomain", "tls-domain"})
        if (const auto name = value_of(option, key)) peer.tls_name = *name;
    if (const auto text = value_of(option, "weight")) {
        const auto weight = proxy::parse_number(*text);
        if (!weight) draft.leave_out(*peer.line, "its weight is no whole number");
        peer.weight = weight.value_or(1);
    }
    if (option.starts_with("forceddomain="))
        draft.leave_out(*peer.line, "the origin gets the Host of the client (forceddomain)");
    if (const auto login = value_of(option, "login"); login && *login != "PASSTHRU") {
        const auto in_url = login_in_url(*login);
        if (!peer.origin && !in_url.empty()) {
            peer.login = in_url + "@";
            draft.leave_out(*peer.line,
                            "the password stands in forward.parent now; better write "
                            "${NAME}");
        } else if (!peer.origin) {
            draft.warn(*peer.line,
                       "forward.parent takes a fixed name and password. Closed: this "
                       "peer is left out");
            peer.usable = false;
        }
    }
    for (const auto* const key : {"sslcert", "tls-cert"})
        if (value_of(option, key)) {
            draft.warn(*peer.line,
                       "hearsay shows origins no certificate. Closed: this peer is left "
                       "out");
            peer.usable = false;
        }
}

/// Takes `cache_peer_access` and `cache_peer_domain` of this peer.
void read_peer_access(SquidPeer& peer, const std::vector<const Directive*>& access,
                      const SquidAcls& acls, ImportDraft& draft) {
    bool ended = false;
    for (const auto* line : access) {
        if (line->word(0) != peer.name || ended) continue;
        if (line->name == "cache_peer_domain") {
            for (std::size_t i = 1; i < line->words.size(); ++i)
                for (auto& host : hosts_of_domain(line->word(i))) peer.hosts.push_back(host);
            continue;
        }
        const bool allows = line->word(1) == "allow";
        std::optional<SquidCondition> only;
        bool is_more = false;
        for (std::size_t i = 2; i < line->words.size(); ++i) {
            auto one = acls.condition(line->word(i));
            if (one.kind == SquidCondition::Kind::always) continue;
            is_more = is_more || only;
            only = std::move(one);
        }
        if (!only) {
            ended = true;
            if (!allows && peer.hosts.empty()) peer.usable = false;
        } else if (allows && !is_more && only->kind == SquidCondition::Kind::hosts &&
                   !only->negated && !only->wider) {
            peer.hosts.insert(peer.hosts.end(), only->hosts.begin(), only->hosts.end());
        } else {
            draft.warn(*line,
                       "a peer can be chosen by the host of the target alone. Closed: the peer "
                       "is left out");
            peer.usable = false;
        }
    }
}

}  // namespace

std::vector<SquidPeer> read_squid_peers(const std::vector<const Directive*>& lines,
                                        const std::vector<const Directive*>& access,
                                        const SquidAcls& acls, ImportDraft& draft) {
    std::vector<SquidPeer> out;
    for (const auto* line : lines) {
        const auto type = line->word(1);
        if (type == "sibling" || type == "multicast") {
            draft.leave_out(*line,
                            "siblings become nodes of a cluster: run hearsay on each, with "
                            "files of `hearsay init`");
            continue;
        }
        SquidPeer peer;
        peer.line = line;
        peer.name = line->word(0);
        peer.usable = type == "parent" && !line->word(2).empty();
        bool tls = false;
        for (std::size_t i = 4; i < line->words.size(); ++i)
            read_peer_option(peer, line->word(i), draft, tls);
        const auto is_verified_by_system = peer.verify && peer.ca.empty() && peer.tls_name.empty();
        if (tls && !peer.origin && !is_verified_by_system) {
            draft.warn(*line,
                       "forward.parent verifies a certificate by the system's authorities and the "
                       "host of the URL. Closed: this peer is left out");
            peer.usable = false;
        }
        peer.url = (tls ? "https://" : "http://") + peer.login + host_in_url(line->word(0)) + ":" +
                   std::string(line->word(2));
        read_peer_access(peer, access, acls, draft);
        out.push_back(std::move(peer));
    }
    return out;
}

Json squid_origin(const std::string& host, std::vector<const SquidPeer*> peers) {
    // One server counts once, and all of a group have one scheme.
    std::vector<const SquidPeer*> all;
    for (const auto* peer : peers)
        if (std::none_of(all.begin(), all.end(), [&](const SquidPeer* other) {
                return other->url == peer->url ||
                       other->url.starts_with("https") != peer->url.starts_with("https");
            }))
            all.push_back(peer);
    peers = std::move(all);
    Json out{{"host", host}};
    if (peers.size() == 1) {
        out["url"] = peers.front()->url;
    } else {
        out["upstreams"] = Json::array();
        std::string balance;
        for (const auto* peer : peers) {
            Json one{{"url", peer->url}};
            if (peer->weight > 1) one["weight"] = peer->weight;
            // Squid asks the first peer, and the others if that one fails.
            if (peers.front()->balance.empty() && peer != peers.front()) one["backup"] = true;
            out["upstreams"].push_back(std::move(one));
        }
        if (!peers.front()->balance.empty()) out["balance"] = peers.front()->balance;
    }
    const auto& first = *peers.front();
    if (!first.url.starts_with("https")) return out;
    if (!first.verify) out["tls"]["verify"] = false;
    if (!first.ca.empty()) out["tls"]["ca"] = first.ca;
    if (!first.tls_name.empty()) out["tls"]["name"] = first.tls_name;
    return out;
}

}  // namespace app
