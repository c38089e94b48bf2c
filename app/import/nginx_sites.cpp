#include "app/import/nginx_sites.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "app/import/nginx_servers.hpp"
#include "proxy/http/number.hpp"

namespace app {
namespace {

using Json = ImportDraft::Json;

class NginxSites {
public:
    NginxSites(const NginxScope& outermost, const NginxZones& zones, ImportDraft& draft)
        : outermost_(outermost), zones_(zones), draft_(draft) {}

    void run() {
        for (const auto* each : outermost_.innermost()) {
            if (each->name == "upstream") upstreams_[std::string(each->word(0))] = each;
            if (each->name == "server")
                sites_.push_back(read_nginx_site(*each, outermost_, draft_));
        }
        std::vector<const NginxSite*> taken;
        for (const auto& site : sites_)
            if (fits(site)) taken.push_back(&site);
        listeners(taken);
        for (const auto* site : taken) certificates(*site);
        emit(taken);
    }

private:
    bool leave(const NginxSite& site, const Directive& because, const std::string& why) {
        draft_.warn(because,
                    why + ". Closed: the server at " + site.directive->place + " is left out");
        draft_.lose_block(*site.directive);
        return false;
    }

    /// Decides whether hearsay can serve the site without permitting more than nginx.
    bool fits(const NginxSite& site) {
        if (site.proxied.empty() && !proxies_by_name(site)) {
            draft_.leave_out(*site.directive,
                             "no location has proxy_pass; hearsay serves no files");
            draft_.lose_block(*site.directive);
            return false;
        }
        for (const auto* level : {&outermost_.innermost(), &site.scope.innermost()}) {
            const auto why = nginx_refusal(*level);
            if (!why.empty()) return leave(site, *site.directive, why);
        }
        if (has_name(site.scope.innermost(), "return")) {
            draft_.leave_out(*site.directive,
                             "the server answers itself; hearsay writes no answers");
            draft_.lose_block(*site.directive);
            return false;
        }
        const auto wanted = site.proxied.empty()
                                ? access_of(site.scope)
                                : access_of(site.locations[site.proxied.front()].scope);
        for (const auto& location : site.locations) {
            if (location.kind == NginxLocation::Kind::named || is_own_page(location)) continue;
            const auto& level = location.scope.innermost();
            const auto& line = *location.directive;
            if (const auto why = nginx_refusal(level); !why.empty()) return leave(site, line, why);
            const auto refused = std::any_of(level.begin(), level.end(), [](const Directive* each) {
                return each->name == "internal" ||
                       (each->name == "return" && each->word(0).starts_with('4'));
            });
            if (refused || !(access_of(location.scope) == wanted))
                return leave(site, line,
                             "hearsay refuses no request by its path; let the origin do so "
                             "and take the location out");
        }
        return clients(site, wanted) && same_listener(site);
    }

    bool proxies_by_name(const NginxSite& site) const {
        return std::any_of(site.locations.begin(), site.locations.end(),
                           [](const NginxLocation& location) {
                               return location.kind == NginxLocation::Kind::named &&
                                      has_name(location.scope.innermost(), "proxy_pass");
                           });
    }

    /// All sites of a node have the same clients.
    bool clients(const NginxSite& site, const NginxAccess& wanted) {
        if (!wanted.is_exact)
            return leave(site, *site.directive,
                         "allow and deny cannot be expressed, where denials win over the rest");
        if (wanted.refuses_all)
            return leave(site, *site.directive, "the server refuses every client");
        if (!access_) access_ = wanted;
        if (*access_ == wanted) return true;
        return leave(site, *site.directive,
                     "all sites of a node have the same clients, and this one has others than the "
                     "first; run a second node");
    }

    static bool share(const std::vector<std::string>& a, const std::string& b) {
        return std::find(a.begin(), a.end(), b) != a.end();
    }

