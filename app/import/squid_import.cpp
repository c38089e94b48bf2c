#include <algorithm>
#include <map>
#include <utility>

#include "app/import/import.hpp"
#include "app/import/squid_access.hpp"
#include "app/import/squid_acls.hpp"
#include "app/import/squid_peers.hpp"
#include "app/import/squid_ports.hpp"
#include "app/import/squid_refresh.hpp"
#include "app/import/squid_settings.hpp"
#include "proxy/config/config.hpp"

namespace app {
namespace {

using Json = ImportDraft::Json;
using Lines = std::vector<const Directive*>;

constexpr std::size_t kMostPrefixes = proxy::kMaxPrefixes, kMostHosts = proxy::kMaxRuleTexts,
                      kMostDestinations = 1024;  // of a list of forward.destinations

class SquidImport {
public:
    SquidImport(const std::function<std::optional<std::string>(const std::string&)>& read,
                ImportDraft& draft)
        : acls_(read), draft_(draft) {}

    void run(const std::vector<Directive>& directives) {
        for (const auto& line : directives) sort(line);
        authentication();
        ports_ = read_squid_ports(lines_["http_port"], lines_["https_port"], draft_);
        is_closed_ = is_closed_ || ports_.asks_for_certificates;
        filters();
        peers_ = read_squid_peers(lines_["cache_peer"], peer_access_, acls_, draft_);
        const auto access = read_squid_access(lines_["http_access"], acls_, draft_);
        const auto one = single_grant(access.grants, draft_);
        if (ports_.accelerates)
            sites(access, one);
        else
            forward(access, one);
        uncached();
        import_refresh_patterns(lines_["refresh_pattern"], draft_);
        trusted_proxies();
        for (const auto* line : lines_["delay_parameters"]) bandwidth(*line);
    }

private:
    /// Takes what stands for itself, and puts the rest aside by name.
    void sort(const Directive& line) {
        constexpr std::string_view kTogether[] = {"http_access",       "http_port",
                                                  "delay_parameters",  "https_port",
                                                  "cache_peer",        "refresh_pattern",
                                                  "auth_param",        "never_direct",
                                                  "always_direct",     "follow_x_forwarded_for",
                                                  "http_reply_access", "miss_access",
                                                  "ssl_bump",          "url_rewrite_program",
                                                  "redirect_program",  "icap_enable",
                                                  "ecap_enable",       "adapted_http_access",
                                                  "http_access2",      "url_rewrite_access",
                                                  "redirector_access", "adaptation_access"};
        const auto& name = line.name;
        if (name == "acl") {
            const auto error = acls_.add(line);
            if (!error.empty()) draft_.leave_out(line, error);
        } else if (name == "cache" || name == "no_cache" || name == "store_miss") {
            cache_.push_back(&line);
        } else if (name == "cache_peer_access" || name == "cache_peer_domain") {
            peer_access_.push_back(&line);
        } else if (name == "if" || name == "else" || name == "elif" || name == "endif") {
            if (name == "if") close(line, "the import reads no conditions; take the lines out");
        } else if (std::find(std::begin(kTogether), std::end(kTogether), name) !=
                   std::end(kTogether)) {
            lines_[name].push_back(&line);
        } else if (name == "via" && line.word(0) == "on") {
            draft_.needs_nothing(line);
        } else if (name.starts_with("icap_") || name.starts_with("adaptation_") ||
                   name.starts_with("ecap_") || name == "loadable_modules") {
            draft_.needs_nothing(line);  // icap_enable decides
        } else if (!import_squid_fields(line, draft_) && !import_squid_setting(line, draft_)) {
            draft_.leave_out(line, "hearsay has no setting for it");
        }
    }

    /// A part of the configuration that may refuse requests has no setting.
    void close(const Directive& line, const std::string& why) {
        draft_.warn(line, why + ". Closed: the node lets no client in");
        is_closed_ = true;
    }

    void authentication() {
        for (const auto* line : lines_["auth_param"]) {
            if (line->word(0) != "basic") {
                if (line->word(1) == "program")
                    draft_.leave_out(*line,
                                     "hearsay knows Basic with a file of users; see "
                                     "forward.authentication");
                else
                    draft_.needs_nothing(*line);
                continue;
            }
            if (line->word(1) == "realm") realm_ = line->rest(2);
            if (line->word(1) != "program") continue;
            const auto program = line->word(2);
            if (line->words.size() >= 4 && program.ends_with("ncsa_auth") &&
                line->words.back().text.starts_with('/')) {
                users_ = line->words.back().text;
                acls_.allow_users();
            } else {
                draft_.leave_out(*line, "hearsay reads users from a file alone (basic_ncsa_auth)");
            }
        }
    }

