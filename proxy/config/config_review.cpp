#include "proxy/config/config_review.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "proxy/config/cluster_settings.hpp"
#include "proxy/config/config_values.hpp"
#include "proxy/config/rule_shadows.hpp"
#include "proxy/http/field_list.hpp"
#include "proxy/http/same_host.hpp"
#include "proxy/rewrite/url_prefix.hpp"

namespace proxy {
namespace {

struct Listener {
    std::string path;
    HostPort where;
};

std::vector<Listener> listeners(const Config& config) {
    std::vector<Listener> found{{"$.listen", config.listen}};
    if (config.tls) found.push_back({"$.tls.listen", config.tls->listen});
    if (config.admin) found.push_back({"$.admin.listen", config.admin->listen});
    if (config.cluster) found.push_back({"$.cluster.listen", config.cluster->listen});
    return found;
}

/// The default of docker-compose.yml.
constexpr std::string_view kKeyForTrials = "for-trying-things-out-only-not-a-secret";

/// Its error ends with the longest of its tags.
constexpr std::size_t kMostOfCuckoos = 64;

bool is_any(std::string_view host) {
    return host == "0.0.0.0" || host == "::";
}

bool is_loopback(std::string_view host) {
    return host.starts_with("127.") || host == "::1" || host == "localhost";
}

bool is_same_host(std::string_view a, std::string_view b) {
    const auto plain = [](std::string_view host) {
        return host == "localhost" ? "127.0.0.1" : host;
    };
    return plain(a) == plain(b);
}

/// Port 0 is any free one.
bool collide(const HostPort& a, const HostPort& b) {
    return a.port == b.port && a.port != 0 &&
           (is_same_host(a.host, b.host) || is_any(a.host) || is_any(b.host));
}

/// True if a connection to `to` reaches this listener.
bool reaches(const HostPort& to, const HostPort& listener) {
    return to.port == listener.port && to.port != 0 &&
           (is_same_host(to.host, listener.host) ||
            (is_any(listener.host) && is_loopback(to.host)));
}

/// All hosts of the pattern `inner` are hosts of `outer`: `*`, `*.example.org` or a host.
bool covers_host(std::string_view outer, std::string_view inner) {
    if (outer == "*") return true;
    if (!outer.starts_with('*')) return same_host(outer, inner);
    const auto end = outer.substr(1);  // with its dot
    std::string scratch;
    const auto name = inner.starts_with('*') ? inner : canonical_host(inner, scratch);
    return inner == outer || (name.size() > end.size() && name.ends_with(end));
}

/// The rule is for requests with a proof of who asks, or for responses with cookies, below `here`.
bool is_personal(const Rule& rule, const UrlPrefix& here) {
    const auto& storing = rule.storing;
    const auto& edits = rule.request_fields;
    const auto personal =
        storing.authorize || storing.share_authorized || storing.ignored.set_cookie ||
        edits.takes_away("Authorization") || edits.takes_away("Cookie") ||
        std::ranges::any_of(edits.add, [](const FieldEdits::Line& line) {
            return iequals(line.first, "Authorization") || iequals(line.first, "Cookie");
        });
    const auto fits_host = [&](const Glob& glob) { return glob.matches(host_of(here)); };
    const auto fits_path = [&](const Glob& glob) {
        return glob.text().starts_with('*') || glob.text().starts_with(here.path) ||
               glob.matches(here.path + "/");
    };
    const auto& match = rule.match;
    return personal && (match.hosts.empty() || std::ranges::any_of(match.hosts, fits_host)) &&
           (match.paths.empty() || std::ranges::any_of(match.paths, fits_path));
}

constexpr std::uint16_t kGrpcOfCollectors = 4317;

/// True if the last segments of a collector's path are almost those of OTLP/HTTP: `/v1/trace`.
bool is_near_miss(std::string_view path) {
    constexpr std::string_view kRight = "/v1/traces";
    constexpr std::size_t kFewEdits = 2;
    path = path.substr(0, path.find('?'));
    if (path.ends_with(kRight)) return false;
    if (path.ends_with('/')) path.remove_suffix(1);
    const auto last = path.rfind('/');
    const auto before = last == 0 ? 0 : path.rfind('/', last - 1);
    if (before != std::string_view::npos) path.remove_prefix(before);
    if (path.size() > kRight.size() + kFewEdits) return false;
    std::string end;
    append_lower(end, path);
    return edit_distance(end, kRight) <= kFewEdits;
}

/// Rules with more patterns than this are not compared with each other: the time grows with the
/// square.
constexpr std::size_t kMostPatterns = 1000;

class ReviewFindings {
public:
    explicit ReviewFindings(const LoadedConfig& config)
        : config_(config), listeners_(listeners(config)) {}