    bool same_listener(const NginxSite& site) {
        if (plain_.empty() && tls_.empty()) proxy_protocol_ = site.proxy_protocol;
        const bool fresh_plain = plain_.empty() && !site.plain.empty();
        const bool fresh_tls = tls_.empty() && !site.tls.empty();
        const bool known = (!plain_.empty() && share(site.plain, plain_)) ||
                           (!tls_.empty() && share(site.tls, tls_));
        const bool first = plain_.empty() && tls_.empty();
        if (site.proxy_protocol != proxy_protocol_ ||
            (!first && !known && !fresh_plain && !fresh_tls) ||
            (!first && !known && (site.plain.empty() ? !fresh_tls : !fresh_plain)))
            return leave(
                site, *site.directive,
                "a node has one `listen` and one tls.listen, and this server is at another "
                "port; run a second node");
        if (fresh_plain) plain_ = site.plain.front();
        if (fresh_tls) tls_ = site.tls.front();
        return true;
    }

    void listeners(const std::vector<const NginxSite*>& taken) {
        if (plain_.empty()) plain_ = "127.0.0.1:3128";  // for sites with TLS alone
        draft_.set("listen", plain_);
        if (!tls_.empty()) draft_.set("tls.listen", tls_);
        if (proxy_protocol_) {
            if (draft_.has("clients.trusted_proxies"))
                draft_.set("clients.proxy_protocol", true);
            else
                draft_.warn(
                    "proxy_protocol needs set_real_ip_from. Closed: connections with a PROXY "
                    "header get an error");
        }
        for (const auto* site : taken) {
            if (site->plain.empty() && plain_ != "127.0.0.1:3128")
                draft_.warn(*site->directive,
                            "the server has TLS alone. OPEN: its hosts answer at " + plain_ +
                                " without TLS, too");
            for (const auto* list : {&site->plain, &site->tls})
                for (const auto& where : *list)
                    if (where != plain_ && where != tls_)
                        draft_.leave_out(*site->directive,
                                         "a node has one `listen` and one "
                                         "tls.listen; " +
                                             where + " is not taken over");
        }
        if (!access_) return;
        const auto texts = [](const Networks& networks) {
            auto list = Json::array();
            for (const auto& network : networks) list.push_back(text_of(network));
            return list;
        };
        if (access_->allowed) draft_.set("clients.allow", texts(*access_->allowed));
        if (!access_->denied.empty()) draft_.set("clients.deny", texts(access_->denied));
    }

    void certificates(const NginxSite& site) {
        if (site.tls.empty()) return;
        const auto files = site.scope.nearest("ssl_certificate"),
                   keys = site.scope.nearest("ssl_certificate_key");
        for (std::size_t i = 0; i < files.size() && i < keys.size(); ++i) {
            const auto file = site.scope.replaced(files[i]->word(0)),
                       key = site.scope.replaced(keys[i]->word(0));
            if (file.find('$') != std::string::npos || file.starts_with("data:")) {
                draft_.leave_out(*files[i], "tls.certificate is a path");
                continue;
            }
            Json pair{{"certificate", file}, {"key", key}};
            if (std::find(pairs_.begin(), pairs_.end(), pair) != pairs_.end()) continue;
            pairs_.push_back(pair);
            if (pairs_.size() == 1) {
                draft_.set("tls.certificate", file);
                draft_.set("tls.key", key);
            } else {
                draft_.settings()["tls"]["certificates"].push_back(std::move(pair));
            }
        }
    }

    /// The server or servers of a `proxy_pass`, as members of an entry of `origins`.
    std::optional<Json> target_members(const NginxLocation& location) {
        const auto target = target_of(location.scope);
        if (!target) return std::nullopt;
        const std::string scheme = target->tls ? "https://" : "http://";
        Json out = Json::object();
        const auto known = upstreams_.find(target->server);
        if (known == upstreams_.end()) {
            out["url"] = scheme + target->server;
        } else if (!upstream_members(*known->second, scheme, out)) {
            return std::nullopt;
        }
        if (!target->tls) return out;
        const auto& scope = location.scope;
        if (scope.word("proxy_ssl_verify") == "off") out["tls"]["verify"] = false;
        if (const auto ca = scope.word("proxy_ssl_trusted_certificate"); !ca.empty())
            out["tls"]["ca"] = ca;
        if (const auto name = scope.replaced(scope.word("proxy_ssl_name"));
            !name.empty() && name.find('$') == std::string::npos)
            out["tls"]["name"] = name;
        return out;
    }