    /// Programs and lists that look at requests or responses in a way that no setting has.
    void filters() {
        for (const auto* line : lines_["url_rewrite_program"])
            if (line->word(0) != "none")
                close(*line,
                      "hearsay asks no program about URLs; a filter's lists go to "
                      "forward.blocklists");
        for (const auto* line : lines_["redirect_program"])
            close(*line,
                  "hearsay asks no program about URLs; a filter's lists go to "
                  "forward.blocklists");
        for (const auto* const name : {"icap_enable", "ecap_enable"})
            for (const auto* line : lines_[name])
                if (line->word(0) == "on") close(*line, "hearsay has no ICAP or eCAP");
        for (const auto* const name :
             {"http_reply_access", "miss_access", "adapted_http_access", "http_access2"})
            for (const auto* line : lines_[name])
                if (line->word(0) == "deny")
                    close(*line, "hearsay has no such list; http_access is taken over");
        for (const auto* line : lines_["ssl_bump"]) {
            if (line->word(0) == "terminate")
                close(*line, "hearsay opens no TLS of CONNECT, and ends none");
            else
                draft_.leave_out(*line,
                                 "hearsay opens no TLS of CONNECT; list https sites in "
                                 "`origins`");
        }
    }

    bool fits(const std::optional<SquidGrant>& grant, const SquidAccess& access) {
        const auto warn = [&](const char* what) {
            draft_.warn(std::string("http_access names more ") + what +
                        " than a list of hearsay has. Closed: the node lets no client in");
            return false;
        };
        if (access.denied_sources.size() > kMostPrefixes ||
            (grant && grant->sources && grant->sources->size() > kMostPrefixes))
            return warn("addresses");
        const auto hosts = grant && grant->hosts ? grant->hosts->size() : 1;
        const auto ports = access.ports ? access.ports->size() : 1;
        if (access.denied_hosts.size() + access.denied_ports.size() > kMostDestinations ||
            hosts * ports > kMostDestinations)
            return warn("hosts and ports");
        return true;
    }

    static Json texts_of_networks(const Networks& networks) {
        auto list = Json::array();
        for (const auto& network : networks) list.push_back(text_of(network));
        return list;
    }

    void who_may(const SquidAccess& access) {
        if (!access.denied_sources.empty())
            draft_.set("clients.deny", texts_of_networks(access.denied_sources));
        if (access.purge) draft_.set("purge.allow", texts_of_networks(*access.purge));
    }

    void nobody() {
        draft_.set("clients.allow", Json::array());
        draft_.set("forward.enabled", true);
        draft_.set("forward.clients", Json::array());
    }

    void forward(const SquidAccess& access, const std::optional<SquidGrant>& grant) {
        if (!fits(grant, access)) return nobody();
        who_may(access);
        parents();
        if (is_closed_ || !grant) {
            if (!is_closed_)
                draft_.warn(
                    "http_access permits nothing that can be expressed. Closed: "
                    "the node lets no client in");
            return nobody();
        }
        draft_.set("forward.enabled", true);
        draft_.set("forward.clients", texts_of_networks(grant->sources.value_or(all_networks())));
        if (!grant->sources && !grant->user)
            draft_.warn(
                "http_access permits every address, and so does forward.clients: strangers "
                "find an open proxy soon");
        if (access.ports && access.ports->empty()) {
            draft_.warn("http_access permits no single port. Closed: the node lets no client in");
            return nobody();
        }
        destinations(access, *grant);
        if (access.relies_on_private && draft_.has("forward.parent"))
            draft_.warn(
                "forward.parent resolves names, and http_access denies targets at private "
                "addresses. OPEN: names with such addresses pass; let the parent refuse them");
        for (const auto& file : access.blocklists)
            draft_.settings()["forward"]["blocklists"].push_back(
                {{"path", file}, {"format", "dstdomain"}, {"action", "refuse"}});
        if (access.connect_ports) draft_.set("forward.connect_ports", *access.connect_ports);
        if (grant->user) {
            draft_.set("forward.authentication.users", users_);
            if (!realm_.empty()) draft_.set("forward.authentication.realm", realm_);
            // As with Squid, passwords cross the network as the clients send them.
            draft_.set("forward.authentication.in_clear", true);
        }
    }