    std::vector<ConfigError> find() && {
        origins();
        if (config_.mirrors) shared_hosts(*config_.mirrors);
        rules();
        if (config_.cluster) cluster(*config_.cluster);
        disk();
        access_log();
        admin();
        everybody();
        access();
        nobody();
        leaving();
        if (config_.tracing) collector(config_.tracing->endpoint);
        return std::move(found_);
    }

private:
    void doubt(std::string path, std::string message) {
        found_.push_back({std::move(path), std::move(message)});
    }

    static std::string entry(const char* list, std::size_t index) {
        return std::string(list) + '[' + std::to_string(index) + ']';
    }

    const Listener* own(const HostPort& where) const {
        const auto found =
            std::find_if(listeners_.begin(), listeners_.end(),
                         [&](const Listener& each) { return reaches(where, each.where); });
        return found == listeners_.end() ? nullptr : &*found;
    }

    void origins() {
        std::optional<std::size_t> any;
        for (std::size_t i = 0; i < config_.origins.size(); ++i) {
            const auto& origin = config_.origins[i];
            const auto path = entry("$.origins", i);
            const auto is_whole = origin.path.empty();
            if (origin.mirror) {
                // Its public URL finds it.
            } else if (any) {
                doubt(path,
                      "is never used: " + entry("$.origins", *any) + " before it takes every host");
            } else if (const auto same = first_with(origin); same < i) {
                const auto is_same = same_host(config_.origins[same].host, origin.host);
                doubt(path + ".host", "is never used: " + entry("$.origins", same) +
                                          (is_same ? " before it is for the same host"
                                                   : " before it takes all of its hosts"));
            }
            if (!any && is_whole && origin.host == "*") any = i;
            if (!origin.group) {
                server(origin.server, path + ".url");
                continue;
            }
            for (std::size_t k = 0; k < origin.group->servers.size(); ++k)
                server(origin.group->servers[k].place,
                       entry((path + ".upstreams").c_str(), k) + ".url");
        }
        if (config_.forward.parents)
            for (std::size_t i = 0; i < config_.forward.parents->servers.size(); ++i)
                server(config_.forward.parents->servers[i].place, entry("$.forward.parent", i));
        if (any && config_.forward.enabled) {
            doubt("$.forward.enabled",
                  "is for CONNECT alone, as " + entry("$.origins", *any) + " takes every host");
        }
    }

    /// For browsers, mirrors of one host are one site, and so are their parties.
    void shared_hosts(const MirrorTable& mirrors) {
        for (const auto& mirror : mirrors.all()) {
            const auto& rules = config_.rules.all();
            const auto proves = std::ranges::find_if(
                rules, [&](const Rule& rule) { return is_personal(rule, mirror.here); });
            const auto other = std::ranges::find_if(mirrors.all(), [&](const Mirror& each) {
                return each.party != mirror.party && host_of(each.here) == host_of(mirror.here);
            });
            if (proves == rules.end() || other == mirrors.all().end()) continue;
            doubt(entry("$.origins", mirror.entry) + ".public",
                  "shares its host with " + entry("$.origins", other->entry) +
                      ", which is another party, and the rule " + proves->name +
                      " is for passwords or cookies: browsers and clients may give these to both "
                      "(give each a host of its own)");
        }
    }