    bool upstream_members(const Directive& upstream, const std::string& scheme, Json& out) {
        auto list = Json::array();
        for (const auto& line : upstream.block) {
            const auto first = !seen_upstreams_.contains(upstream.place);
            if (line.name == "least_conn") out["balance"] = "least_in_flight";
            if (line.name == "hash") out["balance"] = "rendezvous";
            if (line.name == "ip_hash" && first)
                draft_.leave_out(line, "hearsay does not choose by the client's address");
            constexpr std::array<std::string_view, 9> kKnown{
                "server",  "least_conn", "hash",
                "ip_hash", "keepalive",  "keepalive_timeout",
                "zone",    "random",     "keepalive_requests"};
            if (first && std::find(kKnown.begin(), kKnown.end(), line.name) == kKnown.end())
                draft_.leave_out(line, "hearsay has no setting for it");
            if (line.name != "server") continue;
            Json one{{"url", scheme + std::string(line.word(0))}};
            bool down = line.word(0).starts_with("unix:");
            if (down && first) draft_.leave_out(line, "an upstream is at TCP");
            for (std::size_t i = 1; i < line.words.size(); ++i) {
                const auto word = line.word(i);
                down = down || word == "down";
                if (word == "backup") one["backup"] = true;
                if (!word.starts_with("weight=")) continue;
                const auto weight = proxy::parse_number(word.substr(7));
                if (!weight) draft_.leave_out(line, "its weight is no whole number");
                if (weight.value_or(0) > 1) one["weight"] = *weight;
            }
            const auto again = std::any_of(list.begin(), list.end(), [&](const Json& other) {
                return other["url"] == one["url"];
            });
            if (!down && !again) list.push_back(std::move(one));
        }
        seen_upstreams_.insert(upstream.place);
        if (list.empty()) return false;
        if (list.size() == 1) {
            out.erase("balance");
            out["url"] = list[0]["url"];
        } else {
            out["upstreams"] = std::move(list);
        }
        return true;
    }