    /// The only place that writes forward.destinations: patterns of hosts and ports.
    void destinations(const SquidAccess& access, const SquidGrant& grant) {
        auto allow = Json::array(), deny = Json::array();
        const std::vector<std::string> all{"*"};
        if (grant.hosts || access.ports)
            for (const auto& host : grant.hosts ? *grant.hosts : all) {
                if (!access.ports) allow.push_back(host);
                if (access.ports)
                    for (const auto port : *access.ports)
                        allow.push_back(host + ":" + std::to_string(port));
            }
        for (const auto& host : access.denied_hosts) deny.push_back(host);
        for (const auto port : access.denied_ports) deny.push_back("*:" + std::to_string(port));
        if (!allow.empty()) draft_.set("forward.destinations.allow", std::move(allow));
        if (!deny.empty()) draft_.set("forward.destinations.deny", std::move(deny));
    }

    void parents() {
        bool never_direct = false;
        for (const auto* line : lines_["never_direct"])
            never_direct = never_direct || line->word(0) == "allow";
        bool lost = false, any = false;
        for (const auto& peer : peers_) {
            if (peer.origin) {
                draft_.leave_out(*peer.line, "originserver needs a port with accel");
                lost = true;
            } else if (!peer.usable || !peer.hosts.empty()) {
                if (!peer.hosts.empty())
                    draft_.leave_out(*peer.line,
                                     "forward.parent is for all hosts; forward.no_proxy "
                                     "lists exceptions");
                lost = true;
            } else {
                draft_.settings()["forward"]["parent"].push_back(peer.url);
                any = true;
            }
        }
        if (never_direct && lost && !any) {
            draft_.warn(
                "never_direct asks for a parent, and none can be taken over. Closed: the node "
                "lets no client in");
            is_closed_ = true;
        }
        for (const auto* line : lines_["always_direct"]) direct(*line, any);
    }

    void direct(const Directive& line, bool has_parent) {
        if (line.word(0) != "allow" || !has_parent) return draft_.needs_nothing(line);
        const auto one = acls_.condition(line.word(1));
        const auto is_single = line.words.size() == 2 && !one.negated;
        auto& list = draft_.settings()["forward"]["no_proxy"];
        if (is_single && one.kind == SquidCondition::Kind::hosts && !one.wider)
            for (const auto& host : one.hosts) list.push_back(host);
        else if (is_single && one.kind == SquidCondition::Kind::private_addresses)
            for (const auto& network : one.sources) list.push_back(text_of(network));
        else
            draft_.leave_out(line, "forward.no_proxy has hosts and addresses of targets");
        if (list.empty()) draft_.settings()["forward"].erase("no_proxy");
    }

    /// The entries of `origins` of an accelerator. A site has one port, so that those of targets
    /// do not matter.
    void sites(const SquidAccess& access, const std::optional<SquidGrant>& grant) {
        for (const auto& file : access.blocklists)
            draft_.warn("a site has no blocklist (" + file +
                        "). Closed: the node lets no client in");
        if (!fits(grant, access)) return nobody();
        who_may(access);
        const bool user = grant && grant->user;
        if (user)
            draft_.warn(
                "sites in origins cannot ask for a password. Closed: the node lets no client in");
        if (is_closed_ || !grant || user || !access.blocklists.empty()) {
            if (!grant && !is_closed_)
                draft_.warn(
                    "http_access permits nothing that can be expressed. Closed: the node lets "
                    "no client in");
            return nobody();
        }
        if (grant->sources) draft_.set("clients.allow", texts_of_networks(*grant->sources));
        std::map<std::string, std::vector<const SquidPeer*>> by_host;
        std::vector<std::string> order;
        for (const auto& peer : peers_) {
            if (!peer.origin || !peer.usable) {
                if (!peer.origin) draft_.leave_out(*peer.line, "a site has no parent proxy");
                continue;
            }
            auto hosts = peer.hosts;
            if (hosts.empty() && grant->hosts) hosts = *grant->hosts;
            if (!peer.hosts.empty() && grant->hosts)
                hosts = common_hosts(peer.hosts, *grant->hosts);
            if (hosts.empty() && peer.hosts.empty() && !grant->hosts)
                hosts = {ports_.default_site.empty() ? "*" : ports_.default_site};
            for (const auto& host : hosts) {
                if (covers_hosts(access.denied_hosts, {host})) continue;
                if (by_host[host].empty()) order.push_back(host);
                by_host[host].push_back(&peer);
            }
        }
        std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
            return std::count(a.begin(), a.end(), '*') < std::count(b.begin(), b.end(), '*');
        });
        if (!refuses_exactly(access, order) || order.empty()) {
            if (order.empty())
                draft_.warn(
                    "no cache_peer with originserver can be taken over. Closed: the node lets "
                    "no client in");
            return nobody();
        }
        draft_.settings()["origins"] = Json::array();
        for (const auto& host : order)
            draft_.settings()["origins"].push_back(squid_origin(host, by_host[host]));
    }