    void rules() {
        const auto& all = config_.rules.all();
        std::size_t patterns = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            patterns += all[i].match.hosts.size() + all[i].match.paths.size();
            if (all[i].bypass && all[i].storing.follow_redirects)
                doubt(entry("$.rules", i) + ".follow_redirects",
                      "has no effect, because the rule bypasses the store: a relayed redirect goes "
                      "to the client");
        }
        if (patterns > kMostPatterns) return;
        for (const auto& [rule, by, gets_others] : shadowed_rules(all))
            doubt(entry("$.rules", rule),
                  std::string(gets_others ? "has no effect" : "is never used") + ": the rule " +
                      all[by].name + " before it is for all of its " + (gets_others ? "GET " : "") +
                      "requests; the first rule that matches counts, so put the narrower one "
                      "first");
    }

    void server(const HostPort& place, const std::string& path) {
        if (const auto* self = own(place)) doubt(path, "is this node itself (" + self->path + ")");
        if (!config_.cluster) return;
        for (const auto& peer : config_.cluster->peers)
            if (peer.node != config_.node && peer.http == place)
                doubt(path, "is the peer " + peer.node + ": peers are asked anyway");
    }

    /// The first entry that takes all requests of this one.
    std::size_t first_with(const OriginConfig& one) const {
        const auto& all = config_.origins;
        const auto found = std::find_if(all.begin(), all.end(), [&](const OriginConfig& origin) {
            return covers_host(origin.host, one.host) &&
                   (origin.path.empty() || covers_path(origin.path, one.path));
        });
        return static_cast<std::size_t>(found - all.begin());
    }

    void cluster(const ClusterConfig& cluster) {
        bool others = false, elsewhere = false;
        for (std::size_t i = 0; i < cluster.peers.size(); ++i) {
            const auto& peer = cluster.peers[i];
            const auto path = entry("$.cluster.peers", i);
            if (peer.node == config_.node) {
                if (peer.http.port != config_.listen.port || peer.link.port != cluster.listen.port)
                    doubt(path,
                          "names this node itself but other ports; the entry is ignored. Is a name "
                          "misspelt?");
                continue;
            }
            others = true;
            elsewhere = elsewhere || !is_loopback(peer.http.host);
            peer_addresses(peer, path);
            for (std::size_t k = 0; k < i; ++k) {
                if (cluster.peers[k].http == peer.http)
                    doubt(path + ".http", "another peer has this address");
            }
        }
        const auto& keys = cluster.keys;
        if (std::find(keys.begin(), keys.end(), kKeyForTrials) != keys.end())
            doubt("$.cluster.key", "is that of docker-compose.yml, which everybody can read");
        encryption(cluster);
        if (!cluster.dns_peers.empty()) others = elsewhere = true;
        for (const auto& entry : cluster.dns_peers) {
            if (!entry.has_ports()) continue;
            if (entry.http_port == entry.link_port)
                doubt("$.cluster.peers", entry.name + " has one port for both http and link");
            else if (entry.http_port == cluster.listen.port &&
                     entry.link_port == config_.listen.port)
                doubt("$.cluster.peers",
                      entry.name + " seems to have http and link the wrong way round");
        }
        if (config_.summary.kind == summary::Kind::cuckoo && cluster.peers.size() > kMostOfCuckoos)
            doubt("$.summary.kind", "exceeds the budget of false hits with more than " +
                                        std::to_string(kMostOfCuckoos) +
                                        " peers; quotient does not");
        if (!others) doubt("$.cluster.peers", "lists no other node: nothing is shared");
        if (!elsewhere) return;
        if (is_loopback(cluster.listen.host))
            doubt("$.cluster.listen", "is reached from this machine only, but peers are elsewhere");
        if (is_loopback(config_.listen.host))
            doubt("$.listen", "is reached from this machine only, but peers are elsewhere");
    }

    void encryption(const ClusterConfig& cluster) {
        const auto has_tls = std::ranges::any_of(
            config_.origins, [](const auto& origin) { return origin.tls.has_value(); });
        if (!cluster.encrypt && (config_.tls || has_tls))
            doubt("$.cluster.encrypt",
                  "is off, so content that came by TLS travels between the nodes in the clear");
        if (cluster.allow_clear)
            doubt("$.cluster.allow_clear",
                  "is for the time of an upgrade: turn it off once all peers are encrypted");
    }

