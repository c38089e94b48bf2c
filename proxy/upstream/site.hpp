#pragma once

#include <boost/beast/http/verb.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/config/loaded_config.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_key.hpp"
#include "proxy/http/rule.hpp"
#include "proxy/rewrite/mirror.hpp"
#include "proxy/upstream/upstream_pool.hpp"

namespace proxy {

/// Why a request has no site.
enum class SiteRefusal : std::uint8_t {
    forward_disabled,  // absolute-form, and this node is no forward proxy: 403
    no_origin,         // origin-form for a host that no origin entry matches: 404
    only_forward,      // origin-form, and this node is a forward proxy without origins: 404
    two_readings,      // different entries are for the readings of the path: 404
    unknown_registry,  // `ns` names a registry that no entry has: 404
};

/// The rules by which responses of a site are stored and reused: those of the whole cache, and the
/// entry of `rules` that matches the request.
struct SitePolicy {
    const CacheConfig* cache = nullptr;
    bool acts_for_origin = false;  // an entry of `origins` serves the site
    const Rule* rule = nullptr;    // null: none matches
    /// The public name of the entry by which the request came; null: it came by another one.
    const Mirror* mirror = nullptr;

    /// CacheConfig::rules for this site: CDN-Cache-Control is for caches that act for the origin
    /// (RFC 9213 §3.1).
    CacheRules rules() const;
    /// The mark of the settings that judge responses now: those of a rule and of a mirror; 0:
    /// neither is there.
    std::uint32_t mark() const { return (rule ? rule->mark : 0) ^ (mirror ? mirror->mark : 0); }
    /// Questions to that rule; false without one.
    bool bypasses() const { return rule && rule->bypass; }
    bool fetches_for_head() const { return rule && rule->fetch_for_head; }
    bool authorizes_each() const { return rule && rule->storing.authorize; }
    bool shares_authorized() const { return rule && rule->storing.share_authorized; }
    bool follows_redirects() const { return rule && rule->storing.follow_redirects; }
    FetchOnce fetch_once() const { return rule ? rule->fetch_once : FetchOnce::automatic; }
    bool ignores_vary() const { return rule && rule->storing.ignored.vary; }
    /// A response of this status counts as a failure of the origin (`stale_on`).
    bool takes_for_failure(unsigned status) const;
};

/// The server behind a site, or the group of them. Neither is set for a forward target without a
/// parent proxy, which is its own server.
struct SiteUpstream {
    const HostPort* server = nullptr;  // of the entry of `origins`
    /// The servers of the entry, or the parent proxies of a forward target. An OriginPermit
    /// chooses one of them.
    const std::shared_ptr<const UpstreamGroupConfig>* group = nullptr;
};

/// The site of one request: the entry of `origins` or the forward target that the request is for,
/// or the reason why there is none. A small value that points into one configuration, so that
/// policy, trust and upstream always belong together. It is valid as long as that configuration;
/// KeptSite keeps both. Any thread.
struct Site {
    std::optional<SiteRefusal> none;  // set: there is no site, and no upstream
    const OriginConfig* entry = nullptr;
    SitePolicy policy;  // also of a site that is none
    SiteUpstream upstream;
    bool tls = false;  // the upstream speaks TLS

    /// An entry of `origins` serves the site.
    bool of_entry() const { return entry != nullptr; }
    /// For texts about a failure.
    UpstreamRole asked_server() const;
};

/// Chooses the entry of `origins` whose `public` covers `key`, the longest first. Otherwise chooses
/// the first entry that matches host and path of `key`, whatever the form of the request: a host is
/// `*`, `*.h` for any name below h, or the same_host(). A path covers itself and all below it, and
/// one entry has to be the first for every reading of the path (path_readings.hpp). Without a match
/// and with forward mode on, an absolute-form request is its own target. The entry's `url` decides
/// about TLS; for a target, its scheme does.
Site choose_site(const LoadedConfig& config, const CacheKey& key, bool absolute_form);

/// Follows `ns`, by which clients of one mirror for many registries name the registry, as
/// containerd and k3s do: `/v2/...?ns=docker.io`. The key becomes the URL below the `public` of the
/// entry with this `ns`, without the parameter, and `site` that of this entry. A registry outside
/// this closed list has no site (unknown_registry), unless an entry without `ns` serves the URL.
/// For requests in origin-form, after choose_site(). Other requests stay as they are.
void follow_ns(const LoadedConfig& config, boost::beast::http::verb method, CacheKey& key,
               Site& site);

/// Chooses the first entry of `rules` that matches a request for `key`, and leaves out of the key
/// what that rule leaves out of the query. The rule that changes the key is the one for GET, so
/// that a request of any method has the key of the content that it may change. `memo`: see
/// RuleTable::find().
void choose_rule(const Config& config, std::string_view method, CacheKey& key, SitePolicy& policy,
                 RuleTable::HostMemo* memo = nullptr);

/// The key under which the content of `key` is stored: see choose_rule().
void apply_key_rule(const RuleTable& rules, CacheKey& key);

/// The upstream of `site`, which points into `config`, for a request for `key`; none without a
/// site. `client`: the address of the client.
std::optional<UpstreamTarget> target_of(const LoadedConfig& config, const Site& site,
                                        const CacheKey& key, const std::string& client = {});

/// A site for longer than its request: with the configuration that it points into, and with its
/// upstream. A fetch goes on by these, whatever is reloaded meanwhile.
struct KeptSite {
    std::shared_ptr<const LoadedConfig> config;
    Site site;
    std::optional<UpstreamTarget> origin;  // none without a site
};
KeptSite keep_site(std::shared_ptr<const LoadedConfig> config, const Site& site,
                   const CacheKey& key, const std::string& client = {});

}  // namespace proxy