    /// A denied host below a wildcard needs an entry that no setting has.
    bool refuses_exactly(const SquidAccess& access, const std::vector<std::string>& sites) {
        for (const auto& denied : access.denied_hosts)
            if (covers_hosts(sites, {denied})) {
                draft_.warn("a wildcard of `origins` covers " + denied +
                            ", which http_access denies. Closed: the node lets no client in");
                return false;
            }
        return true;
    }

    /// `cache deny`: rules that go past the cache.
    void uncached() {
        for (const auto* line : cache_) {
            if (line->word(0) == "allow") {
                if (line->words.size() < 2 || line->word(1) == "all")
                    draft_.needs_nothing(*line);
                else
                    draft_.leave_out(*line,
                                     "a rule without members, before the others, stands for "
                                     "an exception");
                continue;
            }
            const auto one = acls_.condition(line->word(1));
            const bool single = line->words.size() == 2 && !one.negated;
            if (line->words.size() < 2 || (single && one.kind == SquidCondition::Kind::always)) {
                draft_.add_rule("uncached", {{"bypass", true}});
            } else if (single && one.kind == SquidCondition::Kind::hosts && !one.narrower &&
                       one.hosts.size() <= kMostHosts) {
                draft_.add_rule("uncached-" + std::string(line->word(1)),
                                {{"match", {{"hosts", one.hosts}}}, {"bypass", true}});
            } else if (line->word(1) == "QUERY") {
                draft_.leave_out(*line,
                                 "a URL with a query is stored if its origin states a "
                                 "lifetime");
            } else {
                draft_.warn(*line,
                            "a rule matches by host, path and method. Closed: no request uses "
                            "the cache; narrow the rule `uncached`");
                draft_.add_rule("uncached", {{"bypass", true}});
            }
        }
    }

    void trusted_proxies() {
        Networks trusted;
        for (const auto* line : lines_["follow_x_forwarded_for"]) {
            const auto one = acls_.condition(line->word(1));
            if (line->word(0) != "allow") {
                if (one.kind == SquidCondition::Kind::always) break;
                draft_.leave_out(*line, "clients.trusted_proxies has no exceptions");
                trusted.clear();
                break;
            }
            if (line->words.size() == 2 && one.kind == SquidCondition::Kind::sources &&
                !one.negated)
                trusted.insert(trusted.end(), one.sources.begin(), one.sources.end());
            else
                draft_.warn(*line,
                            "clients.trusted_proxies has addresses. Closed: the field is not "
                            "believed");
        }
        if (!trusted.empty() && trusted.size() <= kMostPrefixes)
            draft_.set("clients.trusted_proxies", texts_of_networks(trusted));
    }

    /// The rate of one client: the last pair of a pool. The slowest pool holds for every client.
    void bandwidth(const Directive& line) {
        if (line.words.size() < 3 || line.word(1) != "-1/-1")
            draft_.leave_out(line, "hearsay limits clients, not all of them together");
        const auto pair =
            line.words.empty() ? std::string_view() : std::string_view(line.words.back().text);
        const auto rate = import_size(pair.substr(0, pair.find('/')), "");
        if (line.words.size() < 3 || !rate || *rate < 1024) {
            if (line.words.size() >= 3 && pair != "-1/-1")
                draft_.leave_out(line, "clients.limits.per_address.bandwidth has at least 1KiB");
            return;
        }
        if (slowest_ != 0 && slowest_ <= *rate) return;
        slowest_ = *rate;
        draft_.set("clients.limits.per_address.bandwidth", import_size_text(*rate));
    }

    SquidAcls acls_;
    ImportDraft& draft_;
    std::uint64_t slowest_ = 0;
    std::map<std::string, Lines> lines_;
    Lines cache_, peer_access_;
    std::vector<SquidPeer> peers_;
    SquidPorts ports_;
    std::string users_, realm_;
    bool is_closed_ = false;
};

}  // namespace

void import_squid(const std::vector<Directive>& directives,
                  const std::function<std::optional<std::string>(const std::string&)>& read,
                  ImportDraft& draft) {
    draft.count(directives.size());
    SquidImport(read, draft).run(directives);
}

}  // namespace app