    void peer_addresses(const protocol::PeerConfig& peer, const std::string& path) {
        if (const auto* self = own(peer.http))
            doubt(path + ".http", "is this node itself (" + self->path + ")");
        if (const auto* self = own(peer.link))
            doubt(path + ".link", "is this node itself (" + self->path + ")");
        if (peer.http == peer.link) {
            doubt(path, "has one address for both http and link");
        } else if (peer.http.port == config_.cluster->listen.port &&
                   peer.link.port == config_.listen.port) {
            doubt(path, "seems to have http and link the wrong way round");
        }
    }

    void disk() {
        std::uint64_t bytes = 0;
        for (const auto& directory : config_.cache.disk) bytes += directory.size;
        if (bytes > 0 && bytes < config_.cache.memory)
            doubt("$.cache.disk", "the disk is smaller than cache.memory (" +
                                      format_size(config_.cache.memory) +
                                      "), so part of the memory's content is lost at a restart");
    }

    void access_log() {
        const auto& access = config_.log.access;
        constexpr std::array kNotFiles{"off", "none", "no", "false", "stdout", "stderr", "-"};
        const auto word = std::any_of(kNotFiles.begin(), kNotFiles.end(),
                                      [&](const char* each) { return iequals(access, each); });
        if (word && access != "off" && access != "stdout")
            doubt("$.log.access",
                  "\"" + access + "\" is taken for a file's name; the words are off and stdout");
    }

    void admin() {
        if (config_.admin && config_.admin->token.empty() &&
            !is_loopback(config_.admin->listen.host))
            doubt("$.admin",
                  "listens beyond loopback without a token: purge, drain, reload, changes of peers "
                  "and "
                  "/api/v1/config are answered on loopback only, the rest to everybody");
    }

    void everybody() {
        const auto is_all = [](const PrefixList& list) {
            const auto& texts = list.texts();
            return std::any_of(texts.begin(), texts.end(),
                               [](const std::string& text) { return text.ends_with("/0"); });
        };
        if (config_.forward.enabled && is_all(config_.forward.clients) &&
            !is_loopback(config_.listen.host))
            doubt("$.forward.clients", "lets everybody in: strangers find an open proxy soon");
        if (config_.forward.enabled && config_.forward.clients.texts().empty())
            doubt("$.forward.clients", "lets no client use the forward proxy");
        const auto& users = config_.forward.authentication;
        if (config_.forward.enabled && users && !users->in_clear && !config_.tls &&
            !is_loopback(config_.listen.host))
            doubt("$.forward.authentication",
                  "takes passwords over TLS or from loopback alone, and there is no tls.listen: "
                  "other clients get 403");
        if (is_all(config_.clients.purge)) doubt("$.purge.allow", "lets everybody purge");
        if (is_all(config_.clients.trusted_proxies))
            doubt("$.clients.trusted_proxies", "lets everybody say whose request it is");
    }

    void collector(const CollectorUrl& url) {
        constexpr auto kPath = "$.tracing.endpoint";
        if (const auto* self = own(url.place))
            doubt(kPath, "is this node itself (" + self->path + ")");
        if (url.place.port == kGrpcOfCollectors)
            doubt(kPath,
                  "has port 4317, at which collectors take OTLP by gRPC; the node sends it by "
                  "HTTP, for which they have port 4318");
        if (is_near_miss(url.path))
            doubt(kPath, "has the path " + url.path + "; that of OTLP is /v1/traces");
    }

    void leaving() {
        const auto& timeouts = config_.timeouts;
        if (timeouts.drain > timeouts.drain.zero() && timeouts.drain_grace >= timeouts.drain)
            doubt("$.timeouts.drain_grace",
                  "takes all of drain: connections that are still there then are cut off");
    }