    /// The locations in the order in which nginx chooses: exact, `^~`, expressions, prefixes.
    static std::vector<const NginxLocation*> in_order(const NginxSite& site) {
        using Kind = NginxLocation::Kind;
        std::vector<const NginxLocation*> all;
        for (const auto& location : site.locations)
            if (location.kind != Kind::named) all.push_back(&location);
        const auto rank = [](const NginxLocation* each) {
            switch (each->kind) {
                case Kind::exact:
                    return std::pair<int, std::size_t>{0, 0};
                case Kind::strong_prefix:
                    return std::pair{1, ~each->text.size()};
                case Kind::prefix:
                    return std::pair{3, ~each->text.size()};
                default:
                    return std::pair<int, std::size_t>{2, 0};
            }
        };
        std::stable_sort(all.begin(), all.end(),
                         [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
        return all;
    }

    struct Read {
        std::vector<std::pair<std::string, Json>> origins;  // path prefix, members
        std::vector<Json> rules;
    };

    /// A location for one path, or for an expression.
    struct NoPrefix {
        const NginxLocation* location;
        Json members;
        std::size_t rule;  // in Read::rules, or kNoRule
    };
    static constexpr auto kNoRule = std::numeric_limits<std::size_t>::max();

    Read read_site(const NginxSite& site) {
        using Kind = NginxLocation::Kind;
        Read out;
        std::vector<NoPrefix> no_prefixes;
        for (const auto* location : in_order(site)) {
            const auto* from = location;
            if (!has_name(location->scope.innermost(), "proxy_pass")) {
                from = fallback(site, *location);
                if (!from) {
                    if (!is_own_page(*location))
                        draft_.leave_out(*location->directive,
                                         "hearsay serves no files and writes no "
                                         "answers; a shorter prefix may take "
                                         "these requests");
                    continue;
                }
                draft_.leave_out(*location->directive,
                                 "hearsay serves no files; " + from->text + " gets all requests");
            }
            const auto members = target_members(*from);
            if (!members) {
                draft_.warn(
                    *location->directive,
                    "the target of proxy_pass is no fixed address. The location is left out. "
                    "OPEN if a shorter prefix takes its requests");
                draft_.lose_block(*location->directive);
                continue;
            }
            const bool is_regex =
                location->kind == Kind::regex || location->kind == Kind::regex_any_case;
            if (const auto target = target_of(from->scope);
                !is_regex && target->path && *target->path != location->text) {
                draft_.warn(*location->directive, "hearsay rewrites no path (" + *target->path +
                                                      "). The location is left out. OPEN if a "
                                                      "shorter prefix takes its requests");
                draft_.lose_block(*location->directive);
                continue;
            }
            const auto at = out.rules.size();
            rule(*location, from->scope, out);
            const bool has_rule = out.rules.size() > at;
            if (is_regex || location->kind == Kind::exact) {
                no_prefixes.push_back({location, *members, has_rule ? at : kNoRule});
                continue;
            }
            if (!location->text.ends_with('/'))
                draft_.leave_out(*location->directive,
                                 "origins[].path ends where a segment ends, so " + location->text +
                                     "x goes to a shorter prefix");
            out.origins.emplace_back(location->text == "/" ? "" : location->text, *members);
        }
        // From the last one on, so that the numbers of the others stay.
        std::ranges::sort(no_prefixes, std::ranges::greater(), &NoPrefix::rule);
        for (const auto& each : no_prefixes) {
            others(*each.location, each.members, out);
            if (each.rule != kNoRule && meets_others(*each.location, each.members, out))
                out.rules.erase(out.rules.begin() + static_cast<std::ptrdiff_t>(each.rule));
        }
        return out;
    }

    /// A prefix leads its requests to other servers, also those that the expression is for. A rule
    /// for the expression would judge content of these servers.
    bool meets_others(const NginxLocation& location, const Json& members, const Read& site) {
        const auto other = std::ranges::find_if(
            site.origins, [&](const auto& each) { return each.second != members; });
        if (other == site.origins.end()) return false;
        draft_.warn(*location.directive,
                    "requests for " + (other->first.empty() ? "/" : other->first) +
                        " go to its own servers, also those of this location. The rule of this "
                        "location is left out");
        return true;
    }

    /// Says what becomes of requests for one path or an expression, if `/` has other servers.
    void others(const NginxLocation& location, const Json& members, const Read& site) {
        const auto whole = std::find_if(site.origins.begin(), site.origins.end(),
                                        [](const auto& each) { return each.first.empty(); });
        if (whole == site.origins.end())
            draft_.warn(*location.directive,
                        "origins[].path is the start of a path. Closed: without a "
                        "location for / these requests get no answer");
        else if (whole->second != members)
            draft_.warn(*location.directive,
                        "origins[].path is the start of a path. The requests go to "
                        "the servers of the other locations");
    }

    /// The named location that `try_files` or `error_page` leads to, if it has `proxy_pass`.
    static const NginxLocation* fallback(const NginxSite& site, const NginxLocation& location) {
        const auto* const last = [&]() -> const Directive* {
            for (const auto* each : location.scope.innermost())
                if (each->name == "try_files" && !each->words.empty()) return each;
            return nullptr;
        }();
        if (!last) return nullptr;
        const auto& name = last->words.back().text;
        for (const auto& each : site.locations)
            if (each.kind == NginxLocation::Kind::named && each.text == name &&
                has_name(each.scope.innermost(), "proxy_pass"))
                return &each;
        return nullptr;
    }

    void rule(const NginxLocation& location, const NginxScope& scope, Read& out) {
        const auto paths = nginx_paths(location);
        if (!paths)
            return draft_.leave_out(*location.directive,
                                    "globs cannot say this path; the requests "
                                    "follow the rule of a prefix");
        auto members = nginx_rule(scope, zones_, draft_);
        Json one = Json::object();
        if (!paths->empty()) one["match"]["paths"] = *paths;
        one.update(members);
        out.rules.push_back(std::move(one));
    }

    void emit(const std::vector<const NginxSite*>& taken) {
        struct Host {
            std::string name;
            std::size_t site;
        };
        std::vector<Host> hosts;
        std::vector<Read> reads;
        for (const auto* site : taken) {
            const auto number = reads.size();
            reads.push_back(read_site(*site));
            for (const auto* names : {&site->exact, &site->wildcard})
                for (const auto& name : *names) hosts.push_back({name, number});
            if (site->is_default) hosts.push_back({"*", number});
        }
        const auto rank = [](const Host& host) {
            const auto& name = host.name;
            if (name == "*") return std::pair<int, std::size_t>{2, 0};
            if (name.starts_with('*')) return std::pair{1, ~name.size()};
            return std::pair<int, std::size_t>{0, 0};
        };
        std::stable_sort(hosts.begin(), hosts.end(),
                         [&](const Host& a, const Host& b) { return rank(a) < rank(b); });
        auto origins = Json::array();
        std::set<std::string> seen;
        for (const auto& host : hosts) {
            auto paths = reads[host.site].origins;
            std::stable_sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
                return a.first.size() > b.first.size();
            });
            for (const auto& [path, members] : paths) {
                // A prefix that leads to the same servers as the site needs no entry.
                if (!path.empty() && paths.back().first.empty() && paths.back().second == members)
                    continue;
                if (!seen.insert(host.name + path).second) continue;
                Json entry{{"host", host.name}};
                if (!path.empty()) entry["path"] = path;
                entry.update(members);
                origins.push_back(std::move(entry));
            }
        }
        // The hosts of one site and of one rank share its rules.
        for (std::size_t i = 0; i < hosts.size();) {
            auto names = Json::array();
            const auto first = hosts[i];
            const bool shares = !first.name.starts_with('*');
            do {
                names.push_back(hosts[i++].name);
            } while (i < hosts.size() && shares && hosts[i].site == first.site &&
                     !hosts[i].name.starts_with('*'));
            for (const auto& rule : reads[first.site].rules) add_rule(first.name, names, rule);
        }
        if (!origins.empty()) draft_.set("origins", std::move(origins));
        if (draft_.has("origins")) return;
        draft_.warn("no server can be taken over. Closed: the node lets no client in");
        draft_.set("clients.allow", Json::array());
        draft_.set("forward.enabled", true);
        draft_.set("forward.clients", Json::array());
    }

    void add_rule(const std::string& host, const Json& names, const Json& rule) {
        Json one = Json::object();
        if (host != "*") one["match"]["hosts"] = names;
        if (rule.contains("match")) one["match"]["paths"] = rule["match"]["paths"];
        for (const auto& [key, value] : rule.items())
            if (key != "match") one[key] = value;
        draft_.add_rule(host == "*" ? "site" : host, std::move(one));
    }

    const NginxScope& outermost_;
    const NginxZones& zones_;
    ImportDraft& draft_;
    std::vector<NginxSite> sites_;
    std::map<std::string, const Directive*> upstreams_;
    std::set<std::string> seen_upstreams_;
    std::optional<NginxAccess> access_;
    std::string plain_, tls_;  // the listeners of the node
    bool proxy_protocol_ = false;
    std::vector<Json> pairs_;
};

}  // namespace

void import_nginx_sites(const NginxScope& outermost, const NginxZones& zones, ImportDraft& draft) {
    NginxSites(outermost, zones, draft).run();
}

}  // namespace app