    void nobody() {
        const auto has = [](const PrefixList& list, bool v4, std::string_view end) {
            const auto& texts = list.texts();
            return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
                return text.ends_with(end) && (text.find(':') == std::string::npos) == v4;
            });
        };
        const auto& clients = config_.clients;
        // Clients reach a socket of their own address family. Clients behind a proxy may have any.
        const auto only_v4 =
            config_.listen.host.find_first_not_of("0123456789.") == std::string::npos &&
            !config_.tls && clients.trusted_proxies.empty();
        const auto let_in = [&](bool v4) {
            return has(clients.allow, v4, "") && !has(clients.deny, v4, "/0");
        };
        if (let_in(true) || (!only_v4 && let_in(false))) return;
        doubt(clients.allow.empty() ? "$.clients.allow" : "$.clients", "lets no client in");
    }

    /// The requests inside a CONNECT come by https, and an entry of `origins` may send them on in
    /// the clear.
    void intercepted_in_the_clear() {
        const auto takes = [](const OriginConfig& origin, const DestinationPattern& pattern) {
            if (!origin.host.starts_with('*')) return pattern.host.matches(origin.host);
            return pattern.host.text().ends_with(std::string_view(origin.host).substr(1));
        };
        for (const auto& pattern : config_.forward.intercept->hosts) {
            for (std::size_t i = 0; i < config_.origins.size(); ++i) {
                const auto& origin = config_.origins[i];
                if (origin.mirror || !takes(origin, pattern)) continue;
                if (!origin.group && !origin.tls)
                    doubt("$.origins[" + std::to_string(i) + "].url",
                          "sends https requests for " + pattern.text +
                              ", which forward.intercept reads, to the origin in the clear; write "
                              "https:// to encrypt them");
                break;
            }
        }
    }

    void access() {
        const auto& forward = config_.forward;
        if (!forward.enabled) {
            const auto* const why = "has no effect, because forward.enabled is false";
            if (forward.authentication) doubt("$.forward.authentication", why);
            if (!forward.destinations.empty()) doubt("$.forward.destinations", why);
            if (forward.intercept) doubt("$.forward.intercept", why);
        } else if (forward.intercept) {
            for (const auto port : forward.intercept->ports)
                if (std::ranges::find(forward.connect_ports, port) == forward.connect_ports.end())
                    doubt("$.forward.intercept.ports",
                          "port " + std::to_string(port) +
                              " has no effect, because forward.connect_ports does not allow it");
            intercepted_in_the_clear();
        }
        const auto is_everything = [](const DestinationPattern& pattern) {
            return pattern.port == 0 &&
                   pattern.host.text().find_first_not_of('*') == std::string_view::npos;
        };
        if (std::ranges::any_of(forward.destinations.deny, is_everything))
            doubt("$.forward.destinations.deny",
                  "refuses every target, and wins over allow: nothing is forwarded");
        const auto& limits = config_.clients.limits;
        if (limits.per_user.any() && !forward.authentication)
            doubt("$.clients.limits.per_user",
                  "has no effect, because there are no users without forward.authentication");
        for (const auto& [path, each] :
             {std::pair{"$.clients.limits.per_address.burst", &limits.per_address},
              std::pair{"$.clients.limits.per_user.burst", &limits.per_user}})
            if (each->burst > 0 && each->requests == 0)
                doubt(path, "has no effect without requests");
    }

    const LoadedConfig& config_;
    const std::vector<Listener> listeners_;
    std::vector<ConfigError> found_;
};

}  // namespace

std::vector<ConfigError> contradictions(const LoadedConfig& config) {
    std::vector<ConfigError> found;
    const auto all = listeners(config);
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (!collide(all[k].where, all[i].where)) continue;
            found.push_back({all[i].path, all[i].where.text() + " is taken by " + all[k].path});
            break;
        }
    }
    for (auto& bad : protocol::faults(cluster_settings(config)))
        found.push_back({path_of(bad.setting), std::move(bad.why)});
    return found;
}

std::vector<ConfigError> doubts(const LoadedConfig& config) {
    return ReviewFindings(config).find();
}

}  // namespace proxy
